// SPDX-License-Identifier: Apache-2.0
// A collection whose servers compute a variable, as one rank defines it, and frames of it.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <vector>

#include "server/catalog.hpp"
#include "server/sink.hpp"
#include "unit/server/fake_transport.hpp"

namespace afterbay::test {

/// Collection 3 with the mean of `t`, or another reduction, a record of which is one piece in one
/// frame.
class ReducedCollection {
 public:
  static constexpr std::size_t points = 4;

  /// The mean.
  static wire::ReductionDefinition mean() {
    return {.statistic = {.kind = statistics::StatisticKind::mean}, .missing = Values(-1.0)};
  }

  explicit ReducedCollection(const wire::ReductionDefinition& reduction = mean()) {
    wire::DefineCollection message;
    message.id = 3;
    message.name = "history";
    wire::CollectionDefinition& definition = message.definition.emplace();
    definition.format = Format::memory;
    definition.servers = {0};
    definition.decompositions = {-1};
    definition.reductions = {reduction};
    Schema& schema = definition.schema;
    schema.dimension("time", unlimited).dimension("x", points);
    schema.variable("t", Type::float64, {"time", "x"});
    EXPECT_TRUE(catalog_.add(0, message));
    EXPECT_TRUE(catalog_.end(0, {.serial = 1}).value());
    EXPECT_TRUE(catalog_.complete(frames));
  }
  [[nodiscard]] const server::ServedCollection& get() const { return *catalog_.find(3); }

  /// A frame with these values. It is valid until this object ends.
  std::span<std::byte> frame(const std::vector<double>& values) {
    const model::HandoverLayout& layout = *get().layout;
    buffers_.emplace_back(layout.frames[0].bytes + model::page_bytes);
    if (!values.empty())
      std::memcpy(buffers_.back().data() + layout.pieces[0].frame_offset, values.data(),
                  values.size() * sizeof(double));
    return buffers_.back();
  }
  [[nodiscard]] std::vector<double> values(const std::byte* frame) const {
    std::vector<double> found(points);
    std::memcpy(found.data(), frame + get().layout->pieces[0].frame_offset, points * sizeof(double));
    return found;
  }

  FakeFrames frames;

 private:
  config::Config config_;
  server::Catalog catalog_{{10}, config_};
  std::deque<std::vector<std::byte>> buffers_;
};

}  // namespace afterbay::test
