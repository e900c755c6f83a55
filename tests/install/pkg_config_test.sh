#!/usr/bin/env bash
# The MPI compiler wrappers with the flags of the pkg-config files; programs run without
# LD_LIBRARY_PATH.
. "$(dirname "$0")/lib_downstream.sh"
install_and_move
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name afterbay.pc)")
export PKG_CONFIG_PATH
unset LD_LIBRARY_PATH

read -ra flags < <(pkg-config --cflags --libs afterbay)
mpicc -std=c11 "$source_dir/hello.c" -o hello_c "${flags[@]}"
mpicxx -std=c++20 -DOMPI_SKIP_MPICXX "$source_dir/hello.cpp" -o hello_cxx "${flags[@]}"
read -ra flags < <(pkg-config --cflags --libs afterbay-fortran)
mpifort "$source_dir/hello.f90" -o hello_fortran "${flags[@]}"
for program in hello_c hello_cxx hello_fortran; do check_program "./$program"; done
