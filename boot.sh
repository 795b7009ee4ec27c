#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# From a fresh clone to a result.  Run ./boot.sh help for the usage.
set -eu
cd "$(dirname "$0")"

usage() {
  cat <<'EOF'
usage: ./boot.sh               regenerate the build system (configure, Makefile.in)
       ./boot.sh check [ARG..] build in build/ and run the tests; ARGs go to make
       ./boot.sh bench [ARG..] build in build/ and run the main benchmark,
                               `ovstest test-cmap sweep`, which takes the ARGs
       ./boot.sh install [PACKAGE..]
                               only install what these need, and the PACKAGEs

All but the first install the Debian packages that are missing, with apt-get
(through sudo if you are not root), and say which.  To do without, set
OVSTHREAD_INSTALL=no: nothing is installed then, and configure says what it
misses.  CONFIGURE_FLAGS are passed to configure.
EOF
}

# What it takes to regenerate and build, by the names of Debian's packages.
tools="autoconf autoconf-archive automake libtool make pkg-config g++"
# libudev-dev: hwloc.pc names it for static programs.  libtbb-dev: only what is
# compared with it is left out without it.
libraries="libhwloc-dev libudev-dev libabsl-dev libgtest-dev libbenchmark-dev
  relacy-dev libtbb-dev"

say() { echo "boot.sh: $*"; }

regenerate() {
  if ! command -v autoreconf >/dev/null; then
    say "autoreconf was not found; install: $tools" >&2
    exit 1
  fi
  autoreconf -fi
}

# Prints those of the named packages that are not installed.
missing() {
  for package; do
    case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || :) in
      *' installed') ;;
      *) printf ' %s' "$package" ;;
    esac
  done
}

install_packages() {
  if test "${OVSTHREAD_INSTALL-yes}" = no; then
    say "OVSTHREAD_INSTALL=no: installing nothing"
    return
  fi
  if ! command -v apt-get >/dev/null; then
    say "no apt-get here, so nothing is installed; what Debian calls" \
      $tools $libraries "$@" "must be there"
    return
  fi
  packages=$(missing $tools $libraries "$@")
  test -n "$packages" || return 0
  if test "$(id -u)" = 0; then
    sudo=
  elif command -v sudo >/dev/null; then
    sudo=sudo
  else
    say "these packages are missing:$packages" >&2
    say "as root, run: apt-get install$packages" >&2
    say "or go on without them: OVSTHREAD_INSTALL=no ./boot.sh ..." >&2
    exit 1
  fi
  say "installing with apt-get:$packages"
  say "(to do without: OVSTHREAD_INSTALL=no ./boot.sh ...)"
  $sudo apt-get update -q
  $sudo env DEBIAN_FRONTEND=noninteractive \
    apt-get install -qy --no-install-recommends $packages
}

configure() {
  test configure -nt configure.ac || regenerate
  mkdir -p build
  if ! test build/config.status -nt configure; then
    say "configuring in build/"
    (cd build && ../configure --enable-tests ${CONFIGURE_FLAGS-})
  fi
}

build() {
  say "building in build/"
  make -C build --no-print-directory -j"$(nproc)" "$@"
}

command=${1-}
test $# = 0 || shift
case $command in
  '')
    regenerate
    ;;
  check)
    install_packages
    configure
    build all
    say "running the tests"
    make -C build --no-print-directory -j"$(nproc)" check "$@"
    ;;
  bench)
    install_packages
    configure
    build tests/ovstest
    say "running: ovstest test-cmap sweep $*"
    exec build/tests/ovstest test-cmap sweep "$@"
    ;;
  install)
    install_packages "$@"
    ;;
  help | --help | -h)
    usage
    ;;
  *)
    say "unknown command: $command" >&2
    usage >&2
    exit 2
    ;;
esac
