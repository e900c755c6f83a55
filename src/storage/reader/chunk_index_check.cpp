// SPDX-License-Identifier: Apache-2.0
#include "storage/reader/chunk_index_check.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace afterbay::storage {
namespace {

constexpr std::uint64_t no_address = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t head_bytes = 24;  ///< signature, type, level, number of entries, two siblings
constexpr std::size_t address_bytes = 8;
constexpr std::uint8_t chunk_node = 1;

template <class T>
T little_endian(std::span<const std::byte> bytes, std::size_t at) {
  T value = 0;
  for (std::size_t i = sizeof(T); i-- > 0;)
    value = static_cast<T>((value << 8U) | static_cast<T>(std::to_integer<std::uint8_t>(bytes[at + i])));
  return value;
}

Error damaged(std::uint64_t offset, std::string_view what) {
  return make_error(ErrorCode::format, "the index of its chunks is damaged: its node at byte {} {}", offset,
                    what);
}

}  // namespace

struct ChunkIndexCheck::Node {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
  unsigned level = 0;
  std::uint64_t left = no_address;
  std::uint64_t right = no_address;
  struct Key {
    std::uint32_t stored_bytes = 0;
    /// Start of the chunk; the last number is the byte in an element: 0.
    std::vector<std::uint64_t> start;
  };
  std::vector<Key> keys;  ///< one more than there are children
  std::vector<std::uint64_t> children;

  static Result<Node> parse(std::uint64_t offset, std::span<const std::byte> bytes, std::size_t dimensions);
};

/// Checks that the numbers in the node's head fit its size, which follows from the variable's
/// shape.
Result<ChunkIndexCheck::Node> ChunkIndexCheck::Node::parse(std::uint64_t offset,
                                                           std::span<const std::byte> bytes,
                                                           std::size_t dimensions) {
  const std::size_t key_bytes = 8 + 8 * (dimensions + 1);
  const std::size_t entry_bytes = key_bytes + address_bytes;
  if (bytes.size() < head_bytes + key_bytes || (bytes.size() - head_bytes - key_bytes) % entry_bytes != 0)
    return fail(damaged(offset, "does not have the size of a node"));
  Node node;
  node.offset = offset;
  node.size_bytes = bytes.size();
  node.level = little_endian<std::uint8_t>(bytes, 5);
  const std::size_t entries = little_endian<std::uint16_t>(bytes, 6);
  node.left = little_endian<std::uint64_t>(bytes, 8);
  node.right = little_endian<std::uint64_t>(bytes, 16);
  const std::size_t most = (bytes.size() - head_bytes - key_bytes) / entry_bytes;
  if (entries > most)
    return fail(damaged(offset, "says that it has " + std::to_string(entries) + " entries, it has room for " +
                                    std::to_string(most)));
  for (std::size_t i = 0; i <= entries; ++i) {
    const std::size_t at = head_bytes + i * entry_bytes;
    Key& key = node.keys.emplace_back();
    key.stored_bytes = little_endian<std::uint32_t>(bytes, at);
    for (std::size_t d = 0; d <= dimensions; ++d)
      key.start.push_back(little_endian<std::uint64_t>(bytes, at + 8 + 8 * d));
    if (i < entries) node.children.push_back(little_endian<std::uint64_t>(bytes, at + key_bytes));
  }
  return node;
}

void ChunkIndexCheck::begin(Variable variable) {
  variables_.push_back(std::move(variable));
  expected_.clear();
  expected_right_.clear();
  last_.clear();
  any_node_ = false;
  chunks_ = 0;
}

Result<> ChunkIndexCheck::node(std::uint64_t offset, std::span<const std::byte> bytes,
                               std::uint64_t end_of_file) {
  if (bytes.size() < head_bytes || std::memcmp(bytes.data(), "TREE", 4) != 0 ||
      std::to_integer<std::uint8_t>(bytes[4]) != chunk_node)
    return {};
  AFTERBAY_TRY_ASSIGN(const Node node, Node::parse(offset, bytes, variables_.back().chunk.size()));
  AFTERBAY_TRY(enter(node));
  AFTERBAY_TRY(note_extent(offset, bytes.size(), end_of_file));
  return note_children(node, end_of_file);
}

