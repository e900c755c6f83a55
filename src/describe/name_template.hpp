// SPDX-License-Identifier: Apache-2.0
// Templates of the names of output files: "{case}_{period}_{file}_{start}-{end}".
//
// {case} {file} {period} {grid} are known from the description. {start}, {end} (also
// {start:%Y%m%d}), {part}, {part:03} (the number of a file made by `split`, from 1), {member},
// {member:03} follow in the run. {{ and }} are braces.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/format.hpp"

namespace afterbay::describe {

struct NameToken {
  std::string name;
  std::string format;  ///< what follows the colon
};

/// The tokens of a template, in order. Fails with the nearest name, or what is wrong with a format.
Result<std::vector<NameToken>> name_tokens(std::string_view pattern);

/// The same for names of states, in which {case}, {date} (also {date:%Y%m%d}), {step}, {step:06},
/// {member} and {member:03} can be used.
Result<std::vector<NameToken>> state_name_tokens(std::string_view pattern);

/// The template without {start}, {end} and {part}, and without the characters that join them to
/// what stands before: "{file}_{start}-{end}" becomes "{file}".
std::string name_without_parts(std::string_view pattern);

/// What is known of a file without a run.
struct NameValues {
  std::string case_name;
  std::string file;
  std::string period;
  std::string grid;
  Format store = default_format;  ///< says how names end
};

/// The template with what is known, still a template. Files whose results are equal would have the
/// same names.
std::string partial_name(std::string_view pattern, const NameValues& values);

}  // namespace afterbay::describe
