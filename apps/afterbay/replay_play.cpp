// SPDX-License-Identifier: Apache-2.0
#include "replay_play.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <numeric>
#include <type_traits>
#include <utility>

namespace afterbay::app {
namespace {

constexpr std::uint64_t cache_bytes = std::uint64_t{256}
                                      << 20;  ///< decoded chunks of the input, all variables

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Failure(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Adds the time from construction to destruction to `seconds`.
class Timed {
 public:
  explicit Timed(double& seconds) : seconds_(seconds) {}
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() { seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// One variable as this rank replays it: its part (including the record dimension) and a buffer.
struct Part {
  const InputVariable* input = nullptr;
  Played how = Played::whole;
  bool record = false;
  std::vector<std::uint64_t> start;
  std::vector<std::uint64_t> count;
  std::uint64_t points = 0;
};

class Player {
 public:
  Player(Session& session, const NetcdfReader& input, Plan plan, const ReplayRequest& request)
      : session_(session), input_(input), plan_(std::move(plan)), request_(request) {}

  Playback run() {
    const Collection collection = define();
    for (int turn = 0; turn < request_.repeat; ++turn)
      play_turn(collection, output_name(request_.output, turn));
    session_.finalize();
    return std::move(result_);
  }

 private:
  Collection define() {
    for (const RankGrid& grid : plan_.grids) {
      const Block block = grid.block_of(static_cast<std::uint64_t>(session_.model_rank()));
      session_.decomposition(grid.name, block);
      blocks_.push_back(block);
    }
    for (const PlayedVariable& played : plan_.variables) {
      const InputVariable& variable = input_.contents().variables[played.input];
      if (played.how == Played::constant)
        plan_.schema.variables[played.input].with_constant(value_or_throw(input_.read_all(variable)));
      else
        parts_.push_back(part_of(variable, played));
    }
    share_out_cache();
    return session_.collection("replay", plan_.schema,
                               {.file = {}, .directory = {}, .store = request_.store});
  }

  Part part_of(const InputVariable& variable, const PlayedVariable& played) const {
    Part part{&variable, played.how, played.record, {}, input_.contents().shape(variable), 1};
    part.start.assign(part.count.size(), 0);
    if (part.record) part.count[0] = 1;
    if (played.how == Played::decomposed) {
      const Block& block = blocks_[played.grid];
      std::copy(block.start.begin(), block.start.end(),
                part.start.end() - static_cast<std::ptrdiff_t>(block.start.size()));
      std::copy(block.count.begin(), block.count.end(),
                part.count.end() - static_cast<std::ptrdiff_t>(block.count.size()));
    }
    part.points =
        std::accumulate(part.count.begin(), part.count.end(), std::uint64_t{1}, std::multiplies<>());
    return part;
  }

  /// A chunk may hold many records: it stays decoded while they are replayed.
  void share_out_cache() const {
    const auto chunked = [](const Part& part) { return part.record && !part.input->chunk.empty(); };
    const auto sharing = std::count_if(parts_.begin(), parts_.end(), chunked);
    for (const Part& part : parts_)
      if (chunked(part)) input_.cache_chunks(*part.input, cache_bytes / static_cast<std::uint64_t>(sharing));
  }

  void play_turn(Collection collection, const std::string& name) {
    OutputFile file = collection.open(name);
    if (session_.model_rank() == 0) result_.paths.push_back(file.path());
    play_parts(file, false, 0);
    for (std::uint64_t record = 0; record < plan_.records; ++record) play_parts(file, true, record);
    file.close();
  }

  /// All fixed variables, or one record of the others: the data that a model would put in one step.
  void play_parts(OutputFile& file, bool records, std::uint64_t record) {
    for (Part& part : parts_) {
      if (part.record != records) continue;
      if (records) part.start[0] = record;
      if (part.how == Played::strings)
        play_strings(file, part, record);
      else
        play_part(file, part, record);
    }
    session_.end_step();
    if (records) ++result_.records;
  }

  void play_part(OutputFile& file, const Part& part, std::uint64_t record) {
    buffer_.resize(part.points * size_of(part.input->type));
    {
      const Timed timed(result_.read_s);
      value_or_throw(input_.read(*part.input, part.start, part.count, buffer_));
    }
    const Timed timed(result_.put_s);
    file.put_raw(part.input->name, record, buffer_.data(), part.input->type, {}, true);
    result_.bytes += buffer_.size();
  }

  /// Every rank holds all strings, as in a model.
  void play_strings(OutputFile& file, const Part& part, std::uint64_t record) {
    std::vector<std::string> strings;
    {
      const Timed timed(result_.read_s);
      strings = value_or_throw(input_.read_strings(*part.input, part.start, part.count));
    }
    const Timed timed(result_.put_s);
    file.put_strings(part.input->name, record, strings);
    for (const std::string& value : strings) result_.bytes += value.size();
  }

  Session& session_;
  const NetcdfReader& input_;
  Plan plan_;
  const ReplayRequest& request_;
  std::vector<Block> blocks_;  ///< in the order of Plan::grids
  std::vector<Part> parts_;
  std::vector<std::byte> buffer_;
  Playback result_;
};

}  // namespace

std::string output_name(const std::string& output, int turn) {
  if (turn == 0) return output;
  const std::filesystem::path path(output);
  return (path.parent_path() /
          fmt::format("{}.{}{}", path.stem().string(), turn + 1, path.extension().string()))
      .string();
}

Playback play(Session& session, const NetcdfReader& input, Plan plan, const ReplayRequest& request) {
  return Player(session, input, std::move(plan), request).run();
}

}  // namespace afterbay::app
