// SPDX-License-Identifier: Apache-2.0
#include "server/files/file_requests.hpp"

#include <utility>

namespace afterbay::server {
namespace {

static_assert(config::stripes_automatic == storage::StripePolicy::automatic &&
              config::stripes_all == storage::StripePolicy::all);

storage::StripePolicy stripe_policy(const config::Config& config, const ServedCollection& collection) {
  const config::CollectionSettings settings = config.settings_for(collection.name);
  const config::Placement placement = settings.placement.value_or(config.servers.placement);
  return {.count = settings.stripe_count.value_or(config.writing.stripe.count),
          .size_bytes = settings.stripe_size_bytes.value_or(config.writing.stripe.size_bytes),
          .apply = config.writing.stripe.apply,
          .expected_bytes = settings.expected_bytes.value_or(0),
          .own_file = placement == config::Placement::file || placement == config::Placement::least,
          .writers = collection.split == model::Split::none ? 1 : collection.servers.size(),
          .deadline = config.deadline / 2};  // leaves time to continue without a command that hangs
}

}  // namespace

FileRequests::FileRequests(const config::Config& config, Stores stores, int server, bool checksums)
    : config_(config),
      stores_(std::move(stores)),
      server_(static_cast<std::uint64_t>(server)),
      checksums_(checksums),
      chunk_memory_(std::make_shared<storage::ByteAllowance>(config.memory.chunks_bytes)) {}

storage::FileRequest FileRequests::request(const OutputFile& file, std::shared_ptr<storage::Disk> disk,
                                           bool readable) const {
  storage::FileRequest request;
  request.path = file.path;
  request.layout = file.collection->sink->file_layout();
  request.existing = file.collection->existing;
  if (request.existing == Existing::append && file.name.replace) request.existing = Existing::replace;
  if (file.holds_states) request.existing = file.name.replace ? Existing::replace : Existing::refuse;
  request.direct_io = config_.writing.direct_io;
  request.chunk_memory = chunk_memory_;
  request.disk = std::move(disk);
  request.stripes = stripe_policy(config_, *file.collection);
  request.stripes.targets = targets_;
  request.checksum = checksums_;
  request.server = server_;
  request.readable = readable;
  request.epochs = file.epochs;
  return request;
}

}  // namespace afterbay::server
