# Sourced by ./dev: messages, Debian packages, the Python environment, configuring and building.

build_packages=(g++ gfortran cmake ninja-build ccache pkg-config openmpi-bin libopenmpi-dev libhdf5-dev
  libnetcdf-dev zlib1g-dev libxxhash-dev libyaml-cpp-dev nlohmann-json3-dev libfmt-dev libspdlog-dev
  libcli11-dev libexpected-dev libpng-dev libmuparser-dev libudunits2-dev libdeflate-dev
  libzstd-dev liblz4-dev libblosc-dev libeccodes-dev)
user_packages=(make netcdf-bin man-db) # also needed by the commands in docs/ and examples/
python_packages=(python3-venv)
test_packages=(binutils libgtest-dev libgmock-dev hdf5-tools libeccodes-tools iproute2 xz-utils "${user_packages[@]}" "${python_packages[@]}")
baseline_packages=(libpnetcdf-dev pnetcdf-bin libhdf5-openmpi-dev libnetcdf-mpi-dev) # baselines of the benchmarks
reader_packages=(cdo fdb5 "${baseline_packages[@]}") # more readers of the files that the tests write, and the benchmarks' test
browser_packages=(chromium) # measures pages; Ubuntu has only a snap, which does not run in containers
bench_packages=(cdo "${baseline_packages[@]}" "${python_packages[@]}")
lint_packages=(clang clang-tidy "${python_packages[@]}")
fuzz_packages=(clang libclang-rt-dev)
docs_packages=(doxygen "${python_packages[@]}")

is_debian() { [ "$(. /etc/os-release 2>/dev/null && echo "${ID:-}")" = debian ]; }

say() { printf '==> %s\n' "$*"; }
fail() {
  printf './dev: %s\n' "$*" >&2
  exit 1
}

# nearest WORD CANDIDATES...: the candidate with the smallest edit distance.
nearest() {
  awk 'function least(a, b) { return a < b ? a : b }
    function distance(s, t,   i, j, d) {
      for (i = 0; i <= length(s); i++) d[i, 0] = i
      for (j = 0; j <= length(t); j++) d[0, j] = j
      for (i = 1; i <= length(s); i++) for (j = 1; j <= length(t); j++)
        d[i, j] = least(d[i-1, j-1] + (substr(s, i, 1) != substr(t, j, 1)), least(d[i-1, j], d[i, j-1]) + 1)
      return d[length(s), length(t)]
    }
    BEGIN { best = 1e9
      for (k = 2; k < ARGC; k++) { n = distance(ARGV[1], ARGV[k]); if (n < best) { best = n; name = ARGV[k] } }
      print name }' "$@"
}

# logged NAME COMMAND...: writes the output to build/log/NAME.log, and shows its end if the command
# fails.
logged() {
  local log=$root/build/log/$1.log
  shift
  mkdir -p "$root/build/log"
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    fail "failed: $* (all of its output: $log)"
  fi
}

# need_packages NAME...: installs the Debian packages that are missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian or Ubuntu: taking compilers and libraries as they are"
    return
  fi
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    as_root=(sudo)
    [ -t 0 ] || as_root=(sudo -n)
    if ! command -v sudo >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
      printf '%s\n' "./dev: these packages are missing, and installing them needs root." \
        "Ask the administrator of this machine for:" "  apt-get install ${missing[*]}" >&2
      exit 1
    fi
  fi
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  logged apt-update "${as_root[@]}" apt-get update -q
  logged apt-install "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -q \
    --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}"
}

# need_venv NAME REQUIREMENTS PURPOSE: build/NAME with the Python packages of a file.
need_venv() {
  local venv=$root/build/$1 requirements=$2 purpose=$3 system=/usr/bin/python3 wanted
  [ -x $system ] || system=$(command -v python3) || fail "there is no python3: install Python 3.11 or newer"
  wanted="$($system --version) $(cksum <"$requirements")"
  if [ "$(cat "$venv/made-from" 2>/dev/null)" != "$wanted" ]; then
    say "making build/$1 with the Python packages of $requirements ($purpose only)"
    rm -rf "$venv"
    mkdir -p "$root/build"
    logged "$1" "$system" -m venv "$venv"
    logged "pip-$1" "$venv/bin/python" -m pip install --disable-pip-version-check -q -r "$requirements"
    printf '%s\n' "$wanted" >"$venv/made-from"
  fi
}

# need_python: build/venv, for tests, plots and lint; sets AFTERBAY_PYTHON.
need_python() {
  need_venv venv tools/requirements.txt "tests and plots"
  export AFTERBAY_PYTHON=$root/build/venv/bin/python
}

# As many compilers as there are cores, with 1.5 GiB of free memory each.
jobs() {
  local by_memory
  by_memory=$(awk '/^MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  [ "$by_memory" -ge 1 ] || by_memory=1
  echo $((by_memory < $(nproc) ? by_memory : $(nproc)))
}

# build_preset PRESET [TARGET...]; further CMake options in configure_options.
configure_options=()
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1 # another clone of the project finds what this one compiled
build_preset() {
  local preset=$1 dir=$root/build/$1
  shift
  [ -n "${AFTERBAY_PYTHON:-}" ] && configure_options+=("-DAFTERBAY_PYTHON=$AFTERBAY_PYTHON")
  # A tree that was moved or copied cannot be configured again in place.
  if [ -f "$dir/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$dir/CMakeCache.txt"; then
    rm -rf "$dir"
  fi
  say "building the preset $preset"
  local begin=$SECONDS
  logged "configure-$preset" cmake --preset "$preset" "${configure_options[@]}"
  logged "build-$preset" cmake --build "$dir" -j "$(jobs)" ${1:+--target "$@"}
  say "built in $((SECONDS - begin)) s"
}

# Open MPI for a small machine: root may run it, ranks may share cores. Only for what ./dev runs.
mpi_environment() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
  export OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
}
