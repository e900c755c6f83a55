# Sourced by ./dev: one function for each command.

presets="dev release asan-ubsan tsan clang"

dev_build() {
  local preset=${1:-dev}
  case " $presets " in
    *" $preset "*) ;;
    *)
      echo "./dev build: there is no preset '$preset'; did you mean '$(nearest "$preset" $presets)'? There are: $presets" >&2
      exit 2
      ;;
  esac
  case $preset in
    clang) need_packages "${build_packages[@]}" "${lint_packages[@]}" ;;
    release) need_packages "${build_packages[@]}" "${user_packages[@]}" ;;
    *)
      need_packages "${build_packages[@]}" "${test_packages[@]}"
      need_python
      ;;
  esac
  build_preset "$preset"
  say "built: build/$preset"
}

dev_demo() {
  # The demo builds the preset that the tests use, so that the test packages are needed to configure
  # it.
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  need_python
  build_preset dev shallow_water
  mpi_environment
  AFTERBAY_BUILD=$root/build/dev exec bash tools/demo.sh "$@"
}

dev_test() {
  local browser=()
  if is_debian; then browser=("${browser_packages[@]}"); fi
  need_packages "${build_packages[@]}" "${test_packages[@]}" "${reader_packages[@]}" "${browser[@]}"
  need_python
  need_venv checkers tools/checkers.txt "a test"
  export TEST_CHECKERS=$root/build/checkers/bin
  mpi_environment
  # A test that mostly waits takes a part of a core; and those that run together use two thirds of
  # what they take at most.
  local slots=4 parallel
  parallel=$((slots * $(nproc) * 3 / 2))
  configure_options+=("-DAFTERBAY_TEST_SLOTS=$slots")
  if [ $# -gt 0 ]; then
    build_preset dev
    exec ctest --test-dir "$root/build/dev" --output-on-failure --no-tests=error -j $parallel "$@"
  fi
  build_preset dev
  # The tests of a preset leave a third of the cores idle, which build the next ones.
  local built preset builder failed=()
  exec {built}< <(build_sanitizers)
  builder=$!
  for preset in dev asan-ubsan tsan; do
    if [ $preset != dev ]; then
      say "waiting until $preset is built"
      if ! read -r -u "$built" _; then
        failed+=("$preset (not built, see above)")
        break
      fi
    fi
    say "running the tests of $preset, $SECONDS s after the start"
    $(tsan_wrapper) ctest --test-dir "$root/build/$preset" --output-on-failure --no-tests=error -j $parallel ||
      failed+=("$preset")
  done
  wait "$builder" || true
  say "the tests have ended, $SECONDS s after the start"
  for preset in "${failed[@]}"; do
    say "failed: $preset"
    failed_tests "$root/build/$preset/Testing/Temporary"
  done
  [ ${#failed[@]} -eq 0 ] || fail "tests failed: ${failed[*]}"
}

# failed_tests FOLDER: the tests that failed, by the logs of CTest there, and the end of what each
# printed.
failed_tests() {
  local name
  { sed 's/^[0-9]*://' "$1/LastTestsFailed.log" 2>/dev/null || true; } | while read -r name; do
    printf '    %s\n' "$name"
    NAME=$name awk '
      $0 ~ /^[0-9]+\/[0-9]+ Test: / { mine = substr($0, index($0, ": ") + 2) == ENVIRON["NAME"]; printing = 0 }
      /^<end of output>$/ { printing = 0 }
      mine && printing { print }
      mine && /^Output:$/ { getline; printing = 1 }' "$1/LastTest.log" | tail -n 25 | cut -c 1-400 | sed 's/^/        /'
  done
}

# Builds the sanitizers' presets while other things run, and prints the name of each when it is
# there.
build_sanitizers() {
  chrt --idle --pid 0 "$BASHPID" >&2 || renice -n 19 "$BASHPID" >&2 || true
  build_preset asan-ubsan unit_tests conformance_tests rank_tests fuzz_parsers >&2
  echo asan-ubsan
  build_preset tsan unit_tests rank_tests >&2
  echo tsan
}

dev_fuzz() {
  local parser=${1:-}
  if [ -n "$parser" ] && [ -d "tests/fuzz/corpus/$parser" ]; then fuzz_parser "$parser" "${2:-600}"; return; fi
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  need_python
  build_preset dev apps/all
  build_preset asan-ubsan conformance_tests fuzz_commands
  mpi_environment
  AFTERBAY_BUILD=$root/build/dev exec bash tools/fuzz.sh "$@"
}

# fuzz_parser PARSER SECONDS: looks for inputs that reach new code, from the corpus and from what
# earlier calls found, which stays in build/fuzz/PARSER, as does an input on which the parser fails.
fuzz_parser() {
  need_packages "${build_packages[@]}" "${test_packages[@]}" "${fuzz_packages[@]}"
  need_python
  build_preset libfuzzer "libfuzzer_$1"
  local found=$root/build/fuzz/$1
  mkdir -p "$found/inputs"
  (cd "$found" && "$root/build/libfuzzer/tests/fuzz/libfuzzer_$1" -max_total_time="$2" -timeout=20 -rss_limit_mb=2048 \
    -print_final_stats=1 inputs "$root/tests/fuzz/corpus/$1")
}

# gcc 12's thread sanitizer does not support more than 28 random bits in addresses.
tsan_wrapper() {
  local bits
  bits=$(cat /proc/sys/vm/mmap_rnd_bits 2>/dev/null || echo 28)
  if [ "$bits" -gt 28 ] && setarch "$(uname -m)" -R true 2>/dev/null; then echo "setarch $(uname -m) -R"; fi
}

dev_bench() {
  local arguments=() other=
  while [ $# -gt 0 ]; do
    case $1 in
      --against) [ $# -gt 1 ] || fail "--against needs a commit"; other=$2; shift 2 ;;
      --against=*) other=${1#*=}; shift ;;
      *) arguments+=("$1"); shift ;;
    esac
  done
  if [ -n "$other" ]; then commit_of "$other" >/dev/null; fi
  need_packages "${build_packages[@]}" "${bench_packages[@]}"
  need_python
  configure_options+=(-DAFTERBAY_BUILD_BENCH=ON)
  build_preset release
  if [ -n "$other" ]; then build_against "$other" && arguments+=(--against "$against_dir"); fi
  mpi_environment
  AFTERBAY_BUILD=$root/build/release exec bench/run "${arguments[@]}"
}

commit_of() {
  git rev-parse --quiet --verify "$1^{commit}" || fail "--against $1: there is no such commit"
}

# Builds the library of another commit with the benchmark programs of this tree, so that both
# versions run the same programs; if these do not compile there, with that commit's own programs.
# Sets `against_dir`.
build_against() {
  local commit
  commit=$(commit_of "$1") || exit
  local tree=$root/build/against/${commit:0:12}
  if [ ! -e "$tree/.git" ]; then
    rm -rf "$tree"
    git worktree prune
    git worktree add --quiet --detach "$tree" "$commit" || fail "--against $1: cannot check it out into $tree"
  fi
  against_dir=$tree/build/release
  rm -rf "$tree/bench" && cp -r "$root/bench" "$tree/bench"
  (root=$tree && cd "$tree" && build_preset release) && return
  say "this tree's benchmark programs do not compile with ${commit:0:12}: taking those of that commit"
  git -C "$tree" checkout --quiet -- bench
  (root=$tree && cd "$tree" && build_preset release) || fail "--against $1: it cannot be built"
}

cxx_sources() {
  git ls-files --cached --others --exclude-standard '*.hpp' '*.cpp' '*.h' '*.c' | while read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
}

# The files that codespell checks; its settings are in .codespellrc.
text_files() {
  git ls-files --cached --others --exclude-standard | while read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
}

dev_format() {
  need_packages "${python_packages[@]}"
  need_python
  cxx_sources | xargs -r build/venv/bin/clang-format -i
  say "formatted $(cxx_sources | wc -l) files"
}

dev_lint() {
  need_packages "${build_packages[@]}" "${lint_packages[@]}"
  need_python
  local failed=()
  say "format (clang-format)"
  cxx_sources | xargs -r build/venv/bin/clang-format --dry-run -Werror || failed+=("format: run ./dev format")
  say "layers"
  build/venv/bin/python tools/check_layers.py || failed+=("layers")
  say "sizes of files"
  build/venv/bin/python tools/check_sizes.py || failed+=("sizes")
  say "packages of the commands that scripts run"
  build/venv/bin/python tools/check_commands.py || failed+=("commands")
  say "prose of pages and comments, errors of C functions, links, spelling (codespell)"
  build/venv/bin/python tools/check_prose.py || failed+=("prose")
  build/venv/bin/python tools/check_contracts.py || failed+=("contracts")
  build/venv/bin/python tools/check_links.py || failed+=("links")
  build/venv/bin/python tools/check_pins.py || failed+=("pins")
  text_files | xargs -r build/venv/bin/codespell || failed+=("spelling")
  say "clang's warnings and thread-safety analysis"
  (build_preset clang) || failed+=("clang")
  say "state of the ingest thread (what clang refuses)"
  AFTERBAY_SOURCE=$root AFTERBAY_BUILD=$root/build/clang build/venv/bin/python tests/cli/thread_roles_test.py ||
    failed+=("thread roles")
  lint_changed || failed+=("clang-tidy")
  if [ ${#failed[@]} -gt 0 ]; then fail "lint: ${failed[*]}"; fi
  say "lint: nothing found"
}

# clang-tidy on the sources that differ from the upstream branch (without one: from the last
# commit).
lint_changed() {
  local base changed
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse -q --verify HEAD 2>/dev/null) || return 0
  changed=$(git diff --name-only --diff-filter=d "$base" -- 'src/*.cpp' 'bindings/*.cpp')
  [ -n "$changed" ] || return 0
  say "clang-tidy on what changed: $(wc -l <<<"$changed") files"
  # Needs the command of each file alone.
  logged configure-tidy cmake --preset clang -B build/tidy -DAFTERBAY_UNITY=0
  xargs -n 1 -P "$(nproc)" clang-tidy -p build/tidy --quiet <<<"$changed"
}

# --run: also run the code of the pages, as ./dev test does.
dev_docs() {
  local run=false
  case ${1:-} in
    '') ;;
    --run) run=true ;;
    *) fail "docs: there is no option '$1'; there is --run" ;;
  esac
  need_packages "${docs_packages[@]}"
  need_venv venv-docs tools/site/requirements.txt "documentation"
  say "links between the pages"
  build/venv-docs/bin/python tools/check_links.py
  say "site, with the API references (Doxygen)"
  build/venv-docs/bin/python tools/site/build.py
  say "built: build/site/index.html (its search needs a web server: python3 -m http.server -d build/site)"
  $run || return 0
  need_packages "${build_packages[@]}" "${test_packages[@]}"
  need_python
  build_preset dev
  mpi_environment
  say "code of the pages"
  ctest --test-dir build/dev --output-on-failure --no-tests=error -L docs
}

dev_clean() {
  rm -rf "$root/build"
  say "removed build/"
}
