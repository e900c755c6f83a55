#!/usr/bin/env bash
# A downstream project finds the installed package with find_package: languages alone and together.
. "$(dirname "$0")/lib_downstream.sh"
install_and_move
for languages in C CXX "C;CXX;Fortran"; do
  rm -rf build
  cmake -S "$source_dir" -B build -G Ninja -DDOWNSTREAM_LANGUAGES="$languages" -DCMAKE_PREFIX_PATH="$prefix" \
    >configure.log 2>&1 || { cat configure.log; exit 1; }
  cmake --build build >build.log 2>&1 || { cat build.log; exit 1; }
  case $languages in
    *Fortran) check_program build/hello_fortran ;;
    *) check_program build/hello_* ;;
  esac
done
