#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Shows that tests/run-test and the TAP listener report each outcome of a test
# as what it is: an error here would turn failures into passes.
program=${top_builddir-.}/tests/tap-sample
run_test=${srcdir-.}/tests/run-test
unset OVSTHREAD_TEST_WRAPPER
n=0

# expect NAME COMMAND...: compares what COMMAND prints with standard input.
expect() {
  name=$1
  shift
  n=$((n + 1))
  want=$(cat)
  got=$("$@" 2>/dev/null | sed 's/^# [^ ]*\(tap-sample.cc\):[0-9]*/# \1/')
  if test "$got" = "$want"; then
    echo "ok $n - $name"
  else
    echo "not ok $n - $name"
    echo "$got" | sed 's/^/#   /'
  fi
}

once() { sh "$run_test" "$program" --gtest_filter="$1"; }

expect "a passing test" once Sample.Passes <<'EOF'
ok 1 - Sample.Passes
1..1
EOF

expect "a skipped test is no pass" once Sample.Skips <<'EOF'
ok 1 - Sample.Skips # SKIP first line second line
1..1
EOF

expect "a failing test" once Sample.Fails <<'EOF'
# tap-sample.cc:
#   Expected equality of these values:
#     1 + 1
#       Which is: 2
#     3
#   wrong
#   sum
not ok 1 - Sample.Fails
1..1
EOF

expect "an exit in the middle" once Sample.Passes:Sample.Exits <<'EOF'
ok 1 - Sample.Passes
not ok 2 - exit status 3
1..2
EOF

expect "an exit with status 0 in the middle" \
  once Sample.Passes:Sample.ExitsWithSuccess <<'EOF'
ok 1 - Sample.Passes
not ok 2 - ended without a plan
1..2
EOF

expect "the child of a death test prints nothing" \
  once SampleDeathTest.Dies:Sample.Passes <<'EOF'
ok 1 - SampleDeathTest.Dies
ok 2 - Sample.Passes
1..2
EOF

expect "a filter that runs nothing" once Sample.NoSuchTest <<'EOF'
not ok 1 - ran no test
1..1
EOF

mkdir -p tap-test.dir/unit
trap 'rm -rf tap-test.dir' EXIT
cat >tap-test.dir/unit/modes <<EOF
#!/bin/sh
exec "$program" --gtest_filter=Sample.PrintsMode
EOF
chmod +x tap-test.dir/unit/modes
modes() { OVSTHREAD_TEST_MODES="$1" sh "$run_test" tap-test.dir/unit/modes; }

expect "a unit test runs in each mode" modes "off always" <<'EOF'
# mode off
ok 1 - off: Sample.PrintsMode
# mode always
ok 2 - always: Sample.PrintsMode
1..2
EOF

expect "a single mode" modes off <<'EOF'
# mode off
ok 1 - off: Sample.PrintsMode
1..1
EOF

expect "exit status 77 is a skip" sh "$run_test" sh -c 'exit 77' <<'EOF'
ok 1 - # SKIP exit status 77
1..1
EOF

expect "a skipped plan is a skip" \
  sh "$run_test" sh -c 'echo "1..0 # SKIP not here"' <<'EOF'
ok 1 - # SKIP not here
1..1
EOF

expect "fewer tests than planned" \
  sh "$run_test" sh -c 'echo 1..2; echo ok 1 - one' <<'EOF'
ok 1 - one
not ok 2 - planned 2 tests, ran 1
1..2
EOF

echo "1..$n"
