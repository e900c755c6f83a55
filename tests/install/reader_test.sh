#!/usr/bin/env bash
# The installed command and library find the installed afterbay-reader, from a tree that was moved.
. "$(dirname "$0")/lib_downstream.sh"
install_and_move
printf 'netcdf f { dimensions: x = 3 ; variables: int v(x) ; data: v = 1, 2, 3 ; }' >f.cdl
ncgen -k nc4 -o f.nc f.cdl
"$prefix/bin/afterbay" compare f.nc f.nc
mv "$prefix/libexec/afterbay/afterbay-reader" .
if "$prefix/bin/afterbay" compare f.nc f.nc 2>errors; then
  echo "a reader of another tree was used" >&2
  exit 1
fi
grep -q 'libexec/afterbay/afterbay-reader' errors
AFTERBAY_READER=$PWD/afterbay-reader "$prefix/bin/afterbay" compare f.nc f.nc
