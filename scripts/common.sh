# shellcheck shell=bash
# What the scripts share; sourced, never run. Sets root, the top of the sources.

export LC_ALL=C  # what other programs print is read, which some translate
unset CDPATH  # with which cd prints where it goes
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

say() { printf '%s: %s\n' "${0##*/}" "$*"; }
die() { printf '%s: error: %s\n' "${0##*/}" "$*" >&2; exit 1; }

# Puts nvcc where CMake finds it; false where there is none, or one that is too old. The toolkit's own installer leaves PATH alone.
minimal_cuda=12.4
find_nvcc() {
  local version
  if [[ -z ${CUDACXX:-} ]] && ! command -v nvcc >/dev/null; then
    [[ -x /usr/local/cuda/bin/nvcc ]] || return 1
    export CUDACXX=/usr/local/cuda/bin/nvcc
  fi
  version=$("${CUDACXX:-nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\),.*/\1/p') || version=
  if [[ -n $version ]] && ! at_least "$minimal_cuda" "$version"; then
    say "${CUDACXX:-nvcc} is of CUDA $version, and $minimal_cuda is needed: without the CUDA backend"
    return 1
  fi
  choose_architectures
}

has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep '^GPU ' >/dev/null; }

# CMake's own variable, where nobody has set it: for GPUs here that are older than what is compiled for by default, which newer ones take too.
choose_architectures() {
  local found
  if [[ -n ${CUDAARCHS:-} ]] || ! has_gpu; then return 0; fi
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -n 's/^\([0-9]*\)\.\([0-9]\)$/\1\2/p' |
          awk '{ print ($1 > 90 ? 90 : $1) }' | sort -un | paste -sd';' -) || found=
  if [[ -n $found ]]; then export CUDAARCHS=$found; fi
}

# with_progress LOG COMMAND...: the command's output goes into LOG alone; so that a long step does not look like a hang, its last line is
# shown meanwhile, every second on a terminal and elsewhere every 30 seconds. Gives the command's status, which the caller must look at.
with_progress() {
  local log=$1 ticker status
  : >"$log"
  show_progress "$log" &
  ticker=$!
  "${@:2}" >"$log" 2>&1  # alone: beside "||" a command's own "set -e" would be ignored
  status=$?
  kill "$ticker" 2>/dev/null || true
  wait "$ticker" 2>/dev/null || true
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  return "$status"
}

show_progress() {  # show_progress LOG: until it is killed, or its script has ended
  local every=${ONEFOLD_PROGRESS_SECONDS:-30} began=$SECONDS line passed
  if [[ -t 2 ]]; then every=1; fi
  while kill -0 $$ 2>/dev/null; do
    sleep 1 >/dev/null 2>&1  # holds nobody's pipe open
    passed=$((SECONDS - began))
    if (( ! passed || passed % every )); then continue; fi
    line=$(tail -n 1 "$1" | tr '\r' '\n' | tail -n 1 | tr -cd '[:print:]')
    if [[ -t 2 ]]; then printf '\r\033[K  %d s  %.60s' "$passed" "$line" >&2
    else printf '%s: %d s: %.100s\n' "${0##*/}" "$passed" "$line" >&2; fi
  done
}

# at_least VERSION VERSION: whether the second is not older than the first
at_least() { printf '%s\n' "$1" "$2" | sort -VC; }

minimal_cmake=3.22
has_cmake() { command -v cmake >/dev/null && at_least "$minimal_cmake" "$(cmake --version | sed -n '1s/.*version //p')"; }

# configure PRESET BUILD_TREE [CMAKE_ARGUMENT...]. The presets ask for Ninja; a machine may have make alone.
configure() {
  local generator=()
  has_cmake || die "CMake $minimal_cmake or newer is needed (found: $(cmake --version 2>/dev/null | head -n 1 || true)):" \
                   "python3 -m venv VENV && VENV/bin/pip install cmake makes one, to be put first on the PATH"
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
