// SPDX-License-Identifier: Apache-2.0
// The processes of an emulated session as rank 0 knows them while it is opened.
#pragma once

#include <vector>

#include "scale/emulation.hpp"
#include "transport/mpi/roster.hpp"
#include "wire/archive.hpp"
#include "wire/data_fields.hpp"

namespace bench {

/// A view as it is sent.
struct OneView {
  static constexpr afterbay::wire::Kind kind{1};
  afterbay::transport::network::RankView view;
  template <class A>
  void fields(A& a) {
    a(view);
  }
};

/// Servers, spread evenly over the nodes. `tiered`: with one frontend per node in addition, through
/// which its ranks send; otherwise dedicated.
std::vector<afterbay::transport::network::RankCard> cards_of(const Case& it, bool tiered = false);

}  // namespace bench
