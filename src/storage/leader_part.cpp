// SPDX-License-Identifier: Apache-2.0
#include "storage/leader_part.hpp"

#include "storage/epoch/part_identity.hpp"
#include "storage/sealed.hpp"

namespace afterbay::storage {

LeaderPart LeaderPart::of(int descriptor, bool direct) noexcept {
  const PartIdentity identity = identity_of_part(descriptor);
  return {direct, identity.inode, identity.born_ns};
}

Result<LeaderPart> LeaderPart::read(SealedReader& reader) {
  LeaderPart part;
  AFTERBAY_TRY_ASSIGN(const std::uint64_t direct, reader.number(1));
  part.direct = direct != 0;
  AFTERBAY_TRY_ASSIGN(part.inode, reader.number());
  AFTERBAY_TRY_ASSIGN(part.born_ns, reader.number());
  return part;
}

void LeaderPart::write(SealedWriter& writer) const {
  writer.number(direct ? 1 : 0);
  writer.number(inode);
  writer.number(born_ns);
}

bool LeaderPart::is(int descriptor) const noexcept {
  const LeaderPart found = of(descriptor, direct);
  // Not all nodes may know these values.
  const auto same = [](std::uint64_t a, std::uint64_t b) { return a == b || a == 0 || b == 0; };
  return same(inode, found.inode) && same(born_ns, found.born_ns);
}

}  // namespace afterbay::storage
