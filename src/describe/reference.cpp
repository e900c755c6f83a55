// SPDX-License-Identifier: Apache-2.0
// The reference page docs/reference/description.md.
#include "base/wrapped.hpp"
#include "describe/key_page.hpp"
#include "describe/print.hpp"

namespace afterbay::describe {

namespace {

constexpr std::size_t page_columns = 100;

constexpr std::string_view introduction = R"(# Output descriptions

<!-- Made by `afterbay describe --markdown` from the table of keys; a test compares the two. -->

An [output description](../glossary.md#output-description) says in YAML which output files there
are: how often, of which fields, with which operation, over which points, and under which names. It
is edited without compiling the model.
A model offers its fields and names the description in the setting
[`output`](configuration.md#output): see [how to describe output](../how-to/describe-output.md), and
[how it works](../explanation/described-output.md). Not available in this version: interpolation.

```yaml
case: "${CASE:-control}"
defaults: {name: "{case}_{period}_{file}_{start}-{end}", split: 1mo, type: float32}
groups:
  surface: [tas, psl, pr]
fields:                                  # derived ones; fields of the model need no entry
  ws: sqrt(uas^2 + vas^2)
  thetao: mean(toce*e3t) / mean(e3t)     # inner reductions are explicit
  tasmax: mean(max(tas, 1d))
  snc: {units: "%", detail: 2}           # a field of the model with properties
grids:
  med: {box: {lon: [-6, 36], lat: [30, 46]}}
files:
  day: {every: 1d, mean: [group(surface), toce: tos], max: [tas: tasmax]}
  mon: {every: 1mo, split: 1y, mean: [tas, ws, snc], write: [thetao, tasmax]}
  snap: {every: 6h, instant: [tas, psl], at_start: true, grid: med}
  fx: {name: "{case}_{file}", once: [orog, area]}
```

`afterbay describe FILE` checks a description and prints every file with all its properties, as YAML
(`--json`: as JSON) that reads back to the same description. `--step` and `--calendar` say what it
cannot know of the model. `afterbay describe --schema` prints a JSON Schema with which editors check
and complete keys.

## How it is read

**YAML.** Scalars are resolved by the core schema of YAML 1.2. Only `true`, `True`, `TRUE`,
`false`, `False` and `FALSE` are booleans: `NO`, `on` and `yes` are text, so that `NO` can be the
name of a field. Integers are decimal, octal (`0o17`) or hexadecimal (`0x1f`); numbers may be `.inf`
and `.nan`; `~`, `null` and nothing are null. Scalars in quotes are always text. Keys that occur
twice are refused. Anchors, aliases and merge keys are refused: `defaults`, `like` and `groups`
repeat settings, with exact places in messages. Tags other than `!!str` are refused. A file has at
most 4 MiB and 500 000 values, nested at most 50 deep.

**Several files.** `include: [fields.yaml, ../menu.yaml]` reads further files, relative to the
including one. The sections of all files are joined. A name that is defined twice in a section is
refused, with both places. A file that several others include is read once; files that include each
other are refused. A description has at most 256 files and 16 MiB.

**Variables.** `${NAME}` in a value is replaced by the environment variable. `${NAME:-fallback}`
uses the fallback if the variable is unset or empty. For `afterbay describe`, `--set NAME=VALUE`
gives a value, too; runs have no such option. A plain scalar is resolved after the replacement, so
that `detail: ${LEVEL}` is a number; in quotes it remains text. A value is not searched for
variables again. `$${` stands for `${`. Names of keys have no variables.

**Lists of fields.** An entry is the name of a field, `field: name` (the name of the variable in the
file), `field: {name: ..., type: ...}` with keys of variables, or `group(NAME)`. A list with one
entry needs no brackets: `mean: tas`. An entry outside of groups replaces the same field from a
group; equal entries of groups count once, and a field may be in groups several times under
different names; `without: [tas]` leaves out fields. A field may occur in any number of files. If it
occurs with several operations in one file and has no names there, the first operation in the order
of this page gets the name of the field, and the others `tas_max`, `tas_min`. Two variables with one
name in a file are refused.

**Inheritance.** A file has the keys of `defaults`, over them those of the file that it is `like`,
over them its own. A key replaces the inherited one, lists of fields too, except `attributes`, which
are joined name by name. A key without a value (`split: ~`) restores the built-in default. `like`
does not take over `enabled`, so that a file with `enabled: false` can serve as a pattern. Fields
inherit in the same way, except `expression`. Of a variable in a file, the keys of its entry come
first, then those of the field under `fields`, then those of the file.

**Menus.** `enabled: false` switches off a file, a field, or a variable of a file. With
`max_detail: 2`, usually under `defaults`, files and variables whose `detail` is 3 or more are not
written. Entries that are switched off are read and checked as well.

**Periods** are numbers with units, as `30min`, `6h`, `1d`, `1mo`, `1y`; `1ts` is one step of the
model. See [calendars](calendars.md).

All problems of a description are reported together, each with its file, line and column.

## Semantics

Output systems differ in these points. The column *option* shows the keys that change the default.

| point | default | option |
|---|---|---|
| time of a value | the end of the step in which it is put | |
| where periods begin | with the hours, days, months and years of the calendar, whatever the start of the run; multiples of `ts` at the start of the run. Other periods, such as `5d`, are counted through all years without a new start: the preview and the log say so if the run begins within one | `align: start`, `seasons`, or a date |
| periods of one length in several spellings (`1d`, `24h`) | are the same period | |
| what belongs to a period | the steps that end after its beginning, up to and including its end | `sample` chooses the values that enter statistics |
| first and last periods that the run covers in part | written, with the bounds actually covered; a period without values has no record, unless the file has instants of its end | `partial: skip` |
| a run in several jobs | continues its periods and files from a [saved state](../how-to/describe-output.md#restarts), as if it had been one job | |
| time of a record | statistics: centre of the period, with bounds; instants: their time, with equal bounds | `stamp: start` or `end`, `bounds: false` |
| folded periods (`cycle`) | a record per part of the cycle, with `climatology_bounds`, which say what the run covers of the part; its time lies in the first whole cycle, or, if there is none, in the first one. A period that the run covers in part has records of all parts, missing where there was no value | |
| statistics and instants in one file | the time axis is that of the statistics; instants have the coordinate `time_instant` | two files |
| instants | the value at the end of the period; none at the end of a run within a period | |
| instants before the first step | not written | `at_start: true`, in files of instants only |
| reductions inside expressions | explicit, `mean(max(tas, 1d))`; `sample` never means a reduction | |
| missing values in statistics over time | ignored per point; the result is missing if all values are. Fields without a fill value have none | `missing: poison`, or the least share of valid values |
| fill value | that of the field; netCDF's default for derived fields, and for computed results (statistics other than `min` and `max`, other units) that could equal the field's: all of integers, and of real numbers if it is closer to 0 than 1e15 | |
| weights of means over time | none: all samples count the same. Means of statistics over a period of their own, `mean(max(tas, 1mo))`, too | |
| weights of means over space | none: weights are written in the expression | |
| accumulation (`sum`, `rate`) | starts from 0 in every period | |
| `difference` | to the last value of the period before; in the first period to the first value | |
| units | those of the field, of `rate` per second; derived fields have those that `fields` gives them, or none | `units` of a variable, or of a field of the model under `fields`, converts |
| types | those of the fields. Of integer fields: `mean`, `stddev` and `rate`, and what units or `multiply` and `add` convert, are float64 (float32 for 8 and 16 bits); `sum` of up to 32 bits is int64, or float64 in formats without it (`cdf2`, messages); `range` and `difference` of 8 and 16 bits are int32. Values that the model packs keep their type | `type: own`, or a type |
| a record whose time is the boundary of two files | belongs to the file that ends there | |
| `{end}` in names | the last unit that the file covers; needs `split` by a period | `end_date: exclusive` |
| form of dates in names | as coarse as the split: `2000-03` for months; with times as `2000-03-01T060000` | `{start:%Y%m%d}` |
| files without `split` | one per run | `split: 1mo`, `split: 12 records` |
| fields of kind `once` | written when they are put first; each file that `split` makes gets them | |
| files of which all fields are of kind `once` | one per run: `split` and periods, which they may have from `defaults`, have no effect, and in a name from `defaults`, `{start}`, `{end}` and `{part}` are left out | `name` |
| boxes by coordinates of several dimensions (curvilinear grids) | the smallest index box with all points inside; other points of the index box keep their values. If the first and the last columns (or rows) of the grid are neighbours, the box may wrap around | `outside: missing`; two grids; `index` |
| boxes by coordinates of unstructured grids | exactly the points inside, in the order of the grid | |
| bounds of boxes in longitude and latitude | in degrees, included, within the precision of the coordinate: 1e-9, of `float32` 2e-5 | |
| points without a longitude or latitude (not finite, or beyond 720 and 90 degrees) | in no box and at no station | |
| stations | the nearest point by great-circle distance in millimetres; of equally near ones, the first in the order of the grid, whether or not its values are missing | `mask`, `max_distance` |
| files with stations only | CF time series, or with levels time series of profiles (`featureType`), with the dimensions time, level, station | other variables in the file |
| selections along an axis that a field does not have | leave the field as it is; refused if no field of the file has the axis | `grid: own` |
| order of points in subsets | that of the field; a box across the meridian at which longitudes begin keeps this order, too | `reverse` |
| dimensions that variables of a file cut differently | the cut ones get the name of the grid: `lat_europe` | |
| `cell_methods` | name the operation, and the interval between the values if `sample` is given | `intervals: always`, `cell_methods: false` |
| lengths of months and years | those of the model's calendar | |
| `on`, `no`, `NO` in YAML | text | |

)";

std::string line_of(std::string_view label, std::string_view value) {
  return value.empty() ? std::string()
                       : wrapped(fmt::format("- {}: {}", label, value), page_columns, "", "  ");
}

}  // namespace

std::string section_of_key(std::string_view name, std::string_view accepted, std::string_view fallback,
                           std::string_view documentation) {
  return fmt::format("### `{}`\n\n", name) + line_of("Accepted", accepted) + line_of("Default", fallback) +
         "\n" + wrapped(documentation, page_columns, "", "") + "\n";
}

std::string heading(std::string_view title, std::string_view text) {
  return fmt::format("## {}\n\n{}\n", title, wrapped(text, page_columns, "", ""));
}

std::string reference_page() {
  std::string page(introduction);
  page += "## Keys at the top\n\n";
  for (const TopKey& key : top_keys()) page += section_of_key(key.name, key.accepted, "", key.documentation);
  page +=
      section_of_table("Files",
                       "Keys of an entry of `files`. All but `like`, `without` and the operations (`mean` to "
                       "`write`) may also stand under `defaults`. The last ones are the settings of "
                       "[collections](configuration.md#collections-and-their-variables).",
                       file_keys(), "files.NAME.");
  page +=
      section_of_table("Variables of files", "Keys of an entry of a list of fields, `field: {key: value}`.",
                       variable_keys(), "FIELD.");
  page +=
      section_of_table("Fields",
                       "Keys of an entry of `fields`; `name: expression` is short for `name: {expression: "
                       "...}`. They hold for the field in all files.",
                       field_keys(), "fields.NAME.");
  page += section_of_table("Grids", "Keys of an entry of `grids`, which may be combined.", grid_keys(),
                           "grids.NAME.");
  page.pop_back();  // one newline at the end of the file
  return page;
}

}  // namespace afterbay::describe
