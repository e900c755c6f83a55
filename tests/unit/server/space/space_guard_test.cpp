// SPDX-License-Identifier: Apache-2.0
// Calls on a full disk wait, as long as the guard lets them.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "server/space/space_guard.hpp"
#include "unit/server/space/virtual_space_clock.hpp"

namespace afterbay::server {
namespace {

using namespace std::chrono_literals;
using What = SpaceNotice::What;

/// Full until it is told otherwise.
class FullDisk : public storage::Disk {
 public:
  std::atomic<int> error{ENOSPC};
  std::atomic<int> calls{0};
  int truncate(int, off_t) override {
    ++calls;
    if (error == 0) return 0;
    errno = error;
    return -1;
  }
  int sync(int) override {
    ++calls;
    errno = ENOSPC;
    return -1;
  }
};

class ThreadSpaceGuard : public testing::Test {
 protected:
  std::shared_ptr<storage::Disk> patient(std::chrono::milliseconds retry,
                                         SpaceClock& clock = SpaceClock::real()) {
    guard.emplace(retry,
                  SpaceGuard::Hooks{[this] { ++signs_of_life; },
                                    {},
                                    [this](const SpaceNotice& notice) {
                                      const std::lock_guard lock(mutex);
                                      notices.push_back(notice.what);
                                      if (notice.what == free_at) disk->error = 0;
                                    }},
                  clock);
    return std::make_shared<storage::PatientDisk>(disk, *guard);
  }
  std::vector<What> heard() {
    const std::lock_guard lock(mutex);
    return notices;
  }
  void wait_for(std::size_t count) {
    for (int i = 0; i < 6000 && heard().size() < count; ++i) std::this_thread::sleep_for(10ms);
    ASSERT_GE(heard().size(), count);
  }

  std::shared_ptr<FullDisk> disk = std::make_shared<FullDisk>();
  std::atomic<int> signs_of_life{0};
  std::mutex mutex;
  std::vector<What> notices;
  std::optional<What> free_at;  ///< a notice after which there is space
  VirtualSpaceClock virtual_clock;
  std::optional<SpaceGuard> guard;
};

TEST_F(ThreadSpaceGuard, a_call_goes_on_when_there_is_space) {
  const auto waiting = patient(10min);
  std::jthread freer([&] {
    wait_for(1);
    EXPECT_TRUE(guard->waiting());
    disk->error = 0;
  });
  EXPECT_EQ(waiting->truncate(0, 0), 0);
  EXPECT_EQ(heard(), (std::vector{What::short_of_space, What::over}));
  EXPECT_GT(signs_of_life, 0);
  EXPECT_FALSE(guard->waiting());
}

TEST_F(ThreadSpaceGuard, it_fails_as_the_disk_does_when_the_time_is_over) {
  disk->error = EDQUOT;
  EXPECT_EQ(patient(300ms, virtual_clock)->truncate(0, 0), -1);
  EXPECT_EQ(errno, EDQUOT);
  EXPECT_GT(disk->calls, 2);
  EXPECT_EQ(heard(), (std::vector{What::short_of_space, What::given_up}));
}

TEST_F(ThreadSpaceGuard, without_patience_it_fails_at_once_and_says_nothing) {
  EXPECT_EQ(patient(0ms)->truncate(0, 0), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(disk->calls, 1);
  EXPECT_TRUE(heard().empty());
}

TEST_F(ThreadSpaceGuard, other_errors_are_not_retried) {
  disk->error = EIO;
  EXPECT_EQ(patient(10min)->truncate(0, 0), -1);
  EXPECT_EQ(disk->calls, 1);
}

/// A kernel that could not write data back may have dropped them, and say nothing the second time.
TEST_F(ThreadSpaceGuard, fsync_is_not_tried_again) {
  EXPECT_EQ(patient(10min)->sync(0), -1);
  EXPECT_EQ(disk->calls, 1);
}

TEST_F(ThreadSpaceGuard, a_sacrifice_is_asked_for_once_and_gives_time) {
  const auto waiting = patient(300ms, virtual_clock);
  guard->offer(true);
  free_at = What::sacrifice;
  EXPECT_EQ(waiting->truncate(0, 0), 0);
  EXPECT_EQ(heard(), (std::vector{What::short_of_space, What::sacrifice, What::over}));
  disk->error = ENOSPC;
  EXPECT_EQ(waiting->truncate(0, 0), -1);
  EXPECT_EQ(heard().back(), What::given_up);
  EXPECT_EQ(heard().size(), 5U);
}

TEST_F(ThreadSpaceGuard, calls_end_when_it_stops) {
  const auto waiting = patient(10min);
  std::jthread stopper([&] {
    wait_for(1);
    guard->stop();
  });
  EXPECT_EQ(waiting->truncate(0, 0), -1);
}

TEST_F(ThreadSpaceGuard, nothing_is_written_once_it_is_cut_off) {
  disk->error = 0;
  const auto waiting = patient(10min);
  guard->cut_off();
  EXPECT_EQ(waiting->truncate(0, 0), -1);
  EXPECT_EQ(errno, ECANCELED);
  EXPECT_EQ(disk->calls, 0);
}

TEST_F(ThreadSpaceGuard, calls_about_a_file_that_is_given_up_end) {
  const auto waiting = patient(10min);
  const int descriptor = ::open(".", O_RDONLY | O_DIRECTORY);
  std::jthread dropper([&] {
    wait_for(1);
    guard->give_up(".");
  });
  EXPECT_EQ(waiting->truncate(descriptor, 0), -1);
  ::close(descriptor);
}

TEST_F(ThreadSpaceGuard, calls_about_a_file_in_a_directory_that_is_given_up_end) {
  static_cast<void>(patient(10min));
  guard->give_up("/out.zz.part");
  EXPECT_FALSE(guard->wait_for_space({"/out.zz.part/values/data", ENOSPC, now_ns()}));
  EXPECT_FALSE(guard->wait_for_space({"/out.zz.part", ENOSPC, now_ns()}));
  EXPECT_TRUE(guard->wait_for_space({"/out.zz.partial/data", ENOSPC, now_ns()}));
  EXPECT_TRUE(guard->wait_for_space({"data", ENOSPC, now_ns()}));
}

}  // namespace
}  // namespace afterbay::server
