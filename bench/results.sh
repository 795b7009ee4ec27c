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
  test "$(grep -cE 'claim: .* (holds|unclear|fails)$|skipped: .' bench-log.$$)" -eq 9
result $? 'lock-pairs says what came of each claim'

plot=$top_builddir/bench/plot
for file in /nonexistent "$srcdir/bench/results.sh"; do
  "$plot" $results/none "$file" >bench-log.$$ 2>bench-err.$$
  test $? = 1 && test "$(wc -l <bench-err.$$)" -eq 1 && ! test -s bench-log.$$
  result $? "plot $(basename "$file")"
done
echo 1..5
