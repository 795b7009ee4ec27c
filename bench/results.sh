#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs what "make bench" runs, at a size that takes no time, and looks at what it
# leaves.
results=bench-results.$$
trap 'rm -rf "$results" bench-log.$$ bench-err.$$' EXIT

# result STATUS NAME
result() {
  test "$1" = 0 && echo "ok - $2" || { sed 's/^/# /' bench-log.$$ && echo "not ok - $2"; }
}

# One kind of section, the smallest maps, and the floors.
BENCH_FLAGS='--benchmark_min_time=0.0001 --benchmark_min_warmup_time=0
  --benchmark_filter=/counter/|/1024$|^atomic|^transaction' \
  PAIRS_FLAGS='--rounds=2 --sections=100' \
  sh "$srcdir/bench/run.sh" $results >bench-log.$$ 2>&1
result $? 'the micro-benchmarks run'

perl "$srcdir/bench/check-results.pl" $results >bench-log.$$ 2>&1
result $? 'their JSON and SVG are what they must be'

# Text for people, and what plot says of files that it can't use.
pairs=$top_builddir/bench/lock-pairs
"$pairs" --rounds=2 --sections=100 >bench-log.$$ 2>&1 &&
  test "$(grep -cE 'claim: .* (holds|unclear|fails)$|skipped: .' bench-log.$$)" -eq 10
result $? 'lock-pairs says what came of each claim'

# Three rounds of two cells, each perhaps once more.
"$top_builddir/bench/elision-modes" --elements=100 --rounds=3 --threads=2 \
  --mutation=10 >bench-log.$$ 2>&1 &&
  test "$(grep -cE ' (cmap|hmap) .* (holds|fails)$' bench-log.$$)" -ge 2 &&
  grep -qE '^[0-2] of 2 cells fail; geometric mean [0-9.]+: (holds|fails)$' bench-log.$$
result $? 'elision-modes says what came of each cell'

# Without transactions there is nothing to follow.
"$top_builddir/bench/elision-phases" --rounds=2 --sections=1000 >bench-log.$$ 2>&1
case $? in
  0) test "$(grep -cE ': (holds|unclear|fails)$' bench-log.$$)" -eq 3 ;;
  77) test "$(wc -l <bench-log.$$)" -eq 1 ;;
  *) false ;;
esac
result $? 'elision-phases says how soon mode auto follows, or why not'

plot=$top_builddir/bench/plot
for file in /nonexistent "$srcdir/bench/results.sh"; do
  "$plot" $results/none "$file" >bench-log.$$ 2>bench-err.$$
  test $? = 1 && test "$(wc -l <bench-err.$$)" -eq 1 && ! test -s bench-log.$$
  result $? "plot $(basename "$file")"
done
echo 1..7
