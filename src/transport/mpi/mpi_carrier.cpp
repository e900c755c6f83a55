// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/mpi_carrier.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "mpi/check.hpp"

namespace afterbay::transport::network {
namespace {

constexpr std::size_t most_found = 16;  // data messages, of one server

}  // namespace

MpiCarrier::MpiCarrier(std::shared_ptr<const mpi::Communicator> comm, MpiShared shared, std::uint32_t credits,
                       MpiRoute route)
    : comm_(std::move(comm)),
      staging_(std::move(shared.staging)),
      probes_(std::move(shared.probes)),
      credits_(credits),
      route_(std::move(route)),
      header_(std::make_unique<SegmentHeader>()),
      frontend_(route_.process) {}

MpiCarrier::~MpiCarrier() {
  bool memory_in_use = false;
  for (Transit& it : transits_) {
    memory_in_use = memory_in_use || it.request.active();
    it.request.abandon();
  }
  if (memory_in_use) static_cast<void>(new std::shared_ptr<Staging>(staging_));  // MPI may still read it
  if (header_request_.active()) static_cast<void>(header_.release());
  header_request_.abandon();
  for (Word& it : words_) {
    if (it.request.active()) static_cast<void>(new Bytes(std::move(it.bytes)));
    it.request.abandon();
  }
  if (incoming_request_.active()) static_cast<void>(new Bytes(std::move(incoming_)));
  incoming_request_.abandon();
  for (DataTransit& it : data_) {
    if (it.request.active()) static_cast<void>(new std::shared_ptr<std::byte>(std::move(it.buffer)));
    it.request.abandon();
  }
}

Result<void> MpiCarrier::send(const SegmentMemory& segment, std::uint64_t bytes) {
  Transit& it = transits_.emplace_back();
  it.segment = segment.number;
  return mpi::check(MPI_Isend(segment.data, static_cast<int>(bytes), MPI_BYTE, route_.rank, route_.up_tag,
                              comm_->get(), it.request.handle()),
                    "MPI_Isend");
}

Result<bool> MpiCarrier::sent(const SegmentMemory& segment, bool eagerly) {
  const auto it = std::ranges::find(transits_, segment.number, &Transit::segment);
  AFTERBAY_TRY_ASSIGN(const bool done, eagerly ? it->request.test_eagerly() : it->request.test());
  if (!done) return false;
  transits_.erase(it);
  staging_->give_back(segment);
  return true;
}

Result<void> MpiCarrier::send_header(const SegmentHeader& header) {
  *header_ = header;
  return mpi::check(MPI_Isend(header_.get(), static_cast<int>(sizeof header), MPI_BYTE, route_.rank,
                              route_.up_tag, comm_->get(), header_request_.handle()),
                    "MPI_Isend");
}

Result<bool> MpiCarrier::header_sent() {
  while (!words_.empty()) {
    AFTERBAY_TRY_ASSIGN(const bool left, words_.front().request.test());
    if (!left) return false;
    words_.pop_front();
  }
  return header_request_.test();
}

Result<void> MpiCarrier::send_word(Bytes word) {
  Word& it = words_.emplace_back();
  it.bytes = std::move(word);
  return mpi::check(MPI_Isend(it.bytes.data(), static_cast<int>(it.bytes.size()), MPI_BYTE, route_.rank,
                              route_.up_tag, comm_->get(), it.request.handle()),
                    "MPI_Isend");
}

Result<std::optional<std::span<const std::byte>>> MpiCarrier::next_batch() {
  if (!incoming_request_.active()) {
    constexpr std::size_t most_kept_of_answers = 4096;  // a rank may have a thousand servers
    if (incoming_.capacity() > most_kept_of_answers) incoming_ = {};
    AFTERBAY_TRY_ASSIGN(const bool some, probes_->has_messages(asked_for_batch_));
    if (!some) return std::nullopt;
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    AFTERBAY_TRY(mpi::check(
        MPI_Improbe(route_.rank, route_.down_tag, comm_->get(), &found, &message, &status), "MPI_Improbe"));
    if (found == 0) return std::nullopt;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    incoming_.resize(static_cast<std::size_t>(bytes));
    AFTERBAY_TRY(mpi::check(
        MPI_Imrecv(incoming_.data(), bytes, MPI_BYTE, &message, incoming_request_.handle()), "MPI_Imrecv"));
  }
  AFTERBAY_TRY_ASSIGN(const bool done, incoming_request_.test_eagerly());
  if (!done) return std::nullopt;
  return std::span<const std::byte>(incoming_);
}

Result<void> MpiCarrier::find_data() {
  while (data_.size() < most_found && (data_.empty() || data_.back().message == MPI_MESSAGE_NULL)) {
    AFTERBAY_TRY_ASSIGN(const bool some, probes_->has_messages(asked_for_data_));
    if (!some) return {};
    int found = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    AFTERBAY_TRY(mpi::check(
        MPI_Improbe(route_.rank, route_.data_tag, comm_->get(), &found, &message, &status), "MPI_Improbe"));
    if (found == 0) return {};
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    DataTransit& it = data_.emplace_back();
    it.message = message;
    it.bytes = static_cast<std::size_t>(bytes);
    AFTERBAY_TRY(receive_data());
  }
  return receive_data();
}

/// The last one, if there is memory for it now.
Result<void> MpiCarrier::receive_data() {
  if (data_.empty() || data_.back().message == MPI_MESSAGE_NULL) return {};
  DataTransit& it = data_.back();
  it.buffer = staging_->received().take(it.bytes);
  if (!it.buffer) return {};
  return mpi::check(
      MPI_Imrecv(it.buffer.get(), static_cast<int>(it.bytes), MPI_BYTE, &it.message, it.request.handle()),
      "MPI_Imrecv");
}

Result<std::optional<ReceivedData>> MpiCarrier::next_data() {
  AFTERBAY_TRY(find_data());
  if (data_.empty() || data_.front().message != MPI_MESSAGE_NULL) return std::nullopt;
  AFTERBAY_TRY_ASSIGN(const bool done, data_.front().request.test_eagerly());
  if (!done) return std::nullopt;
  DataTransit first = std::move(data_.front());
  data_.pop_front();
  return ReceivedData{{first.buffer.get(), first.bytes}, first.buffer};
}

void MpiCarrier::pause(mpi::BackOff& back_off, std::chrono::nanoseconds most, bool transferring) {
  back_off.sleep(most, transferring);
}

/// A frontend informs the server that this rank is gone.
void MpiCarrier::leave(std::uint64_t end_ns) {
  if (route_.frontend.empty()) return;
  const mpi::BackOff back_off;
  for (bool said = false; check_alive(); back_off.sleep()) {
    const Result<bool> left = header_request_.test();
    if (!left || (*left && said)) return;
    if (*left) said = send_header({SegmentKind::farewell, 0, 0, 0}).has_value();
    if (now_ns() >= end_ns) return;
  }
}

bool MpiCarrier::usable() const { return mpi::is_running(); }

Result<void> MpiCarrier::check_alive() {
  if (frontend_.running()) return {};
  return fail(ErrorCode::peer_lost,
              "{}, process {} on this machine, has died; see its output and the kernel log (out of memory?)",
              route_.frontend, frontend_.pid());
}

}  // namespace afterbay::transport::network
