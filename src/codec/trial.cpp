// SPDX-License-Identifier: Apache-2.0
#include "codec/trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <tuple>

#include "codec/filter_chain.hpp"

namespace afterbay::codec {
namespace {

bool is_here(const Codec& codec) { return codec.lacks.empty(); }

bool contains(std::span<const std::string> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Processor time of this thread. Elapsed time would include other processes on the same core.
double thread_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<FilterLevels> chains_of(const Codec& compressor, int level) {
  std::vector<FilterLevels> chains;
  for (const Codec* const before : codecs_of(FilterKind::rearrange)) {
    // Readers that open the compressor without a plugin must not need one for the other filter.
    if (compressor.rearranges || !is_here(*before) ||
        (is_part_of_hdf5(compressor) && !is_part_of_hdf5(*before)))
      continue;
    chains.push_back({{std::string(before->name), 1}, {std::string(compressor.name), level}});
  }
  chains.push_back({{std::string(compressor.name), level}});
  return chains;
}

}  // namespace

std::string text_of(const FilterLevels& filters) {
  std::string text;
  for (const auto& [name, level] : filters) {
    const Codec* const codec = find_codec(name);
    text += (text.empty() ? "" : ", ") + name;
    if (codec != nullptr && codec->most_level > 0) text += fmt::format(" {}", level);
  }
  return text.empty() ? "none" : text;
}

std::string settings_of(std::string_view collection, const FilterLevels& filters) {
  std::string quoted;
  for (const char c : collection) quoted += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  std::string text = fmt::format("collections:\n  \"{}\":\n", quoted);
  for (const auto& [name, level] : filters) {
    const Codec* const codec = find_codec(name);
    const bool has_levels = codec != nullptr && codec->most_level > 0;
    text += fmt::format("    {}: {}\n", name, has_levels ? std::to_string(level) : "on");
  }
  // The schema of the model may have others.
  for (const Codec* const codec : all_codecs()) {
    const bool is_chosen =
        std::ranges::find(filters, codec->name, &FilterLevels::value_type::first) != filters.end();
    if (codec->kind != FilterKind::checksum && !is_chosen)
      text += fmt::format("    {}: {}\n", codec->name, codec->most_level > 0 ? "0" : "off");
  }
  return text;
}

Result<FilterChain> chain_of(const FilterLevels& filters) {
  FilterChain chain;
  for (const auto& [name, level] : filters) {
    const Codec* const codec = find_codec(name);
    if (codec == nullptr) return fail(ErrorCode::unknown_name, "there is no codec '{}'", name);
    set_filter(chain, codec->id, filter_of_level(*codec, level));
  }
  return in_order(std::move(chain));
}

std::vector<std::string> compressors_here(bool everywhere) {
  std::vector<std::string> names;
  for (const Codec* const it : codecs_of(FilterKind::compress))
    if (is_here(*it) && (!everywhere || is_part_of_hdf5(*it))) names.emplace_back(it->name);
  return names;
}

std::vector<FilterLevels> chains_to_try(std::span<const std::string> only) {
  static constexpr std::array usual_levels{1};
  struct Candidate {
    bool rearranges;
    std::size_t nth_level;
    FilterLevels filters;
  };
  std::vector<Candidate> candidates;
  for (const Codec* const compressor : codecs_of(FilterKind::compress)) {
    if (!is_here(*compressor) || (!only.empty() && !contains(only, compressor->name))) continue;
    const std::span<const int> levels =
        compressor->trial_levels.empty() ? std::span<const int>(usual_levels) : compressor->trial_levels;
    for (std::size_t n = 0; n < levels.size(); ++n)
      for (FilterLevels& chain : chains_of(*compressor, levels[n]))
        candidates.push_back({compressor->rearranges || chain.size() > 1, n, std::move(chain)});
  }
  // Numbers of a model compress better after a rearrangement, and high levels take long.
  std::ranges::stable_sort(candidates, {},
                           [](const Candidate& it) { return std::tuple(!it.rearranges, it.nth_level); });
  std::vector<FilterLevels> chains{{}};
  for (Candidate& it : candidates) chains.push_back(std::move(it.filters));
  return chains;
}

FilterLevels untried_chain(std::span<const std::string> only) {
  const Codec* best = nullptr;
  for (const Codec* const it : codecs_of(FilterKind::compress))
    if (is_here(*it) && contains(only, it->name) && it->untried > (best == nullptr ? 0 : best->untried))
      best = it;
  if (best == nullptr) return {};
  return chains_of(*best, best->trial_levels.empty() ? 1 : best->trial_levels.front()).front();
}

Result<ChunkTrial> try_chunk(const ChunkCodec& codec, std::span<const std::byte> chunk) {
  if (!codec.active()) return ChunkTrial{0, static_cast<double>(chunk.size())};
  const double begin = thread_seconds();
  AFTERBAY_TRY_ASSIGN(const EncodedChunk encoded, codec.encode(chunk));
  return ChunkTrial{thread_seconds() - begin, static_cast<double>(encoded.bytes.bytes().size())};
}

std::size_t choose(std::span<const Trial> trials, double seconds) {
  std::size_t best = 0;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& it = trials[i];
    const Trial& known = trials[best];
    if (it.seconds > seconds) continue;
    const bool smaller = it.bytes < known.bytes || (it.bytes == known.bytes && it.seconds < known.seconds);
    if (smaller || known.seconds > seconds) best = i;
  }
  return best;
}

std::string table_of(std::vector<Trial> trials, const FilterLevels& chosen, double seconds,
                     double plain_bytes) {
  std::ranges::stable_sort(trials, {}, &Trial::bytes);
  std::string text = fmt::format("#   {:<24} {:>8} {:>22}\n", "filters", "size", "seconds per record");
  for (const Trial& it : trials)
    text += fmt::format("#   {:<24} {:>6.1f} % {:>22.3g}{}\n", text_of(it.filters),
                        100 * it.bytes / plain_bytes, it.seconds,
                        it.filters == chosen   ? "  <- chosen"
                        : it.seconds > seconds ? "  too slow"
                                               : "");
  return text;
}

}  // namespace afterbay::codec
