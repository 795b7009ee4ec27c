#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Compiles the installed headers as programs include them: with gcc and clang,
# as C11 and as C++20, each alone, each pair of those that replace headers of
# Open vSwitch in both orders, and the call sites of their macros, with all
# warnings that Open vSwitch turns on.  Also checks which helper headers are
# taken, and the guards, which keep Open vSwitch's own copy of a header inert.
srcdir=${srcdir-.}
top=$(cd "$srcdir" && pwd)
build=$(cd "${top_builddir-.}" && pwd)
include=$top/include/ovsthread
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

own="-I$build/include -I$top/include -I$include/compat"
fallback="-idirafter $include/compat/fallback"
common="-O2 -Werror -Wall -Wextra -Wno-sign-compare -Wpointer-arith \
-Wswitch-enum -Wmissing-field-initializers -Wmissing-declarations -Wshadow \
-Wundef -fno-strict-aliasing"
c="-std=gnu11 -Wbad-function-cast -Wstrict-prototypes \
-Wold-style-definition -Wmissing-prototypes"
cxx="-std=c++20"
gcc="-Wcast-align=strict -Wduplicated-cond -Wmultistatement-macros"
clang="-Wcast-align -Wthread-safety -Wmissing-variable-declarations \
-Wunused-but-set-variable"

compat=$(cd "$include/compat" && printf '%s\n' *.h openvswitch/*.h)
replaced=$(for header in $compat; do
             case $header in *ovsthread-*) ;; *) echo "$header" ;; esac
           done)
both=$(cd "$include" && grep -l __cplusplus ./*.h | sed 's,^\./,ovsthread/,')
cxx_only=$(cd "$include" && grep -L __cplusplus ./*.h |
           sed 's,^\./,ovsthread/,')
n=0

# sources FOLDER: for each line of the input, a source in the new FOLDER that
# includes the headers of that line in this order.
sources() {
  mkdir "$work/$1"
  i=0
  while read -r line; do
    i=$((i + 1))
    for header in $line; do
      echo "#include \"$header\""
    done >"$work/$1/$i.c"
  done
}

# report NAME FOLDER COMMAND...: compiles each source in FOLDER; one test.
report() {
  name=$1
  folder=$work/$2
  shift 2
  n=$((n + 1))
  mkdir -p "$work/objects"
  if test -z "$(ls "$folder")"; then
    echo "not ok $n - $name: nothing to compile"
  elif (cd "$work/objects" && printf '%s\n' "$folder"/*.c |
        xargs -P "$jobs" -n 4 "$@" -x $language) >"$work/log" 2>&1; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    head -n 40 "$work/log" | sed 's/^/# /'
  fi
}

for header in $compat $both; do echo "$header"; done | sources alone-c
for header in $compat $both $cxx_only; do echo "$header"; done |
  sources alone-c++
for header in $compat; do echo "$header"; done | sources compat
for a in $replaced; do
  for b in $replaced; do test "$a" = "$b" || echo "$a $b"; done
done | sources pairs
for header in $compat; do echo "$header"; done | sources linkage
for source in "$work"/linkage/*.c; do
  { echo 'extern "C" {'; cat "$source"; echo '}'; } >"$work/source"
  mv "$work/source" "$source"
done
mkdir "$work/calls" && cp "$top"/tests/compat/*.c "$work/calls"

# Headers of a program that has nothing to do with Open vSwitch.
mkdir "$work/unrelated"
echo '#error "not this one"' >"$work/unrelated/util.h"
cp "$work/unrelated/util.h" "$work/unrelated/compiler.h"

# Those of Open vSwitch, marked.
cp -r "$include/compat/fallback" "$work/ovs"
echo ovsthread-helpers.h | sources helpers
for header in util.h ovs-atomic.h compiler.h openvswitch/util.h; do
  mark=FOUND_$(echo "$header" | tr a-z/.- A-Z___)
  {
    echo "#define $mark 1"
    sed '/OVSTHREAD_FALLBACK 1/d' "$include/compat/fallback/$header"
  } >"$work/ovs/$header"
  printf '#ifndef %s\n#error "%s was not taken"\n#endif\n' "$mark" "$header" \
    >>"$work/helpers/1.c"
done

i=0
for header in $replaced; do echo "$header"; done | sources guards
for header in $replaced; do
  i=$((i + 1))
  case $header in
    openvswitch/thread.h) guard=OPENVSWITCH_THREAD_H ;;
    *) guard=$(basename "$header" | tr a-z.- A-Z__) ;;
  esac
  printf '#ifndef %s\n#error "no guard %s"\n#endif\n' "$guard" "$guard" \
    >>"$work/guards/$i.c"
done

for family in gcc clang; do
  case $family in
    gcc) cc=gcc cpp=g++ warnings=$gcc precompiled=atomic.h.gch ;;
    clang) cc=clang cpp=clang++ warnings=$clang precompiled=atomic.h.pch ;;
  esac
  for language in c c++; do
    case $language in
      c) compiler=$cc flags=$c ;;
      c++) compiler=$cpp flags=$cxx ;;
    esac
    in="in $language with $family"
    if ! command -v "$compiler" >/dev/null; then
      for what in "each header alone" "each pair of headers" "call sites"; do
        n=$((n + 1))
        echo "ok $n - $what $in # SKIP no $compiler"
      done
      continue
    fi
    # shellcheck disable=SC2086
    set -- $compiler $flags $common $warnings
    # shellcheck disable=SC2086
    case $language in
      c)
        report "each header alone $in" alone-c "$@" -fsyntax-only \
          $own $fallback
        report "each pair of headers $in" pairs "$@" -fsyntax-only \
          $own $fallback
        report "fallbacks, not unrelated headers, $in" compat "$@" \
          -fsyntax-only $own -I"$work/unrelated"
        report "helpers of Open vSwitch $in" helpers "$@" -fsyntax-only \
          $own -I"$work/ovs" $fallback
        report "guards of Open vSwitch $in" guards "$@" -fsyntax-only \
          $own $fallback
        ;;
      c++)
        # What takes the time is the standard's <atomic>.
        mkdir "$work/$family"
        echo '#include <atomic>' >"$work/$family/atomic.h"
        "$@" -x c++-header "$work/$family/atomic.h" \
          -o "$work/$family/$precompiled" || echo "Bail out! $compiler"
        report "each header alone $in" alone-c++ "$@" -fsyntax-only \
          $own $fallback
        report "each pair of headers $in" pairs "$@" -fsyntax-only \
          -include "$work/$family/atomic.h" $own $fallback
        report "inside extern \"C\" $in" linkage "$@" -fsyntax-only \
          $own $fallback
        ;;
    esac
    # shellcheck disable=SC2086
    report "call sites $in" calls "$@" -c -I"$top" $own $fallback
  done
done
echo "1..$n"
