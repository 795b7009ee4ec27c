#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs every command of ovstest at a size for CI.  Each run compares the content
# of its maps with what the recorded draws say; here its exit status and its
# output are looked at.
ovstest=${top_builddir-.}/${OVSTEST-tests/ovstest}
checker=${srcdir-.}/tests/check-benchmark-json.pl
unset OVSTHREAD_ELISION
n=0
trap 'rm -f runs-out.$$ runs-err.$$ runs-plot.$$' EXIT

result() {  # STATUS NAME
  n=$((n + 1))
  case $1 in
    0) echo "ok $n - $2" ;;
    77) echo "ok $n - $2 # SKIP $(cat runs-err.$$)" ;;
    *)
      echo "not ok $n - $2"
      sed 's/^/# /' runs-err.$$
      ;;
  esac
}

run() { "$ovstest" "$@" >runs-out.$$ 2>runs-err.$$; }
prints() { printf "$@" | cmp -s - runs-out.$$; }

run test-cmap check 2 --elements=250 && prints '......\n'
result $? 'ovstest test-cmap check'
run test-hmap && prints '............\n'
result $? 'ovstest test-hmap'
run test-rcu && prints ''
result $? 'ovstest test-rcu'
run test-rwsem check && prints ''
result $? 'ovstest test-rwsem check'

# What the machine can do decides whether there is a TM column.
run elision --json && perl -MJSON::PP -e '
  my $json = decode_json(do { local $/; <STDIN> });
  print $json->{active} ? 1 : 0;
  exit !(length $json->{reason} && $json->{hardware_threads} >= 1);
' <runs-out.$$ >runs-plot.$$
result $? 'ovstest elision --json'
tm=$(cat runs-plot.$$)
run elision && grep -q '^Lock elision is o[nf]*: .*\.$' runs-out.$$
result $? 'ovstest elision'
OVSTHREAD_ELISION=off run elision && grep -q '^Lock elision is off: ' runs-out.$$
result $? 'OVSTHREAD_ELISION=off ovstest elision'

benchmark() {  # TM N THREADS MUTATION BATCH OPTION...
  expect="tm=$1 n=$2 threads=$3 mutation=$4 batch=$5 rounds=1 seed=1 pthread=0"
  shift
  run test-cmap benchmark "$@" --json
  status=$?
  if test $status = 0; then
    perl "$checker" $expect <runs-out.$$ 2>runs-err.$$
    status=$?
  fi
  result $status "ovstest test-cmap benchmark $*"
}

for mutation in 1 20; do
  for batch in 1 32; do
    for retire in '' --retire; do
      benchmark 0 20000 3 $mutation $batch --elision=off $retire
      benchmark "$tm" 20000 3 $mutation $batch --elision=auto $retire
      benchmark 1 20000 3 $mutation $batch --elision=always $retire
    done
  done
done

# Sizes at which something is left over, and rates at which nothing is.
benchmark 0 1 1 100 64 --elision=off
benchmark 0 1 1 0 1 --elision=off
benchmark 0 63 2 50 64 --elision=off
benchmark 0 1000 4 100 7 --elision=off --retire
benchmark 0 1000 1 0.1 33 --elision=off

# The environment is stronger than the command line.
OVSTHREAD_ELISION=off benchmark 0 1000 2 10 1 --elision=auto
OVSTHREAD_ELISION=off run test-cmap benchmark 1000 2 10 --elision=always
test $? = 77 && ! test -s runs-out.$$ && test "$(wc -l <runs-err.$$)" = 1
result $? 'OVSTHREAD_ELISION=off ovstest test-cmap benchmark --elision=always'

run test-cmap benchmark 1000 2 10 4 --locks=pthread --repeat=3 --seed=5 --pin \
  --json && perl "$checker" tm="$tm" n=1000 threads=2 mutation=10 batch=4 \
  rounds=3 seed=5 pthread=1 <runs-out.$$ 2>runs-err.$$
result $? 'ovstest test-cmap benchmark with three columns'

run test-cmap benchmark 1000 2 10 1 --repeat=2 &&
  test "$(grep -Ec '^(batched cmap|cmap|hmap) (insert|iterate|destroy): +[0-9.]+ ms$' \
    runs-out.$$)" = 9 &&
  test "$(grep -Ec '^(batched cmap|cmap|hmap) search: +[0-9.]+ / ([0-9.]+|n/a) ms' \
    runs-out.$$)" = 3 && ! test -s runs-err.$$
result $? 'ovstest test-cmap benchmark as text'

run test-cmap sweep 1000 2 8 --repeat=1 --svg runs-plot.$$ &&
  test "$(grep -Ec '^ +[0-9.]+ %( +[0-9.]+){3,}$' runs-out.$$)" = 8 &&
  test "$(head -c 5 runs-plot.$$)" = '<svg ' &&
  test "$(tail -n 1 runs-plot.$$)" = '</svg>' &&
  test "$(grep -c '<polyline' runs-plot.$$)" = $((3 + 3 * tm))
result $? 'ovstest test-cmap sweep --svg'
run test-cmap sweep 1000 2 --repeat=1 --csv &&
  test "$(wc -l <runs-out.$$)" = 25 &&
  test "$(awk -F, '{print NF}' runs-out.$$ | sort -u)" = 9
result $? 'ovstest test-cmap sweep --csv'
run test-cmap sweep 1000 2 --repeat=1 --json && perl -MJSON::PP -e '
  my $json = decode_json(do { local $/; <STDIN> });
  exit !(@{$json->{sweep}} == 8 && @{$json->{sweep}[7]{results}} == 12);
' <runs-out.$$
result $? 'ovstest test-cmap sweep --json'
echo "1..$n"
