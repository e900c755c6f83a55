// SPDX-License-Identifier: Apache-2.0
#include "transport/mpi/consult.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/rank_names.hpp"
#include "wire/collective_messages.hpp"
#include "wire/data_fields.hpp"

namespace afterbay::transport::network {
namespace {

using mpi::Tree;
using Direction = mpi::Tree::Direction;

/// A message begins with this byte.
enum class Outcome : std::uint8_t { good, failed };

Bytes message_of(std::span<const std::byte> contents) {
  Bytes bytes;
  bytes.reserve(contents.size() + 1);
  bytes.push_back(static_cast<std::byte>(Outcome::good));
  bytes.insert(bytes.end(), contents.begin(), contents.end());
  return bytes;
}

Bytes message_of(const Error& error) {
  Bytes bytes{static_cast<std::byte>(Outcome::failed)};
  wire::Writer writer(bytes);
  writer(error);
  return bytes;
}

Error error_of(std::span<const std::byte> contents) {
  Error error;
  wire::Reader reader(contents);
  reader(error);
  return reader.ok() ? error : Error(ErrorCode::internal, "another rank failed; its error cannot be read");
}

/// A child that did not answer, and the ranks below it up to `end` - 1.
Error silence_of(const Manner& manner, int child, int end) {
  std::string others;
  if (end - child > 1) {
    std::vector<int> below;
    for (int r = child + 1; r < end; ++r) below.push_back(manner.called(r));
    others = fmt::format(" (through which {} answer{})", name_ranks(below), below.size() == 1 ? "s" : "");
  }
  return make_error(ErrorCode::timed_out,
                    "rank {}{} did not answer within {} ms while {}: some rank does not participate; see the "
                    "other ranks' output",
                    manner.called(child), others, manner.limit.count(), manner.what)
      .at_rank(manner.called(child));
}

class Consultation {
 public:
  Consultation(Tree& tree, const Manner& manner, const EncodedSteps& steps)
      : tree_(tree), manner_(manner), steps_(steps) {}

  Result<Bytes> run() {
    take_reports();
    const bool root = tree_.branch().parent < 0;
    Result<Bytes> answer = root ? decide() : ask_parent();
    if (answer) {
      AFTERBAY_TRY(pass_on(*answer));
    } else {
      for (const int child : tree_.branch().children)
        (void)tree_.send(child, Direction::down, message_of(answer.error()));
    }
    auto settled = tree_.settle(end_after(levels()));
    if (!answer) return answer;
    AFTERBAY_TRY_ASSIGN(const bool all, std::move(settled));
    if (all) return answer;
    return fail(ErrorCode::timed_out, "{} did not take the answer within {} ms while {}",
                name_ranks(called(tree_.branch().children)), manner_.limit.count(), manner_.what);
  }

 private:
  [[nodiscard]] int levels() const { return 2 * (mpi::branch_of(0, tree_.size()).height() + 1); }
  /// The end of a wait that begins after `steps` waits of other ranks have ended.
  [[nodiscard]] Tree::Time end_after(int steps) const {
    const auto step = std::min<mpi::Millis>(manner_.limit / 16, mpi::Millis(250));
    return begin_ + manner_.limit + steps * step;
  }

  [[nodiscard]] std::vector<int> called(std::vector<int> ranks) const {
    for (int& rank : ranks) rank = manner_.called(rank);
    return ranks;
  }

  /// If there are several failures, that of the lowest rank counts; unknown ranks come last.
  void take_failure(Error error) {
    const auto place = [](const Error& it) { return static_cast<unsigned>(it.rank); };
    if (!failure_ || place(error) < place(*failure_)) failure_ = std::move(error);
  }

  void take_reports() {
    const auto& children = tree_.branch().children;
    for (std::size_t i = 0; i < children.size(); ++i)
      if (auto taken = take_report(children[i], tree_.end_of(i)); !taken)
        take_failure(std::move(taken).error());
  }

  Result<> take_report(int child, int end) {
    AFTERBAY_TRY_ASSIGN(const auto message,
                        tree_.receive(child, Direction::up, end_after(tree_.branch().height() - 1)));
    if (!message) return fail(silence_of(manner_, child, end));
    const auto contents = std::span(message->bytes).subspan(1);
    if (message->bytes.front() == static_cast<std::byte>(Outcome::failed)) return fail(error_of(contents));
    if (auto joined = steps_.join(child, contents); !joined)
      return fail(make_error(ErrorCode::conflict,
                             "the report of rank {} cannot be read by rank {}: do all ranks use the same "
                             "version of the library? ({})",
                             manner_.called(child), manner_.called(tree_.rank()), joined.error().message)
                      .at_rank(manner_.called(child)));
    return {};
  }

  Result<Bytes> decide() {
    if (failure_) return fail(*failure_);
    return steps_.decide();
  }

  Result<Bytes> ask_parent() {
    const int parent = tree_.branch().parent;
    AFTERBAY_TRY(
        tree_.send(parent, Direction::up, failure_ ? message_of(*failure_) : message_of(steps_.report())));
    AFTERBAY_TRY_ASSIGN(const auto message, tree_.receive(parent, Direction::down, end_after(levels())));
    if (!message) {
      if (failure_) return fail(*failure_);
      return fail(make_error(ErrorCode::timed_out,
                             "rank {} did not pass the answer of all ranks on within {} ms while {}: some "
                             "rank does not participate; see the other ranks' output",
                             manner_.called(parent), manner_.limit.count(), manner_.what)
                      .at_rank(manner_.called(parent)));
    }
    const auto contents = std::span(message->bytes).subspan(1);
    if (message->bytes.front() == static_cast<std::byte>(Outcome::failed)) return fail(error_of(contents));
    return Bytes(contents.begin(), contents.end());
  }

