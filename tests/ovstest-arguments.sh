#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A wrong command line of any command of ovstest gets one line on stderr that
# names the command and says what is wrong, exit status 2, and nothing on stdout.
ovstest=${top_builddir-.}/tests/ovstest
address_space=unlimited
unset OVSTHREAD_ELISION
n=0
trap 'rm -f arguments-out.$$ arguments-err.$$' EXIT

result() {  # STATUS NAME
  n=$((n + 1))
  if test "$1" = 0; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi
}

# The words of the command line, then "::" and words that the line must contain.
refuses() {
  given=
  text=
  after=false
  for word; do
    if test "$word" = ::; then after=true
    elif $after; then text="$text${text:+ }$word"
    else given="$given $word"
    fi
  done
  (ulimit -v $address_space && "$ovstest" $given) \
    >arguments-out.$$ 2>arguments-err.$$
  status=$?
  lines=$(wc -l <arguments-err.$$)
  if test "$status" = 2 && test "$lines" -eq 1 && ! test -s arguments-out.$$ &&
    grep -q "^ovstest" arguments-err.$$ && grep -qF -e "$text" arguments-err.$$
  then
    result 0 "ovstest$given"
  else
    result 1 "ovstest$given"
    echo "# status $status, $lines lines, expected: $text"
    sed 's/^/# /' arguments-out.$$ arguments-err.$$
  fi
}

refuses :: a command is missing
refuses bench :: no command
refuses test-cmap :: test-cmap check
refuses test-cmap benchmarks :: test-cmap benchmark
refuses --json :: no command

benchmark='test-cmap benchmark'
refuses $benchmark :: N is missing
refuses $benchmark 100 :: THREADS is missing
refuses $benchmark 100 2 :: MUTATION% is missing
refuses $benchmark 0 2 10 :: from 1 to 4294967295
refuses $benchmark -100 2 10 :: from 1 to 4294967295
refuses $benchmark 100x 2 10 :: from 1 to 4294967295
refuses $benchmark 1e3 2 10 :: from 1 to 4294967295
refuses $benchmark 4294967296 2 10 :: from 1 to 4294967295
refuses $benchmark 99999999999999999999 2 10 :: from 1 to 4294967295
refuses $benchmark 100 0 10 :: from 1 to 1024
refuses $benchmark 100 -2 10 :: from 1 to 1024
refuses $benchmark 100 1025 10 :: from 1 to 1024
refuses $benchmark 100 2 101 :: from 0 to 100
refuses $benchmark 100 2 -1 :: from 0 to 100
refuses $benchmark 100 2 nan :: from 0 to 100
refuses $benchmark 100 2 10% :: from 0 to 100
refuses $benchmark 100 2 10 0 :: from 1 to 64
refuses $benchmark 100 2 10 65 :: from 1 to 64
refuses $benchmark 100 2 10 -1 :: from 1 to 64
refuses $benchmark 100 2 10 1 1 :: one argument too many

for command in "$benchmark 100 2 10" 'test-cmap sweep 100'; do
  refuses $command --elision=on :: one of auto, always, off
  refuses $command --elision :: needs a value
  refuses $command --locks=std :: one of ovs, pthread
  refuses $command --repeat=0 :: from 1 to 1000
  refuses $command --repeat 1001 :: from 1 to 1000
  refuses $command --repeat=-1 :: from 1 to 1000
  refuses $command --seed=-1 :: from 0 to 18446744073709551615
  refuses $command --seed=x :: from 0 to 18446744073709551615
  refuses $command --retire=yes :: takes no value
  refuses $command --json=yes :: takes no value
  refuses $command --pin=1 :: takes no value
  refuses $command --threads=2 :: no option
  refuses $command -q :: no option
done

sweep='test-cmap sweep'
refuses $sweep 0 :: from 1 to 4294967295
refuses $sweep -1 :: from 1 to 4294967295
refuses $sweep 100 0 :: from 1 to 1024
refuses $sweep 100 2 65 :: from 1 to 64
refuses $sweep 100 2 1 1 :: one argument too many
refuses $sweep 100 --csv --json :: exclude each other
refuses $sweep 100 --csv=yes :: takes no value
refuses $sweep 100 --svg= :: the name of a file
refuses $sweep 100 --svg=/nonexistent/plot.svg :: "can't be written"

refuses test-cmap check 0 :: from 1 to 1000000
refuses test-cmap check -1 :: from 1 to 1000000
refuses test-cmap check many :: from 1 to 1000000
refuses test-cmap check 1 2 :: one argument too many
refuses test-cmap check --seed=x :: from 0 to
refuses test-cmap check --elements=0 :: from 1 to 100000
refuses test-cmap check --json :: no option
refuses test-hmap 1 :: one argument too many
refuses test-hmap --seed= :: from 0 to
refuses test-hmap --json :: no option
refuses test-rcu 1 :: one argument too many
refuses test-rcu --json :: no option
refuses test-rwsem check 1 :: one argument too many
refuses test-rwsem check --json :: no option
refuses elision on :: one argument too many
refuses elision --pin :: no option
refuses elision --json=1 :: takes no value
refuses stats x :: from 1 to 4194304
refuses stats 0 :: from 1 to 4194304
refuses stats -1 :: from 1 to 4194304
refuses stats 4194305 :: from 1 to 4194304
refuses stats 1 2 :: one argument too many
refuses stats 1 --all :: exclude each other
refuses stats --all --json --prometheus :: exclude each other
refuses stats --all --watch=0 :: from 1 to 86400
refuses stats --all --watch=soon :: from 1 to 86400
refuses stats --all --sort=pid :: one of lock, site, acquired, elided, aborts
refuses stats --all --sort :: needs a value
refuses stats --all --once :: no option

# An address space of 400 MB stands for a small machine.
address_space=400000
if (ulimit -v $address_space && "$ovstest" --version) >/dev/null 2>&1; then
  refuses $benchmark 20000000 4 10 1 :: of memory, but
  refuses $benchmark 20000000 4 10 1 --retire :: of memory, but
  refuses $sweep 20000000 :: of memory, but
else
  n=$((n + 1))
  echo "ok $n - a map that does not fit # SKIP address space can't be limited"
fi
address_space=unlimited

# Help and version go to stdout.
for command in '' 'test-cmap check' "$benchmark" "$sweep" test-hmap test-rcu \
  'test-rwsem check' elision stats; do
  "$ovstest" $command --help >arguments-out.$$ 2>arguments-err.$$ &&
    ! test -s arguments-err.$$ &&
    grep -q "^usage: ovstest${command:+ $command}" arguments-out.$$
  result $? "ovstest $command --help"
done
version=$("$ovstest" --version) && echo "$version" |
  grep -q '^ovstest (libovsthread) [0-9][0-9.]*$'
result $? 'ovstest --version'

# Output that can't be written is an error.
if test -w /dev/full; then
  "$ovstest" elision >/dev/full 2>arguments-err.$$
  test $? = 1 && grep -q "can't write to stdout" arguments-err.$$
  result $? 'ovstest elision >/dev/full'
fi
echo "1..$n"
