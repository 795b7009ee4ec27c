#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Builds small programs against the installed library as a user would, through
# pkg-config, and runs them.  make check installs below a temporary DESTDIR
# first; make installcheck (OVSTHREAD_INSTALLCHECK=yes) takes what is installed.
#
# From the environment: srcdir, MAKE, CC, CXX, libdir, includedir, pkgconfigdir,
# OVSTHREAD_SANITIZER.
n=0

# The descriptors that they name are those of the make that runs the tests.
unset MAKEFLAGS MFLAGS

# check NAME COMMAND...: one test, passed if COMMAND succeeds.
check() {
  name=$1
  shift
  n=$((n + 1))
  if output=$("$@" 2>&1); then
    skip=$(echo "$output" | grep '^# SKIP')
    echo "ok $n - $name${skip:+ $skip}"
  else
    echo "$output" | sed 's/^/#   /'
    echo "not ok $n - $name"
  fi
}

if test -n "$OVSTHREAD_SANITIZER"; then
  echo "1..0 # SKIP programs built without -fsanitize=$OVSTHREAD_SANITIZER"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$(cd "$srcdir" && pwd)/tests/install

if test "$OVSTHREAD_INSTALLCHECK" = yes; then
  root=$DESTDIR
else
  root=$work/root
  check "make install" "$MAKE" -s install DESTDIR="$root"
fi
test -z "$root" || export PKG_CONFIG_SYSROOT_DIR="$root"
export PKG_CONFIG_PATH="$root$pkgconfigdir:$PKG_CONFIG_PATH"

run() { LD_LIBRARY_PATH="$root$libdir" "$@"; }

needs_library() {
  ${READELF-readelf} -d "$1" | grep -q 'NEEDED.*libovsthread\.so\.[0-9]'
}

# Each program is linked to the shared library by what pkg-config says without
# --static, which must not drag in what the library itself is linked to.
shared() {
  $3 -Wall -Wextra -Werror "$source/$1" -o "$work/shared" \
    $(pkg-config --cflags --libs ovsthread-compat) &&
    needs_library "$work/shared" && run "$work/shared"
}
static() {
  if ! pkg-config --static --libs ovsthread |
    sed 's/-lovsthread/-lc/' | xargs $CC -xc -o "$work/closure" "$work/main.c"
  then
    echo "# SKIP the static libraries that hwloc.pc names (libudev-dev)"
    return
  fi
  $3 -Wall -Wextra -Werror "$source/$1" -o "$work/static" \
    $(pkg-config --static --cflags --libs ovsthread-compat |
      sed 's/-lovsthread/-l:libovsthread.a/') &&
    ! needs_library "$work/static" && "$work/static"
}
echo 'int main(void) { return 0; }' >"$work/main.c"
for kind in shared static; do
  check "$kind C program" $kind program.c C "$CC -std=gnu11"
  check "$kind C++ program" $kind program.cc C++ "$CXX"
done

clean_libs() { test "$(echo $(pkg-config --libs-only-l ovsthread))" = -lovsthread; }
check "pkg-config --libs names this library alone" clean_libs

dlopen() {
  $CC -std=gnu11 -Wall -Wextra -Werror "$source/dlopen.c" -o "$work/dlopen" \
    $(pkg-config --cflags ovsthread-compat) -ldl -lpthread && "$work/dlopen" "$root$libdir/libovsthread.so"
}
check "dlopen while a thread runs" dlopen

# The program that README shows, built as README says.
readme_example() {
  awk '/^```c$/ { inside = 1; next } /^```$/ { inside = 0 } inside' \
    "$source/../../README.md" >"$work/flows.c" &&
    $CC -Wall -Wextra -Werror "$work/flows.c" -o "$work/flows" \
      $(pkg-config --cflags --libs ovsthread-compat) &&
    test "$(run "$work/flows")" = "50 flows"
}
check "the example of README" readme_example

# What a program can bind to: versioned, and nothing of the standard library.
exports() {
  ${NM-nm} -D --defined-only -C "$root$libdir/libovsthread.so" |
    awk '
      $2 == "A" { next }
      !/@@OVSTHREAD_[0-9.]*$/ || / (std|__gnu|absl)/ { print; bad = 1 }
      END { exit bad || NR < 2 }'
}
check "every exported symbol is versioned and the library's own" exports

same_headers() {
  (cd "$source/../../include" && find ovsthread -name '*.h' | sort) \
    >"$work/in-source"
  (cd "$root$includedir" && find ovsthread -name '*.h' |
    grep -v '^ovsthread/version.h$' | sort) >"$work/installed"
  diff "$work/in-source" "$work/installed" &&
    test -f "$root$includedir/ovsthread/version.h"
}
check "every header is installed in its place" same_headers

echo "1..$n"
