#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs the reference walk at a size that takes no time: it checks its own sums.
walk=${top_builddir-.}/bench/reference-walk
trap 'rm -f walk-out.$$ walk-err.$$' EXIT

"$walk" 10000 2 --rounds=3 --json >walk-out.$$ && perl -MJSON::PP -e '
  my $json = decode_json(do { local $/; <STDIN> });
  for my $way (qw(single batched)) {
      my $result = $json->{$way};
      exit 1 unless $result->{walk_ns} > 0 && $result->{map_ns} > 0
          && $result->{ratio_low} <= $result->{ratio}
          && $result->{ratio} <= $result->{ratio_high};
  }
' <walk-out.$$
test $? = 0 && echo 'ok 1 - reference-walk 10000 2' ||
  echo 'not ok 1 - reference-walk 10000 2'

"$walk" 0 1 >walk-out.$$ 2>walk-err.$$
test $? = 2 && ! test -s walk-out.$$ && test "$(wc -l <walk-err.$$)" -eq 1 &&
  echo 'ok 2 - reference-walk 0 1' || echo 'not ok 2 - reference-walk 0 1'
echo 1..2
