# shellcheck shell=bash
# What the scripts share; sourced, never run. Sets root, the top of the sources.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Puts nvcc where CMake finds it; false where there is none. The toolkit's own installer leaves PATH alone.
find_nvcc() {
  if [[ -n ${CUDACXX:-} ]] || command -v nvcc >/dev/null; then return 0; fi
  [[ -x /usr/local/cuda/bin/nvcc ]] || return 1
  export CUDACXX=/usr/local/cuda/bin/nvcc
}

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep '^GPU ' >/dev/null; }

# configure PRESET BUILD_TREE [CMAKE_ARGUMENT...]. The presets ask for Ninja; a machine may have make alone.
configure() {
  local generator=()
  if ! command -v ninja >/dev/null; then generator=(-G "Unix Makefiles"); fi
  (cd "$root" && cmake --preset "$1" -B "$2" "${generator[@]}" "${@:3}")
}

# build BUILD_TREE [TARGET...]
build() {
  local targets=()
  if (( $# > 1 )); then targets=(--target "${@:2}"); fi
  cmake --build "$1" --parallel "$(nproc)" "${targets[@]}"
}

# run_tests BUILD_TREE [CTEST_ARGUMENT...]: runs ctest and sums up what ran; the last line is "N passed, N failed, N skipped".
# ctest says nothing of the skips inside a program, and its exit status nothing of a run without tests.
run_tests() {
  local tree
  tree=$(cd "$1" && pwd)
  shift
  find "$tree" -path '*/test-results/*.xml' -delete
  rm -f "$tree/ctest.xml"
  ctest --test-dir "$tree" --output-on-failure --output-junit "$tree/ctest.xml" --test-output-size-passed 10000000 \
    --test-output-size-failed 10000000 "$@" || true  # the summary decides
  [[ -f $tree/ctest.xml ]] || die "ctest ran nothing in $tree"
  python3 "$root/tests/summary.py" "$tree"
}
