#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the examples in comments of the interfaces, between @code and @endcode: of the C and C++
headers and the Fortran modules. An example is the middle of a program; its beginning and end are in
FRAMES. Nothing is linked or run: docs.snippets does that with the programs of the pages."""
import os
import pathlib
import re
import subprocess
import sys

BUILD = pathlib.Path(os.environ["AFTERBAY_BUILD"])
SOURCE = pathlib.Path(os.environ["AFTERBAY_SOURCE"])
CODE = re.compile(r"^[^\n]*@code *\n(.*?)^[^\n]*@endcode", re.S | re.M)
#: what precedes a line of an example in its comment
MARK = {".h": r" {0,3}", ".hpp": r" *///? ?", ".f90": r" *!> ?", ".F90": r" *!> ?"}
INCLUDES = [f"-I{SOURCE}/include", f"-I{BUILD}/include"]
MODULES = BUILD / "include/afterbay/fortran"

CPP = """
#include <cstdint>
#include <vector>

#include "afterbay/afterbay.hpp"
#include "afterbay/output.hpp"

using namespace afterbay;
void compute();
"""

FORTRAN = """
program example
  use mpi
  use afterbay
  implicit none
"""

FRAMES = {
    "afterbay.h": ("""
#include "afterbay/mpi.h"

void example(const afterbay_options* options, const afterbay_schema* schema, const uint64_t* global,
             const uint64_t* start, const uint64_t* count, const double* temperature, int64_t steps) {
  const afterbay_collection_options where = {.file = "hist_{step:04}.nc"};
  afterbay_file_name name = {.has_step = 1};
  const uint64_t record = 0;
  afterbay_collection* history;
  afterbay_file* file;
""", "}\n"),
    "calendar.h": ("""
#include "afterbay/afterbay.h"

void example(void) {
  afterbay_date start, date;
  afterbay_period month;
  double number;
""", "}\n"),
    "output.h": ("""
#include "afterbay/mpi.h"

void compute(void);
void example(afterbay_options* options, afterbay_calendar* noleap, afterbay_date start_date, afterbay_period step,
             const uint64_t* global, const uint64_t* start, const uint64_t* count, const double* temperature,
             afterbay_values latitudes, afterbay_values longitudes, afterbay_coordinate_options degrees_north,
             afterbay_coordinate_options degrees_east, int64_t steps) {
  afterbay_session* session;
  afterbay_output* output;
""", "}\n"),
    "session.hpp": (CPP + """
int example(const SessionOptions& options, const Schema& schema, const std::vector<std::uint64_t>& global,
            const std::vector<std::uint64_t>& start, const std::vector<std::uint64_t>& count,
            const std::vector<double>& temperature, std::uint64_t record, std::int64_t steps) {
""", "return 0;\n}\n"),
    "endpoint_pool.hpp": (CPP + """
void example(const std::vector<Endpoint>& endpoints, const OutputFile& file, std::uint64_t record,
             const std::vector<double>& temperature) {
""", "}\n"),
    "input.hpp": (CPP + """
void example(Session& session, std::vector<double>& temperature) {
""", "}\n"),
    "output.hpp": (CPP + """
int example(const std::vector<std::uint64_t>& global, const std::vector<std::uint64_t>& start,
            const std::vector<std::uint64_t>& count, const std::vector<double>& latitudes,
            const std::vector<double>& longitudes, const std::vector<float>& tas, std::int64_t steps) {
""", "return 0;\n}\n"),
    "afterbay.f90": (FORTRAN + """
  type(afterbay_options) :: options
  type(afterbay_schema) :: schema
  type(afterbay_collection) :: fields
  type(afterbay_file) :: file
  type(afterbay_input) :: restart
  integer, parameter :: nx = 8, ny = 6, i0 = 1, j0 = 1, ni = 4, nj = 3, ncells = 48, step = 1, n = 1
  integer :: ids(ncells)
  double precision :: h(ni, nj)
""", "end program\n"),
    "afterbay_outputs.f90": (FORTRAN + """
  type(afterbay_options) :: options
  type(afterbay_session) :: session
  type(afterbay_output) :: output
  integer, parameter :: nlon = 8, nlat = 6, i0 = 1, j0 = 1, ni = 4, nj = 3, steps = 2
  double precision :: longitudes(nlon), latitudes(nlat), tas(ni, nj)
  integer :: n
""", """
contains
  subroutine compute()
  end subroutine
end program
"""),
}


def examples():
    """(file, text) of each example."""
    folders = [(SOURCE / "include/afterbay", ("*.h", "*.hpp")), (SOURCE / "bindings/fortran", ("*.f90", "*.F90"))]
    for path in sorted(path for folder, patterns in folders for pattern in patterns for path in folder.glob(pattern)):
        mark = re.compile(MARK[path.suffix])
        for block in CODE.findall(path.read_text()):
            yield path, "".join(mark.sub("", line, count=1) + "\n" for line in block.splitlines())


def compiler_of(suffix):
    """The command that checks a program; None: this build has no such interface."""
    if suffix == ".hpp":
        return ["mpicxx", "-std=c++20", "-DOMPI_SKIP_MPICXX", "-x", "c++", *INCLUDES]
    if suffix == ".h":
        return ["mpicc", "-std=c99", "-x", "c", *INCLUDES]
    return ["mpif90", f"-I{MODULES}"] if (MODULES / "afterbay.mod").exists() else None


def main():
    found = 0
    for path, text in examples():
        assert path.name in FRAMES, f"{path.name} has an example between @code and @endcode: give it a frame in FRAMES"
        compiler = compiler_of(path.suffix)
        if compiler is None:
            continue
        before, after = FRAMES[path.name]
        program = pathlib.Path(f"{found}_{path.name}")
        program.write_text(before + text + after)
        done = subprocess.run([*compiler, "-fsyntax-only", program], capture_output=True, text=True, timeout=120, check=False)
        if done.returncode != 0:
            sys.exit(f"the example of {path.name} does not compile:\n{done.stdout}\n{done.stderr}")
        found += 1
    assert found >= 7, f"only {found} examples"


main()