  Result<> pass_on(const Bytes& answer) {
    Result<> outcome;
    const auto& children = tree_.branch().children;
    for (std::size_t i = children.size(); i-- > 0;) {  // the child with the most ranks below it first
      Result<Bytes> part =
          steps_.part ? steps_.part(children[i], tree_.end_of(i), answer) : Result<Bytes>(answer);
      if (!part) outcome = fail(part.error());
      AFTERBAY_TRY(
          tree_.send(children[i], Direction::down, part ? message_of(*part) : message_of(part.error())));
    }
    return outcome;
  }

  Tree& tree_;
  const Manner& manner_;
  const EncodedSteps& steps_;
  const Tree::Time begin_ = std::chrono::steady_clock::now();
  std::optional<Error> failure_;
};

/// Consecutive bytes of some ranks, on their way to the root.
struct Parts {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::consulted_parts);
  struct Part {
    std::int32_t rank = 0;
    Bytes bytes;
    template <class A>
    void fields(A& a) {
      a(rank, bytes);
    }
  };
  std::vector<Part> parts;
  bool last = false;  ///< these are the sender's last parts
  template <class A>
  void fields(A& a) {
    a(parts, last);
  }
};

/// Sends the bytes of a rank to the root, which keeps them.
class Gather {
 public:
  Gather(Tree& tree, const Manner& manner, std::size_t message_bytes)
      : tree_(tree),
        manner_(manner),
        message_bytes_(message_bytes),
        found_(is_root() ? static_cast<std::size_t>(tree.size()) : 0) {}

  Result<std::vector<Bytes>> run(std::span<const std::byte> own) {
    Result<> passed = add(tree_.rank(), own);
    if (is_root()) passed = take_all();
    if (!is_root()) {
      if (!passed) {
        AFTERBAY_TRY(tree_.send(0, Direction::up, message_of(passed.error())));
      } else {
        passed = send(true);
      }
      AFTERBAY_TRY_ASSIGN(const bool settled, tree_.settle(end()));
      if (passed && !settled) passed = fail(silence_of_root());
    }
    if (!passed) return fail(std::move(passed).error());
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_root() const { return tree_.branch().parent < 0; }
  [[nodiscard]] Tree::Time end() const { return std::chrono::steady_clock::now() + manner_.limit; }
  [[nodiscard]] Error silence_of_root() const {
    const int parent = manner_.called(0);
    return make_error(ErrorCode::timed_out, "rank {} took no data within {} ms while {}", parent,
                      manner_.limit.count(), manner_.what)
        .at_rank(parent);
  }

  Result<> add(int rank, std::span<const std::byte> bytes) {
    if (is_root()) {
      Bytes& to = found_[static_cast<std::size_t>(rank)];
      to.insert(to.end(), bytes.begin(), bytes.end());
      return {};
    }
    while (!bytes.empty()) {
      if (held_ >= message_bytes_) AFTERBAY_TRY(send(false));
      const auto next = bytes.first(std::min(bytes.size(), message_bytes_ - held_));
      waiting_.parts.push_back({rank, Bytes(next.begin(), next.end())});
      held_ += next.size();
      bytes = bytes.subspan(next.size());
    }
    return {};
  }

  /// One message at a time, so that a rank holds few of them.
  Result<> send(bool last) {
    AFTERBAY_TRY_ASSIGN(const bool settled, tree_.settle(end()));
    if (!settled) return fail(silence_of_root());
    waiting_.last = last;
    AFTERBAY_TRY(tree_.send(0, Direction::up, message_of(wire::encode(waiting_))));
    waiting_ = {};
    held_ = 0;
    return {};
  }

  /// In the order in which messages arrive, so that no rank waits for another one's data.
  Result<> take_all() {
    std::vector<int> open;
    for (int rank = 1; rank < tree_.size(); ++rank) open.push_back(rank);
    while (!open.empty()) {
      AFTERBAY_TRY_ASSIGN(const auto message, tree_.receive(open, Direction::up, end()));
      if (!message) {
        return fail(silence_of(manner_, open.front(), open.front() + 1));
      }
      const auto contents = std::span(message->bytes).subspan(1);
      if (message->bytes.front() == static_cast<std::byte>(Outcome::failed)) return fail(error_of(contents));
      AFTERBAY_TRY_ASSIGN(const Parts parts, wire::decode<Parts>(contents));
      for (const Parts::Part& it : parts.parts) {
        if (it.rank < 0 || it.rank >= tree_.size())
          return fail(ErrorCode::internal, "rank {} sent data of rank {}", message->from, it.rank);
        AFTERBAY_TRY(add(it.rank, it.bytes));
      }
      if (parts.last) std::erase(open, message->from);
    }
    return {};
  }

  Tree& tree_;
  const Manner& manner_;
  const std::size_t message_bytes_;
  std::vector<Bytes> found_;
  Parts waiting_;
  std::size_t held_ = 0;
};

}  // namespace

Result<Bytes> consult(mpi::Tree& tree, const Manner& manner, const EncodedSteps& steps) {
  return Consultation(tree, manner, steps).run();
}

Result<std::vector<Bytes>> gather(mpi::Tree& tree, const Manner& manner, std::span<const std::byte> own,
                                  std::size_t message_bytes) {
  return Gather(tree, manner, message_bytes).run(own);
}

}  // namespace afterbay::transport::network
