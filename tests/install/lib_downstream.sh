# Sourced by the tests in this folder: installs the build into ./moved (moved once, so that nothing
# can depend on the location), and runs a program under mpirun to compare the file that it wrote.
set -euo pipefail

source_dir=$AFTERBAY_SOURCE/tests/install/downstream
prefix=$PWD/moved

install_and_move() {
  cmake --install "$AFTERBAY_BUILD" --prefix "$PWD/installed" >install.log || { cat install.log; exit 1; }
  mv installed "$prefix"
}

# check_program PROGRAM: 2 model ranks and 1 server; the file is read by ncdump.
check_program() {
  local program
  program=$(readlink -f "$1")
  rm -rf run && mkdir run
  (cd run && timeout -k 5 60 mpirun --oversubscribe -np 3 "$program") || { echo "$1 failed" >&2; exit 1; }
  ncdump run/hello.nc >run/hello.cdl
  diff - <(sed -n '/^data:/,$p' run/hello.cdl) <<'CDL' || { echo "$1 wrote a wrong file" >&2; cat run/hello.cdl; exit 1; }
data:

 signal =
  0, 1, 2, 3, 4, 5, 6, 7,
  10, 11, 12, 13, 14, 15, 16, 17 ;
}
CDL
  echo "$1: the file is right"
}
