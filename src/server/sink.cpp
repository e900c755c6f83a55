// SPDX-License-Identifier: Apache-2.0
#include "server/sink.hpp"

#include <cstring>
#include <vector>

namespace afterbay::server {
namespace {

/// Buffers are reused: the few bytes between adjacent pieces must not contain earlier data.
void clear_between(const std::vector<storage::PieceWrite>& writes) {
  for (std::size_t i = 1; i < writes.size(); ++i) {
    auto* end = const_cast<std::byte*>(writes[i - 1].bytes.data() + writes[i - 1].bytes.size());
    const std::byte* next = writes[i].bytes.data();
    if (next > end && static_cast<std::uint64_t>(next - end) < model::page_bytes)
      std::memset(end, 0, static_cast<std::size_t>(next - end));
  }
}

class DirectSink : public Sink {
 public:
  explicit DirectSink(std::shared_ptr<const model::FileLayout> layout) : Sink(std::move(layout)) {}

  Result<storage::WriteCost> write(const CompleteFrame& frame, storage::File& file, ScratchBuffers&,
                                   observe::Timer*) const override {
    return pass_on(frame.base, frame, file);
  }
};

}  // namespace

Result<storage::WriteCost> Sink::pass_on(std::byte* base, const CompleteFrame& frame,
                                         storage::File& file) const {
  std::vector<storage::PieceWrite> writes;
  writes.reserve(frame.pieces.size());
  for (const std::uint32_t p : frame.pieces) {
    const model::Piece& piece = layout_->pieces[p];
    writes.push_back({piece, frame.record, {base + piece.frame_offset, piece.bytes}, frame.epochs});
  }
  clear_between(writes);
  if (frame.sampler != nullptr) frame.sampler->take(writes);
  return file.write(writes);
}

std::shared_ptr<const Sink> make_direct_sink(std::shared_ptr<const model::FileLayout> layout) {
  return std::make_shared<const DirectSink>(std::move(layout));
}

}  // namespace afterbay::server
