#!/usr/bin/env bash
# Builds, tests, measures and checks this repository. Each command first installs what it needs.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")"

# All checkouts share the compiler's results, which are in ccache's own folder: paths in them are relative to the build.
export CCACHE_BASEDIR="${CCACHE_BASEDIR-$PWD}" CCACHE_NOHASHDIR="${CCACHE_NOHASHDIR-1}"

usage() {
  cat <<'TXT'
Usage: ./do COMMAND

  run [ARGUMENTS]      build and run the program (default: with the tasks in examples/hello.toml)
  test [--all]         build and run all tests (--all: without sampling)
  test page [FILTER]   build and run the tests of the page in a browser (FILTER: a part of a name)
  screenshots          make the pictures of the page in docs/page/
  bench [--quick]      run all benchmarks, with limits and peers, and write build/bench/report.md
  bench cron           measure parse, matches, next, previous and count
  bench scheduler      measure the scheduler with up to a million tasks, each figure with its limit
  bench commands       measure ten thousand commands at one instant, and an idle minute
  bench observe        measure answers over HTTP, and how late tasks start while clients ask
  bench page           measure the page in a browser, and what an open page costs the daemon
  bench compare        compare with other cron libraries and Debian's cron
  simulate [ARGUMENTS] judge the engine in random worlds by the theory (--seed N --years Y)
  simulate exhaustive  … in every world of a few steps (--tasks N --seconds S)
  simulate cluster     … in random clusters of several machines (--seed N --worlds W), or in every cluster
                       of two with a few faults (--exhaustive --seconds S)
  sanitize             run the tests under AddressSanitizer, UBSan and ThreadSanitizer
  fuzz [SECONDS]       run every fuzz target for this long (default: 60)
  format [--check]     format the code (--check: only report what is not formatted)
  lint                 run clang-tidy

The commands install the Debian packages in packages.txt that they need.
TXT
}

fail() {
  echo "do: $*" >&2
  exit 1
}

