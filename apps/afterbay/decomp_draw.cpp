// SPDX-License-Identifier: Apache-2.0
// afterbay decomp draw
#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <filesystem>

#include "decomp.hpp"
#include "decomp/drawing.hpp"
#include "decomp/part_file.hpp"

namespace afterbay::app {

namespace {

struct DrawOptions {
  MapChoice choice;
  std::string output;
  std::optional<std::uint64_t> level;
  bool overwrite = false;
};

Result<> draw(const DrawOptions& options) {
  std::string ending = std::filesystem::path(options.output).extension().string();
  for (char& letter : ending) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (ending != ".png")
    return fail(ErrorCode::invalid_argument, "the picture is a PNG: \"{}\" must end in .png", options.output);
  AFTERBAY_TRY(check_outputs({options.output}, options.overwrite));
  AFTERBAY_TRY(decomp::check_place(options.output));
  return for_each_chosen(options.choice, [&](const decomp::Decomposition& map) -> Result<> {
    AFTERBAY_TRY_ASSIGN(const decomp::Picture picture, decomp::draw(map, options.level));
    AFTERBAY_TRY(decomp::write_png(options.output, picture));
    fmt::print("{} ({} x {} pixels): {}\n", options.output, picture.width, picture.height, summary_of(map));
    return {};
  });
}

}  // namespace

DecompAction prepare_decomp_draw(CLI::App& app) {
  auto options = std::make_shared<DrawOptions>();
  options->choice.only_first = true;
  add_map_option(app, options->choice, "the first");
  app.add_option("PNG", options->output, "the picture to write")->required();
  app.add_option(
         "--level", options->level,
         "draw this index (from 0) of the leading dimensions taken as one; with two dimensions, of the "
         "shorter one")
      ->check(not_negative());
  add_overwrite_option(app, options->overwrite);
  app.footer(
      "One colour per rank, grey for points that no rank holds. A map with one dimension is wrapped row\n"
      "by row into roughly a square. If several ranks hold a point, the highest rank is drawn. Large maps\n"
      "are subsampled.");
  return [options] { return draw(*options); };
}

}  // namespace afterbay::app
