// SPDX-License-Identifier: Apache-2.0
// The contents of a test's output file, as read by netCDF-C.
#pragma once

#include <gtest/gtest.h>
#include <netcdf.h>

#include <filesystem>
#include <string>
#include <type_traits>
#include <vector>

namespace afterbay::test {

/// All values of a variable, in C order, as T (float, double, int or std::string).
template <class T>
std::vector<T> read(const std::filesystem::path& file, const char* variable) {
  int id = 0, var = 0, dims = 0, dim_ids[NC_MAX_VAR_DIMS];
  const int opened = nc_open(file.c_str(), NC_NOWRITE, &id);
  EXPECT_EQ(opened, NC_NOERR) << file << ": " << nc_strerror(opened);
  if (opened != NC_NOERR) return {};
  EXPECT_EQ(nc_inq_varid(id, variable, &var), NC_NOERR) << variable;
  nc_inq_var(id, var, nullptr, nullptr, &dims, dim_ids, nullptr);
  std::size_t count = 1;
  for (int d = 0; d < dims; ++d) {
    std::size_t length = 0;
    nc_inq_dimlen(id, dim_ids[d], &length);
    count *= length;
  }
  std::vector<T> values(count);
  int got = NC_EBADTYPE;
  if constexpr (std::is_same_v<T, float>) got = nc_get_var_float(id, var, values.data());
  if constexpr (std::is_same_v<T, double>) got = nc_get_var_double(id, var, values.data());
  if constexpr (std::is_same_v<T, int>) got = nc_get_var_int(id, var, values.data());
  if constexpr (std::is_same_v<T, std::string>) {
    std::vector<char*> texts(count);
    got = nc_get_var_string(id, var, texts.data());
    for (std::size_t i = 0; i < count && got == NC_NOERR; ++i)
      values[i] = texts[i] == nullptr ? "" : texts[i];
    if (got == NC_NOERR) nc_free_string(count, texts.data());
  }
  EXPECT_EQ(got, NC_NOERR) << variable << " of " << file;
  nc_close(id);
  return values;
}

}  // namespace afterbay::test
