#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh RESULTS      ("make bench" runs it)
#
# Runs the micro-benchmarks and leaves in the folder RESULTS
#
#   NAME.json             what the program NAME has measured, with the commit, the
#                         CPU, the compiler and the state of elision
#   lock-unlock-glibc.json   pthread's mutexes with glibc's own elision, where it
#                         has that
#   lock-unlock-*.svg     pictures of them, one for each kind of section
#
# In the environment: top_builddir, srcdir and GLIBC_TSX from make; BENCH_FLAGS,
# options for the programs on Google Benchmark; PAIRS_FLAGS, those of lock-pairs.
set -eu
results=$1
bench=$top_builddir/bench
mkdir -p "$results"
commit=$(git -C "$srcdir" describe --always --dirty --abbrev=12 2>/dev/null ||
  echo unknown)

# Later options win.
flags="--benchmark_context=commit=$commit --benchmark_out_format=json
  --benchmark_min_time=0.05 --benchmark_min_warmup_time=0.01 ${BENCH_FLAGS-}"

# measure PROGRAM [NAME]: PROGRAM's results go to NAME.json.
measure() {
  echo "== $1${2+, $2}"
  "$bench/$1" $flags --benchmark_out="$results/${2-$1}.json"
}

if test -z "${BENCH_FLAGS-}"; then
  n=$("$bench/lock-unlock" --benchmark_list_tests | wc -l)
  echo "This takes about $((n / 200 + 2)) minutes; leave the machine alone" \
    "meanwhile."
fi
measure floors
measure lock-unlock
pictured=$results/lock-unlock.json
case $GLIBC_TSX in
  *GLIBC_TUNABLES*)
    if "$top_builddir/tests/ovstest" elision | grep -q 'runs transactions'; then
      (
        GLIBC_TUNABLES=glibc.elision.enable=1
        export GLIBC_TUNABLES
        measure lock-unlock lock-unlock-glibc
      )
      pictured="$pictured $results/lock-unlock-glibc.json"
    else
      echo "== glibc's own elision is not measured: the processor runs no" \
        "transactions"
    fi
    ;;
  *)
    echo "== glibc's own elision is not measured: pthread's locks $GLIBC_TSX"
    ;;
esac
"$bench/plot" "$results/lock-unlock" $pictured
measure map-find
measure map-insert
echo "== lock-pairs"
"$bench/lock-pairs" --json --commit="$commit" ${PAIRS_FLAGS-} \
  >"$results/lock-pairs.json"
echo "The results are in $results."
