// SPDX-License-Identifier: Apache-2.0
// FileRequests without a server: what a store is asked for.
#include "server/files/file_requests.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "storage/block_writer/disk.hpp"

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;

class ServerFileRequests : public ::testing::Test {
 protected:
  ServerFileRequests() {
    collection_.name = "history";
    collection_.servers = {0, 1, 2};
    collection_.existing = Existing::append;
    collection_.sink = make_direct_sink(layout_);
    file_.collection = &collection_;
    file_.path = "out.nc";
    file_.epochs = 4;
    config_.deadline = 8s;
  }
  [[nodiscard]] FileRequests make(bool checksums = false) const {
    return {config_, [](Format) -> storage::Store& { throw std::logic_error("no store is used"); }, 2,
            checksums};
  }

  config::Config config_;
  const std::shared_ptr<const model::FileLayout> layout_ = std::make_shared<model::FileLayout>();
  const std::shared_ptr<storage::Disk> disk_ = storage::Disk::real();
  ServedCollection collection_;
  OutputFile file_;
};

TEST_F(ServerFileRequests, DescribeTheFile) {
  const auto request = make().request(file_, disk_, true);
  EXPECT_EQ(request.path, "out.nc");
  EXPECT_EQ(request.layout, layout_);
  EXPECT_EQ(request.existing, Existing::append);
  EXPECT_EQ(request.disk, disk_);
  EXPECT_EQ(request.server, 2u);
  EXPECT_EQ(request.epochs, 4u);
  EXPECT_TRUE(request.readable);
  EXPECT_FALSE(request.checksum);
  EXPECT_TRUE(make(true).request(file_, disk_, false).checksum);
}

TEST_F(ServerFileRequests, ShareMemoryForChunksAndStorageTargets) {
  const FileRequests requests = make();
  const auto first = requests.request(file_, disk_, false), second = requests.request(file_, disk_, false);
  ASSERT_NE(first.chunk_memory, nullptr);
  EXPECT_EQ(first.chunk_memory, second.chunk_memory);
  ASSERT_NE(first.stripes.targets, nullptr);
  EXPECT_EQ(first.stripes.targets, second.stripes.targets);
}

TEST_F(ServerFileRequests, TakeStripesFromTheCollectionBeforeTheCommonSettings) {
  config_.writing.stripe.count = 2;
  EXPECT_EQ(make().request(file_, disk_, false).stripes.count, 2);
  for (const StripeApply apply : {StripeApply::automatic, StripeApply::always, StripeApply::never}) {
    config_.writing.stripe.apply = apply;
    EXPECT_EQ(make().request(file_, disk_, false).stripes.apply, apply);
  }
  config_.overrides.collections.push_back({"history", "", "stripe.count", "6", {}});
  const auto stripes = make().request(file_, disk_, false).stripes;
  EXPECT_EQ(stripes.count, 6);
  EXPECT_EQ(stripes.deadline, 4s);
  EXPECT_EQ(stripes.writers, 1u);
  collection_.split = model::Split::slab;
  EXPECT_EQ(make().request(file_, disk_, false).stripes.writers, 3u);
}

}  // namespace
}  // namespace afterbay::server
