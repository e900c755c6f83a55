// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/replies.hpp"

#include <algorithm>

#include "transport/mpi/stream.hpp"

namespace afterbay::transport::network {

Result<bool> Replies::take(Carrier& carrier, const std::string& server) {
  bool arrived = false;
  for (;;) {
    const bool receiving = carrier.receiving();
    AFTERBAY_TRY_ASSIGN(const auto batch, carrier.next_batch());
    arrived = arrived || (!receiving && carrier.receiving());  // from now on each look makes it progress
    if (!batch) break;
    arrived = take_batch(*batch) || arrived;
  }
  AFTERBAY_TRY_ASSIGN(const bool data, take_data(carrier, server));
  return arrived || data;
}

Result<bool> Replies::take_data(Carrier& carrier, const std::string& server) {
  bool arrived = false;
  for (;;) {
    const bool receiving = carrier.receiving();
    AFTERBAY_TRY_ASSIGN(auto data, carrier.next_data());
    arrived = arrived || data || (!receiving && carrier.receiving());
    if (!data) return arrived;
    const auto parts = parts_of_data(data->bytes);
    if (!parts)
      return fail(ErrorCode::internal, "{} sent {} bytes of data with an invalid header", server,
                  data->bytes.size());
    ++data_messages_;
    heard_ = true;
    inbox_.push_back(
        {Bytes(parts->message.begin(), parts->message.end()), {parts->data, std::move(data->keeper)}});
  }
}

bool Replies::take_batch(std::span<const std::byte> batch) {
  if (batch.size() < sizeof(BatchHeader)) return false;
  const auto header = read_header<BatchHeader>(batch.data());
  credits_ += header.credits;
  progress_ = std::max(progress_, header.progress);
  heard_ = heard_ || header.progress != 0 || header.flags != 0 || header.bytes != 0;
  pong_ = pong_ || (header.flags & BatchHeader::pong) != 0;
  failed_ = failed_ || (header.flags & BatchHeader::failed) != 0;
  ended_ = ended_ || (header.flags & BatchHeader::ended) != 0;
  batch = batch.subspan(sizeof header);
  const bool arrived = !batch.empty();
  while (batch.size() >= sizeof(std::uint64_t)) {
    const auto bytes = read_header<std::uint64_t>(batch.data());
    batch = batch.subspan(sizeof bytes);
    if (bytes > batch.size()) break;
    inbox_.push_back({Bytes(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(bytes))});
    batch = batch.subspan(bytes);
  }
  return arrived;
}

}  // namespace afterbay::transport::network
