// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "storage/fieldsfile/definition.hpp"

namespace afterbay::storage::fieldsfile {
namespace {

/// Items of a section, the first and the last one.
struct Items {
  std::int32_t model;
  std::int32_t section;
  std::int32_t first;
  std::int32_t last;
};

/// Codes whose grid is that of u, of v, or of both (grid codes 11, 18, 19, 27, 28). Source:
/// STASHmaster of the Unified Model as iris 3.14.1 has it; items without an entry there are in any
/// range.
constexpr Items wind_items[] = {
    {1, 0, 2, 3},      {1, 0, 28, 29},    {1, 0, 154, 154},  {1, 0, 176, 177},  {1, 0, 202, 203},
    {1, 0, 256, 257},  {1, 3, 2, 3},      {1, 3, 185, 186},  {1, 3, 206, 206},  {1, 3, 209, 210},
    {1, 3, 219, 221},  {1, 3, 225, 227},  {1, 3, 249, 249},  {1, 3, 391, 394},  {1, 3, 460, 461},
    {1, 3, 474, 475},  {1, 5, 185, 186},  {1, 5, 235, 236},  {1, 6, 2, 115},    {1, 6, 185, 202},
    {1, 6, 207, 213},  {1, 6, 223, 232},  {1, 6, 235, 236},  {1, 6, 241, 247},  {1, 7, 2, 202},
    {1, 10, 2, 3},     {1, 10, 185, 186}, {1, 10, 201, 202}, {1, 10, 207, 228}, {1, 12, 2, 3},
    {1, 12, 185, 186}, {1, 12, 201, 202}, {1, 13, 2, 3},     {1, 13, 185, 186}, {1, 13, 385, 386},
    {1, 13, 485, 486}, {1, 15, 2, 3},     {1, 15, 143, 144}, {1, 15, 201, 217}, {1, 15, 219, 229},
    {1, 15, 231, 231}, {1, 15, 235, 241}, {1, 15, 243, 246}, {1, 18, 2, 3},     {1, 18, 203, 203},
    {1, 18, 213, 213}, {1, 18, 223, 223}, {1, 18, 241, 252}, {1, 20, 20, 21},   {1, 20, 41, 60},
    {1, 20, 70, 71},   {1, 21, 2, 3},     {1, 21, 201, 209}, {1, 22, 2, 3},     {1, 22, 201, 209},
    {1, 23, 2, 3},     {1, 23, 201, 209}, {1, 24, 2, 3},     {1, 24, 201, 209}, {1, 30, 175, 176},
    {1, 30, 185, 186}, {1, 30, 201, 303}, {1, 30, 410, 410}, {1, 30, 418, 418}, {1, 30, 440, 441},
    {1, 31, 2, 3},     {1, 31, 11, 12},   {1, 31, 257, 258}, {1, 31, 266, 267}, {1, 32, 2, 3},
    {1, 32, 11, 12},   {1, 35, 1, 8},     {1, 35, 26, 27},   {1, 39, 6, 15},    {3, 0, 211, 212},
    {3, 0, 292, 293},  {3, 21, 226, 227}, {3, 22, 226, 227}, {3, 23, 226, 227}, {3, 24, 226, 227},
    {3, 40, 232, 235}};

}  // namespace

bool is_on_wind_points(const packing::PpStash& stash) noexcept {
  return std::ranges::any_of(wind_items, [&](const Items& it) {
    return it.model == stash.model && it.section == stash.section && it.first <= stash.item &&
           stash.item <= it.last;
  });
}

}  // namespace afterbay::storage::fieldsfile
