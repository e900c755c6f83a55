// SPDX-License-Identifier: Apache-2.0
// PopulatedParts: memory that another process has allocated is mapped with few page faults, and
// mapping neither changes nor allocates anything.
#include "transport/shm/populated_parts.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace afterbay::transport::shm {
namespace {

constexpr std::uint64_t mib = 1 << 20;

/// Two mappings of the same memory, of which the first `allocated` bytes are allocated and written
/// through the first.
struct Two {
  explicit Two(std::uint64_t bytes, std::uint64_t allocated) : memory(Mapping::create(bytes).value()) {
    EXPECT_TRUE(memory.mapping.allocate({{0, allocated}}));
    std::memset(memory.mapping.data(), 7, allocated);
    other = Mapping::open(memory.door.address(), bytes).value();
  }
  [[nodiscard]] std::uint64_t allocated_bytes() const {
    struct stat info {};
    EXPECT_EQ(::fstat(memory.door.fd(), &info), 0);
    return static_cast<std::uint64_t>(info.st_blocks) * 512;
  }
  SharedMemory memory;
  Mapping other;
};

long page_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Page faults of writing to every page of a part.
long faults_of_writing(Mapping& mapping, Extent part) {
  const long before = page_faults();
  for (std::uint64_t at = part.at; at < part.at + part.bytes; at += 4096) mapping.data()[at] = std::byte{1};
  return page_faults() - before;
}

TEST(TransportPopulated, pages_that_were_mapped_are_written_without_page_faults) {
  Two two(16 * mib, 16 * mib);
  PopulatedParts populated(two.other);
  const Extent part{3 * mib + 4096, 8 * mib};
  const long before = page_faults();
  populated.populate(part);
  EXPECT_LT(page_faults() - before, 2048 / 4) << "of 2048 pages, many at a time";
  EXPECT_LT(faults_of_writing(two.other, part), 2048 / 8) << "some are of the address sanitizer";
  EXPECT_GT(faults_of_writing(two.other, {12 * mib, 4 * mib}), 512) << "others are not mapped";
}

TEST(TransportPopulated, a_part_is_mapped_once) {
  Two two(16 * mib, 16 * mib);
  PopulatedParts populated(two.other);
  populated.populate({0, 8 * mib});
  const long before = page_faults();
  populated.populate({mib, 4 * mib});
  EXPECT_EQ(page_faults() - before, 0);
}

TEST(TransportPopulated, contents_are_unchanged_and_nothing_is_allocated) {
  Two two(16 * mib, 4 * mib + 4096);
  const std::uint64_t allocated = two.allocated_bytes();
  PopulatedParts populated(two.other);
  populated.populate({0, 4 * mib + 4096});
  EXPECT_EQ(two.allocated_bytes(), allocated) << "not the rest of the last granule either";
  EXPECT_TRUE(std::all_of(two.other.data(), two.other.data() + 4 * mib + 4096,
                          [](std::byte byte) { return byte == std::byte{7}; }));
  EXPECT_EQ(two.allocated_bytes(), allocated);
}

TEST(TransportPopulated, empty_parts_and_the_end_of_the_mapping) {
  Two two(mib, mib);
  PopulatedParts populated(two.other);
  populated.populate({0, 0});
  populated.populate({mib, 0});
  populated.populate({mib - 1, 1});
  populated.populate({0, mib});
  EXPECT_LT(faults_of_writing(two.other, {0, mib}), 256 / 8);
}

}  // namespace
}  // namespace afterbay::transport::shm
