#!/usr/bin/env bash
# tools/fuzz.sh COMMAND [MUTANTS [SEED]]: runs a command on damaged copies of real files, as the
# tests do on a few hundred.
#
# AFTERBAY_TEST_FUZZ_BUILD   the build that reads them (build/asan-ubsan)
# AFTERBAY_BUILD             the build whose command makes the originals (build/dev)
#
# Works in the fresh directory build/fuzz/COMMAND, which remains, with the mutant, if the command
# does not survive one.
set -euo pipefail
cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.."
root=$PWD
commands="compare decomp recover replay status top"
command=${1:-} mutants=${2:-100000} seed=${3:-1}
case " $commands " in
  *" ${command:-none} "*) ;;
  *)
    echo "tools/fuzz.sh: the command to fuzz is '$command', it must be one of: $commands" >&2
    exit 2
    ;;
esac
export AFTERBAY_BUILD=${AFTERBAY_BUILD:-$root/build/dev}
build=${AFTERBAY_TEST_FUZZ_BUILD:-$root/build/asan-ubsan}
python=${AFTERBAY_PYTHON:-$root/build/venv/bin/python}
scratch=${AFTERBAY_TEST_FUZZ_SCRATCH:-$root/build/fuzz}/$command
rm -rf -- "$scratch" && mkdir -p -- "$scratch" && cd -- "$scratch"

# As in tests/cmake/Tests.cmake.
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1:intercept_tls_get_addr=0
export LSAN_OPTIONS=suppressions=$root/tests/sanitizers/lsan.supp:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
if [ "$command" = recover ]; then # of both formats, half of the mutants each
  AFTERBAY_TEST_MUTANTS=$(((mutants + 1) / 2)) AFTERBAY_TEST_SEED=$seed "$build/tests/conformance_tests" \
    --gtest_filter='Recover.damaged_files_and_logs_end_nothing/*'
else
  AFTERBAY_TEST_MUTANTS=$mutants AFTERBAY_TEST_SEED=$seed AFTERBAY_TEST_FUZZ=$build/tests/fuzz/fuzz_commands \
    "$python" "$root/tests/cli/fuzz_test.py" -k "test_${command}_survives"
fi
cd "$root" && rm -rf -- "$scratch"
echo "tools/fuzz.sh: $command survived $mutants mutants"
