#!/usr/bin/env bash
# in_scratch.sh DIR COMMAND...: runs COMMAND in the fresh directory DIR, which is kept after a
# failure.
set -u
dir=$1; shift
rm -rf -- "$dir" && mkdir -p -- "$dir" && cd -- "$dir" || exit 1
"$@"
code=$?
if [ $code -eq 124 ] || [ $code -eq 137 ]; then echo "in_scratch.sh: stopped after its time limit: $*" >&2; fi
if [ $code -eq 0 ]; then cd / && rm -rf -- "$dir"; else echo "in_scratch.sh: exit code $code; files are left in $dir" >&2; fi
exit $code
