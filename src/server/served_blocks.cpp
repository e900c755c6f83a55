// SPDX-License-Identifier: Apache-2.0
#include "server/served_blocks.hpp"

#include <algorithm>

namespace afterbay::server {

Result<> ServedBlocks::set(std::size_t peer, const wire::DefineDecomposition& message) {
  holds_[peer] = message.held != 0;
  if (message.block.start.empty() && message.block.count.empty()) return {};
  if (message.block.start.size() != global_.size || message.block.count.size() != global_.size)
    return fail(ErrorCode::internal,
                "model rank {} sends a block of {} starts and {} counts in {} dimensions", peer,
                message.block.start.size(), message.block.count.size(), global_.size);
  new_.push_back({static_cast<std::uint32_t>(peer), message.here != 0, model::box_of(message.block)});
  return {};
}

Result<> ServedBlocks::check(std::string_view name, std::span<const int> session_ranks,
                             const Coverage& coverage) {
  // Messages of ranks arrive in any order; errors name the lowest ranks.
  std::ranges::sort(new_, {}, &Described::peer);
  std::vector<model::RankBlock> blocks;
  blocks.reserve(new_.size());
  for (const Described& it : new_) blocks.push_back({session_ranks[it.peer], it.box});
  return model::check_coverage(name, global_, blocks, coverage);
}

void ServedBlocks::settle() {
  if (std::ranges::any_of(new_, &Described::here)) {
    for (std::uint32_t i = 0; i < peers_.size(); ++i) new_.push_back({peers_[i], true, tree_.box(i)});
    std::erase_if(new_, [](const Described& it) { return !it.here || it.box.empty(); });
    std::ranges::sort(new_, {}, &Described::peer);
    peers_.clear();
    peers_.reserve(new_.size());
    std::vector<model::Box> boxes;
    boxes.reserve(new_.size());
    for (const Described& it : new_) {
      if (!peers_.empty() && peers_.back() == it.peer) continue;  // described again
      peers_.push_back(it.peer);
      boxes.push_back(it.box);
    }
    tree_ = model::BoxTree(std::span<const model::Box>(boxes));
  }
  std::vector<Described>().swap(new_);  // frees its memory
}

std::uint32_t ServedBlocks::holders() const {
  return static_cast<std::uint32_t>(std::ranges::count(holds_, true));
}

model::Box ServedBlocks::of(std::size_t peer) const {
  const auto at = std::ranges::lower_bound(peers_, static_cast<std::uint32_t>(peer));
  if (at == peers_.end() || *at != peer) {
    const auto nothing = model::Index::filled(global_.size, 0);
    return {nothing, nothing};
  }
  return tree_.box(static_cast<std::uint32_t>(at - peers_.begin()));
}

std::uint64_t ServedBlocks::bytes() const {
  return holds_.capacity() / 8 + new_.capacity() * sizeof(Described) +
         peers_.capacity() * sizeof(std::uint32_t) + tree_.memory_bytes();
}

}  // namespace afterbay::server