/// Checks that the node is the one that its parent and its neighbours describe. HDF5 reads from
/// left to right.
Result<> ChunkIndexCheck::enter(const Node& node) {
  const auto found = expected_.find(node.offset);
  if (found == expected_.end() && any_node_) return fail(damaged(node.offset, "belongs to no other node"));
  if (found != expected_.end()) {
    if (found->second.level != node.level) return fail(damaged(node.offset, "has the wrong level"));
    if (found->second.first != node.keys.front().start)
      return fail(damaged(node.offset, "begins with another chunk than the node above it says"));
    expected_.erase(found);
  }
  any_node_ = true;
  const auto left = last_.find(node.level);
  const auto named = expected_right_.find(node.level);
  if ((left == last_.end() ? no_address : left->second) != node.left ||
      (named != expected_right_.end() && named->second != node.offset))
    return fail(damaged(node.offset, "and the node before it do not name each other"));
  last_[node.level] = node.offset;
  expected_right_[node.level] = node.right;
  return {};
}

Result<> ChunkIndexCheck::note_children(const Node& node, std::uint64_t end_of_file) {
  const Variable& variable = variables_.back();
  for (std::size_t i = 0; i < node.children.size(); ++i) {
    const Node::Key& key = node.keys[i];
    if (!(key.start < node.keys[i + 1].start))
      return fail(damaged(node.offset, "has its chunks in the wrong order"));
    for (std::size_t d = 0; d < variable.chunk.size(); ++d)
      if (key.start[d] % variable.chunk[d] != 0)
        return fail(damaged(node.offset, "has a chunk where none can begin"));
    if (key.start.back() != 0) return fail(damaged(node.offset, "has a chunk where none can begin"));
    if (node.level > 0) {
      if (!expected_.emplace(node.children[i], Expected{node.level - 1, key.start}).second)
        return fail(damaged(node.offset, "names the same node twice"));
      continue;
    }
    ++chunks_;
    if (variable.all_bytes && key.stored_bytes != *variable.all_bytes)
      return fail(damaged(node.offset, "gives a chunk the wrong size"));
    AFTERBAY_TRY(note_extent(node.children[i], key.stored_bytes, end_of_file));
  }
  return {};
}

Result<> ChunkIndexCheck::note_extent(std::uint64_t begin, std::uint64_t size_bytes,
                                      std::uint64_t end_of_file) {
  if (begin > end_of_file || size_bytes > end_of_file - begin)
    return fail(ErrorCode::format,
                "the index of its chunks is damaged: it names {} bytes at byte {}, the file has {} bytes",
                size_bytes, begin, end_of_file);
  extents_.push_back({begin, size_bytes, static_cast<std::uint32_t>(variables_.size() - 1)});
  return {};
}

Result<> ChunkIndexCheck::end(std::uint64_t chunks) {
  for (const auto& [level, right] : expected_right_)
    if (right != no_address)
      return fail(damaged(last_[level], "names a neighbour that belongs to no other node"));
  // HDF5 does not read a node again that it still has in memory.
  if (!expected_.empty()) return fail(damaged(expected_.begin()->first, "belongs to two nodes"));
  if (chunks != chunks_)
    return fail(ErrorCode::format, "the index of its chunks is damaged: it has {} chunks, HDF5 finds {}",
                chunks_, chunks);
  return {};
}

Result<> ChunkIndexCheck::finish() {
  std::sort(extents_.begin(), extents_.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < extents_.size(); ++i) {
    const Extent& before = extents_[i - 1];
    const Extent& extent = extents_[i];
    if (extent.begin - before.begin >= before.size_bytes) continue;
    return fail(make_error(ErrorCode::format,
                           "the index of its chunks is damaged: byte {} of the file belongs to it and to "
                           "variable '{}'",
                           extent.begin, variables_[before.variable].name)
                    .in_variable(variables_[extent.variable].name));
  }
  return {};
}

}  // namespace afterbay::storage