# Unpacks a package into .cache/unpacked/PACKAGE, for programs whose installation would start a service.
unpack() {
  local package=$1 folder=.cache/unpacked/$1 work
  [ ! -d "$folder" ] || return 0
  echo "do: unpacking $package"
  mkdir -p .cache/unpacked
  work=$(mktemp -d ".cache/unpacked/.$package.XXXXXX")
  if ! (cd "$work" && download "$package" && dpkg-deb -x ./*.deb root); then
    rm -r "$work"
    fail "cannot download the package $package, which the tests need"
  fi
  # A folder that has its name is complete.
  mv -T "$work/root" "$folder" || [ -d "$folder" ]
  rm -r "$work"
}

# Downloads a package into the current folder.
download() {
  local get=(apt-get download -q -o APT::Sandbox::User=root "$1")
  "${get[@]}" || { update_package_lists && "${get[@]}"; }
}

update_package_lists() {
  as_root apt-get update -q
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Installs the packages of the named kinds that are missing.
need() {
  local kind package wanted missing=()
  command -v dpkg-query >/dev/null || fail "this is not a Debian system; install the packages in packages.txt yourself"
  while read -r package wanted _; do
    case $package in ''|'#'*) continue ;; esac
    for kind in "$@"; do
      [ "$kind" = "$wanted" ] || continue
      if [ "$kind" = unpack ]; then
        unpack "$package" </dev/null
        continue
      fi
      [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
    done
  done <packages.txt
  # If node does not come from Debian, it has its own npm, which conflicts with Debian's package.
  if command -v npm >/dev/null; then
    for package in "${!missing[@]}"; do
      case ${missing[$package]} in npm|nodejs) unset "missing[$package]" ;; esac
    done
  fi
  [ ${#missing[@]} -gt 0 ] || return 0

  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    fail "packages are missing and there is no sudo; run as root: apt-get install ${missing[*]}"
  echo "do: installing ${missing[*]}"
  update_package_lists
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# build PRESET [TARGET…] [-- CMAKE_ARGUMENTS…]
build() {
  local preset=$1 targets=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    targets+=(--target "$1")
    shift
  done
  [ $# -eq 0 ] || shift
  # Standard output is for the command that follows.
  cmake --preset "$preset" "$@" --log-level=WARNING >&2
  cmake --build --preset "$preset" "${targets[@]}" >&2
}

do_run() {
  need build
  build release dutiful
  if [ $# -gt 0 ]; then
    exec build/release/dutiful "$@"
  fi
  echo "do: running examples/hello.toml with its state in hello.db; press Ctrl-C to stop" >&2
  exec build/release/dutiful run examples/hello.toml --state hello.db --output
}

# Installs the browser and what drives it.
need_page() {
  need build page
  local folder=tests/page
  [ "$folder/node_modules/.package-lock.json" -nt "$folder/package-lock.json" ] && return
  echo "do: installing the packages of $folder" >&2
  npm ci --prefix "$folder" --no-audit --no-fund --ignore-scripts --loglevel=error >&2
  touch "$folder/node_modules/.package-lock.json"
}

do_test() {
  local all=
  if [ "${1-}" = page ]; then
    [ $# -le 2 ] || fail "test page accepts one filter"
    need_page
    build release dutiful page_world -- -DDUTIFUL_TESTS=ON
    exec node tests/page/run.mjs "${@:2}"
  fi
  [ $# -le 1 ] || fail "test accepts only --all or page"
  case ${1-} in
    '') ;;
    --all) all=1 ;;
    *) fail "test accepts only --all or page, not '$1'" ;;
  esac
  need build test unpack
  build release -- -DDUTIFUL_TESTS=ON
  DUTIFUL_TEST_ALL=$all ctest --preset release
}

do_screenshots() {
  need_page
  build release dutiful page_world -- -DDUTIFUL_TESTS=ON
  node tests/page/screenshots.mjs docs/page
}

do_simulate() {
  local kind=random
  case ${1-} in
    random|exhaustive|cluster)
      kind=$1
      shift
      ;;
  esac
  need build
  build release worlds
  exec build/release/worlds "$kind" "$@"
}

do_sanitize() {
  need build test unpack
  build asan-ubsan -- -DDUTIFUL_TESTS=ON
  ctest --preset asan-ubsan
  # ThreadSanitizer only concerns tests with threads.
  local threaded=(sync_tests metrics_tests http_tests runtime_tests commands_tests daemon_tests conformance_tests command_tests
                  web_tests torture_tests postgres_tests)
  build tsan "${threaded[@]}" -- -DDUTIFUL_TESTS=ON
  # The excluded test starts a task 100,000 times in virtual time, which has no threads.
  ctest --preset tsan -R "^($(IFS='|'; echo "${threaded[*]}"))(\.|$)" -E '^runtime_tests\.VirtualTime\.does_not_stand_still_forever$'
}

do_bench() {
  case ${1-} in
    ''|--quick)
      need build bench compare
      build release cron_bench cron_calls cron_peer burst_peer stamp scheduler_bench dutiful commands_bench \
        observe_bench -- \
        -DDUTIFUL_BENCH=ON
      bench/all "$@"
      ;;
    cron)
      need build bench
      build release cron_bench cron_calls -- -DDUTIFUL_BENCH=ON
      bench/cron
      ;;
    compare)
      need build bench compare
      build release cron_peer burst_peer stamp dutiful -- -DDUTIFUL_BENCH=ON
      bench/compare/run
      bench/compare/burst
      bench/compare/daemons
      ;;
    scheduler)
      need build bench
      build release scheduler_bench -- -DDUTIFUL_BENCH=ON
      bench/scheduler
      ;;
    commands)
      need build bench
      build release dutiful commands_bench -- -DDUTIFUL_BENCH=ON
      bench/commands
      ;;
    observe)
      need build bench
      build release observe_bench scheduler_bench -- -DDUTIFUL_BENCH=ON
      bench/observe "${@:2}"
      ;;
    page)
      need_page
      build release dutiful page_world -- -DDUTIFUL_BENCH=ON
      bench/page "${@:2}"
      ;;
    *) fail "unknown benchmark '$1'; use cron, scheduler, commands, observe, page or compare, or none for all" ;;
  esac
}

do_fuzz() {
  local seconds=${1:-60} name
  [[ $seconds =~ ^[1-9][0-9]*$ ]] || fail "fuzz needs a number of seconds, not '$seconds'"
  need build fuzz
  local targets=(api_fuzz cron_fuzz crontab_fuzz http_fuzz metrics_fuzz tasks_fuzz zone_fuzz)
  build fuzz "${targets[@]}"
  for name in "${targets[@]}"; do
    mkdir -p ".cache/fuzz/$name"
    echo "do: $name for $seconds s"
    "build/fuzz/$name" -max_total_time="$seconds" -print_final_stats=1 -timeout=5 -max_len=65536 \
      -artifact_prefix=".cache/fuzz/$name-" ".cache/fuzz/$name" "fuzz/corpus/$name"
  done
}

sources() {
  git ls-files --cached --others --exclude-standard '*.h' '*.cc' "$@"
}

do_format() {
  need lint
  case ${1-} in
    '') sources | xargs clang-format -i ;;
    --check) sources | xargs clang-format --dry-run --Werror ;;
    *) fail "format accepts only --check, not '$1'" ;;
  esac
}

do_lint() {
  need build lint
  cmake --preset release --log-level=WARNING
  # If clang-tidy cannot read its configuration, it runs without one and finds nothing.
  [ -z "$(clang-tidy --dump-config 2>&1 >/dev/null)" ] || fail ".clang-tidy cannot be read"
  # Tests are excluded: their macros take most of the time and hide most findings.
  git ls-files --cached --others --exclude-standard 'src/*.cc' | grep -v '_test\.cc$' |
    xargs -P "$(nproc)" -n 3 clang-tidy -p build/release --quiet 2>/dev/null
}

command=${1-}
[ $# -eq 0 ] || shift
case $command in
  run|test|screenshots|bench|simulate|sanitize|fuzz|format|lint) "do_$command" "$@" ;;
  ''|help|-h|--help) usage ;;
  *)
    usage >&2
    fail "unknown command '$command'"
    ;;
esac
