// SPDX-License-Identifier: Apache-2.0
// afterbay version: the versions of Afterbay and of the libraries it runs with.
#include "afterbay/version.h"

#include <H5public.h>
#include <fmt/format.h>
#include <mpi.h>
#include <netcdf.h>

#include <array>
#include <cstdio>
#include <memory>

#include "command.hpp"

namespace afterbay::app {

namespace {

/// The first line of MPI's version text; allowed before MPI_Init.
std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "unknown";
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

std::string libraries() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("MPI     {}\nHDF5    {}.{}.{}\nnetCDF  {}\n", mpi_version(), major, minor, release,
                     nc_inq_libvers());
}

Action prepare_version(CLI::App& app) {
  auto all = std::make_shared<bool>(false);
  app.add_flag("--all", *all, "also print the libraries in use");
  return [all](const Invocation&) {
    const std::string text = fmt::format("afterbay {}\n{}", afterbay_version(), *all ? libraries() : "");
    std::fwrite(text.data(), 1, text.size(), stdout);
    return Exit::ok;
  };
}

const Registration version_registration({.name = "version",
                                         .summary = "prints the version",
                                         .prepare = prepare_version});

}  // namespace

}  // namespace afterbay::app
