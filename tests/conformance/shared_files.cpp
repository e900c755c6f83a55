// SPDX-License-Identifier: Apache-2.0
#include "conformance/shared_files.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

namespace afterbay::test {
namespace {

bool send_all(int pipe, const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t sent = ::write(pipe, next, count);
    if (sent <= 0) return false;
    next += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

bool receive_all(int pipe, void* bytes, std::size_t count) {
  char* next = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = ::read(pipe, next, count);
    if (got <= 0) return false;
    next += got;
    count -= static_cast<std::size_t>(got);
  }
  return true;
}

enum class Kind : std::uint64_t { places, account, failure };

/// The contents of the pipe to the parent: the kind, the number of bytes, the bytes.
void send_message(int pipe, Kind kind, const void* bytes, std::uint64_t count) {
  send_all(pipe, &kind, sizeof kind);
  send_all(pipe, &count, sizeof count);
  send_all(pipe, bytes, count);
}

/// Asks the parent, one request at a time.
class PipePlacer : public storage::Placer {
 public:
  PipePlacer(int to_parent, int from_parent) : to_parent_(to_parent), from_parent_(from_parent) {}
  Result<std::vector<std::uint64_t>> place(std::span<const storage::PlaceRequest> requests) override {
    send_message(to_parent_, Kind::places, requests.data(), requests.size_bytes());
    std::vector<std::uint64_t> places(requests.size());
    if (!receive_all(from_parent_, places.data(), places.size() * sizeof places[0]))
      return fail(ErrorCode::peer_lost, "the leader gave no places");
    return places;
  }

 private:
  int to_parent_;
  int from_parent_;
};

Result<std::vector<std::byte>> do_jobs(storage::Store& store, const storage::FileRequest& request,
                                       std::span<const std::byte> share, const std::vector<FrameJob>& jobs,
                                       const Source& source, std::shared_ptr<storage::Placer> placer) {
  AFTERBAY_TRY_ASSIGN(const auto member, store.join(request, share, std::move(placer)));
  for (const FrameJob& job : jobs) AFTERBAY_TRY(write_frame(*member, request, job.frame, job.record, source));
  return member->hand_over();
}

}  // namespace

std::vector<FrameJob> all_frames(const model::FileLayout& layout, std::uint64_t records) {
  std::vector<FrameJob> jobs;
  for (std::uint64_t record = 0; record < records; ++record)
    for (std::size_t f = 0; f < layout.frames.size(); ++f)
      if (layout.frames[f].record || record == 0) jobs.push_back({f, record});
  return jobs;
}

SharedFile::SharedFile(storage::Store& store, const storage::FileRequest& request, std::size_t members)
    : request_(request) {
  auto leader = store.create(request);
  if (!leader) throw Failure(leader.error());
  writers_.push_back(std::move(*leader));
  const auto share = writers_.front()->share();
  if (!share) throw Failure(share.error());
  for (std::size_t m = 0; m < members; ++m) {
    auto member = store.join(request, *share, std::make_shared<LeaderPlacer>(*writers_.front()));
    if (!member) throw Failure(member.error());
    writers_.push_back(std::move(*member));
  }
}

void SharedFile::write(const std::vector<FrameJob>& jobs, const Source& source, int threads) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> running;
  for (int t = 0; t < threads; ++t)
    running.emplace_back([&] {
      for (std::size_t n = next++; n < jobs.size(); n = next++) {
        const auto written = write_frame(of(jobs[n]), request_, jobs[n].frame, jobs[n].record, source);
        EXPECT_TRUE(written) << written.error().text();
      }
    });
}

void SharedFile::publish() {
  for (std::size_t w = 1; w < writers_.size(); ++w) {
    const auto account = writers_[w]->hand_over();
    ASSERT_TRUE(account) << account.error().text();
    const auto taken = leader().take(*account);
    ASSERT_TRUE(taken) << taken.error().text();
  }
  const auto published = leader().publish();
  ASSERT_TRUE(published) << published.error().text();
  expect_checksum(request_, *published);
}

MemberProcess::MemberProcess(storage::Store& store, const storage::FileRequest& request,
                             std::span<const std::byte> share, const std::vector<FrameJob>& jobs,
                             const Source& source) {
  int up[2];
  int down[2];
  if (::pipe(up) != 0 || ::pipe(down) != 0) throw std::runtime_error("no pipes");
  process_ = ::fork();
  if (process_ == 0) {
    ::close(up[0]);
    ::close(down[1]);
    const auto account =
        do_jobs(store, request, share, jobs, source, std::make_shared<PipePlacer>(up[1], down[0]));
    if (account) {
      send_message(up[1], Kind::account, account->data(), account->size());
    } else {
      const std::string text = account.error().text();
      send_message(up[1], Kind::failure, text.data(), text.size());
    }
    ::_exit(0);  // the parent's objects must not be destroyed here
  }
  ::close(up[1]);
  ::close(down[0]);
  from_child_ = up[0];
  to_child_ = down[1];
}

MemberProcess::~MemberProcess() {
  ::close(from_child_);
  ::close(to_child_);
  ::waitpid(process_, nullptr, 0);
}

void MemberProcess::serve(storage::File& leader) {
  for (;;) {
    Kind kind{};
    std::uint64_t count = 0;
    if (!receive_all(from_child_, &kind, sizeof kind) || !receive_all(from_child_, &count, sizeof count))
      return;
    std::vector<std::byte> bytes(count);
    if (!receive_all(from_child_, bytes.data(), count)) return;
    if (kind == Kind::places) {
      std::vector<storage::PlaceRequest> requests(count / sizeof(storage::PlaceRequest));
      std::memcpy(requests.data(), bytes.data(), count);
      const auto places = leader.place(requests);
      if (!places || !send_all(to_child_, places->data(), places->size() * sizeof(std::uint64_t))) {
        failure_ = places ? "the member is gone" : places.error().text();
        return;
      }
      continue;
    }
    failure_.clear();
    if (kind == Kind::account)
      account_ = std::move(bytes);
    else
      failure_.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return;
  }
}

void expect_equal(const ReadFile& file, const ReadFile& other) {
  EXPECT_EQ(file.format, other.format);
  EXPECT_EQ(file.dimensions, other.dimensions);
  EXPECT_EQ(file.records, other.records);
  EXPECT_EQ(file.order, other.order);
  EXPECT_TRUE(file.attributes == other.attributes);
  for (const auto& [name, variable] : file.variables) {
    ASSERT_TRUE(other.variables.contains(name)) << name;
    const ReadVariable& same = other.variables.at(name);
    EXPECT_EQ(variable.dimensions, same.dimensions) << name;
    EXPECT_EQ(variable.shape, same.shape) << name;
    EXPECT_TRUE(variable.values == same.values) << "values of '" << name << "' differ";
    EXPECT_TRUE(variable.attributes == same.attributes) << name;
  }
}

}  // namespace afterbay::test
