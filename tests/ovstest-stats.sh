#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# ovstest stats on a running benchmark that publishes its statistics: what it
# prints, how it ends, and what it says when there is nothing to print.
ovstest=${top_builddir-.}/${OVSTEST-tests/ovstest}
unset OVSTHREAD_ELISION OVSTHREAD_STATS
n=0
first=
second=
trap 'kill -9 $first $second 2>/dev/null
      rm -f stats-out.$$ stats-err.$$ stats-watch.$$ "/dev/shm/ovsthread-stats.$$"' EXIT

if ! test -w /dev/shm; then
  echo "1..0 # SKIP no /dev/shm"
  exit 0
fi

result() {  # STATUS NAME
  n=$((n + 1))
  if test "$1" = 0; then
    echo "ok $n - $2"
  else
    echo "not ok $n - $2"
    sed 's/^/# /' stats-out.$$ stats-err.$$
  fi
}

stats() { "$ovstest" stats "$@" >stats-out.$$ 2>stats-err.$$; }

# fails STATUS TEXT WORD...: one line on stderr that has TEXT, none on stdout.
fails() {
  expected=$1
  text=$2
  shift 2
  stats "$@"
  test $? = "$expected" && ! test -s stats-out.$$ &&
    test "$(wc -l <stats-err.$$)" -eq 1 && grep -qF -e "$text" stats-err.$$
  result $? "ovstest stats $* fails: $text"
}

# Runs until it is killed.
start() {
  OVSTHREAD_STATS=publish "$ovstest" test-cmap benchmark 20000 2 20 \
    --repeat=1000 >/dev/null 2>&1 &
}
# Waits until process PID has taken the lock NAME.
wait_for() {  # PID NAME
  until stats "$1" && grep -q "$2" stats-out.$$; do
    kill -0 "$1" || exit 1
  done
}

start
first=$!
wait_for $first 'cmap mutex'

stats $first &&
  head -n 1 stats-out.$$ | grep -q '^LOCK  *SITE  *USE  *ACQUIRED ' &&
  grep -Eq '^cmap mutex  +locks.h:[0-9]+ .* +[0-9]+ +[0-9.]+ %' stats-out.$$ &&
  test "$(tail -n 1 stats-out.$$ | tail -c 2)" = . && ! test -s stats-err.$$
result $? 'a table and a sentence'

stats $first --json && perl -MJSON::PP -e '
  my $json = decode_json(do { local $/; <STDIN> });
  my ($entry) = grep { $_->{lock} eq "cmap mutex" } @{$json->{locks}};
  exit !($entry && $entry->{pid} == $ARGV[0] && $entry->{acquisitions} > 0 &&
         $entry->{acquisitions} == $entry->{elided} + $entry->{real} &&
         exists $entry->{aborts}{capacity} && $entry->{site} =~ /^locks\.h:/);
' $first <stats-out.$$
result $? '--json'

stats $first --prometheus && perl -ne '
  next if /^# (HELP|TYPE) ovsthread_lock_\w+ \S/;
  my $label = qr/\w+="(?:[^"\\\n]|\\[\\"n])*"/;
  next if /^ovsthread_lock_\w+\{$label(?:,$label)*\} [0-9.]+$/ && ++$samples;
  die "wrong line: $_";
  END { die "no sample\n" if !$samples }
' <stats-out.$$ 2>>stats-err.$$
result $? '--prometheus'

for column in lock site acquired elided aborts waits waited longest; do
  stats $first --sort=$column && grep -q '^cmap mutex' stats-out.$$ || break
done
result $? '--sort by each column'

start
second=$!
wait_for $second 'cmap mutex'
stats --all && grep -q "^ *$first  " stats-out.$$ &&
  grep -q "^ *$second  " stats-out.$$ && grep -q '^ *PID  LOCK ' stats-out.$$
result $? '--all'
fails 2 'processes publish their statistics; PID must be one of'

# Ends with the process, which is killed here; what it left goes, too.
"$ovstest" stats $first --watch=1 >stats-watch.$$ 2>stats-err.$$ &
watcher=$!
until grep -q 'cmap mutex' stats-watch.$$; do kill -0 $watcher || break; done
kill -9 $first
wait $watcher
status=$?
wait $first 2>/dev/null
test $status = 0 && ! test -s stats-err.$$ &&
  ! test -e /dev/shm/ovsthread-stats.$first
result $? '--watch ends with the process'
fails 1 "there is no process $first" $first
fails 1 "there is no process $first" $first --watch
kill $second
wait $second 2>/dev/null
fails 1 "there is no process $second" $second

fails 1 "process $$ publishes nothing" $$
exec 9>/dev/shm/ovsthread-stats.$$
flock 9  # as who publishes
echo nonsense >&9
fails 1 "what process $$ publishes is damaged" $$
exec 9>&-
fails 1 "process $$ publishes nothing" $$
test ! -e /dev/shm/ovsthread-stats.$$
result $? 'a leftover is removed'

# At a normal end nothing is left.
OVSTHREAD_STATS=publish "$ovstest" elision >stats-out.$$ 2>stats-err.$$ &
third=$!
wait $third && ! test -s stats-err.$$ &&
  ! test -e /dev/shm/ovsthread-stats.$third
result $? 'nothing is left behind'

OVSTHREAD_STATS=yes "$ovstest" --version >stats-out.$$ 2>stats-err.$$ &&
  test "$(wc -l <stats-err.$$)" -eq 1 &&
  grep -q 'OVSTHREAD_STATS=yes: not off, on or publish' stats-err.$$
result $? 'OVSTHREAD_STATS=yes is one warning'

# No room, and no folder at all: one warning, and the program goes on.
for mount in 'mount -t tmpfs -o size=64k none /dev/shm' \
  'mount -t tmpfs none /dev'; do
  if unshare -m sh -c "$mount" 2>/dev/null; then
    unshare -m sh -c "$mount && OVSTHREAD_STATS=publish '$ovstest' --version" \
      >stats-out.$$ 2>stats-err.$$ && test -s stats-out.$$ &&
      test "$(wc -l <stats-err.$$)" -eq 1 &&
      grep -q 'OVSTHREAD_STATS=publish: lock statistics stay off: No s' \
        stats-err.$$
    result $? "$mount"
  else
    n=$((n + 1))
    echo "ok $n - $mount # SKIP it can't be mounted here"
  fi
done
echo "1..$n"
