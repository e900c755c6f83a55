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
  wire::OutputArchive archive(bytes);
  archive(error);
  return bytes;
}

Error error_of(std::span<const std::byte> contents) {
  Error error;
  wire::InputArchive archive(contents);
  archive(error);
  return archive.ok() ? error : Error(ErrorCode::internal, "another rank failed; its error cannot be read");
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
                             "rank {} did not pass on the answer of all ranks within {} ms while {}: some "
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

/// Consecutive bytes of a rank, on their way to the root.
struct GatheredPart {
  static constexpr wire::Kind kind = wire::kind_of(wire::CollectiveMessage::gathered_part);
  Bytes bytes;
  bool last = false;
  template <class A>
  void fields(A& a) {
    a(bytes, last);
  }
};

/// Sends the bytes of a rank to the root.
class Gather {
 public:
  Gather(Tree& tree, const Manner& manner, std::size_t message_bytes)
      : tree_(tree), manner_(manner), message_bytes_(message_bytes) {}

  /// One message at a time, so that a rank holds few of them.
  Result<> send(std::span<const std::byte> own) {
    do {
      const auto next = own.first(std::min(own.size(), message_bytes_));
      own = own.subspan(next.size());
      AFTERBAY_TRY(tree_.send(0, Direction::to_root,
                              wire::encode(GatheredPart{Bytes(next.begin(), next.end()), own.empty()})));
      AFTERBAY_TRY_ASSIGN(const bool settled, tree_.settle(end()));
      if (!settled) return fail(silence_of_root());
    } while (!own.empty());
    return {};
  }

  /// In the order in which messages arrive, so that no rank waits for another one's data.
  Result<> take_all(std::span<const std::byte> own, const TakeBytes& take) {
    ranks_.resize(static_cast<std::size_t>(tree_.size()));
    AFTERBAY_TRY(add(0, {Bytes(own.begin(), own.end()), true}));
    pass_on(take);
    while (next_ < ranks_.size()) {
      AFTERBAY_TRY_ASSIGN(auto message, tree_.receive_any(Direction::to_root, end()));
      if (!message) return fail(silence_of(manner_, static_cast<int>(next_), static_cast<int>(next_) + 1));
      AFTERBAY_TRY_ASSIGN(GatheredPart part, wire::decode<GatheredPart>(message->bytes));
      AFTERBAY_TRY(add(message->from, std::move(part)));
      pass_on(take);
    }
    return taken_;
  }

 private:
  struct Arrived {
    Bytes bytes;
    bool complete = false;
  };

  [[nodiscard]] Tree::Time end() const { return std::chrono::steady_clock::now() + manner_.limit; }
  [[nodiscard]] Error silence_of_root() const {
    const int root = manner_.called(0);
    return make_error(ErrorCode::timed_out, "rank {} took no data within {} ms while {}", root,
                      manner_.limit.count(), manner_.what)
        .at_rank(root);
  }

  Result<> add(int rank, GatheredPart part) {
    Arrived& to = ranks_[static_cast<std::size_t>(rank)];
    if (to.complete)
      return fail(ErrorCode::internal, "rank {} sent data after its last", manner_.called(rank));
    to.complete = part.last;
    if (to.bytes.empty())
      to.bytes = std::move(part.bytes);
    else
      to.bytes.insert(to.bytes.end(), part.bytes.begin(), part.bytes.end());
    return {};
  }

  /// Passes on what is complete. After a failure the rest is received and dropped: others still
  /// send.
  void pass_on(const TakeBytes& take) {
    for (; next_ < ranks_.size() && ranks_[next_].complete; ++next_) {
      Bytes bytes = std::move(ranks_[next_].bytes);
      if (taken_) taken_ = take(static_cast<int>(next_), std::move(bytes));
    }
  }

  Tree& tree_;
  const Manner& manner_;
  const std::size_t message_bytes_;
  std::vector<Arrived> ranks_;  ///< on the root
  std::size_t next_ = 0;        ///< the lowest rank whose bytes have not been passed on
  Result<> taken_;
};

}  // namespace

Result<Bytes> consult(mpi::Tree& tree, const Manner& manner, const EncodedSteps& steps) {
  return Consultation(tree, manner, steps).run();
}

Result<> gather(mpi::Tree& tree, const Manner& manner, std::span<const std::byte> own, const TakeBytes& take,
                std::size_t message_bytes) {
  Gather gather(tree, manner, message_bytes);
  return tree.branch().parent < 0 ? gather.take_all(own, take) : gather.send(own);
}

}  // namespace afterbay::transport::network
