#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Where the built library starts transactions: in the elision engine's one
# function alone, and right behind the count of started transactions, so that a
# count of 0 proves that not one was started.  A library that was configured
# with --disable-lock-elision, or for another CPU, has no RTM instruction.
library=$top_builddir/lib/.libs/libovsthread.so
echo 1..9

# Reads what objdump -d prints; prints a line for each RTM instruction that is
# where it must not be, given whether the library has any (1 or 0).
findings() {
  ${AWK-awk} -v have_rtm="$1" '
    /^[0-9a-f]+ <.*>:$/ {
      symbol = $0
      sub(/^[0-9a-f]+ </, "", symbol)
      sub(/>:$/, "", symbol)
      counted = added = 0
      next
    }
    /\t(xbegin|xend|xabort|xtest)/ && !have_rtm {
      print symbol ": an RTM instruction"
      next
    }
    /\txbegin/ {
      ++begins
      if (symbol !~ /elision::Engine<.*>::outermost\(/)
        print symbol ": starts a transaction outside the engine"
      if (!counted) print symbol ": starts a transaction that is not counted"
      next
    }
    # The increment of a counter in memory: one added in a register, then the
    # register stored; or both at once; or, without optimisation, a call.
    /\tadd[ql]? +\$0x1,%/ || /\tinc[ql]? +%/ {
      added = $NF
      sub(/.*,/, "", added)
      next
    }
    added && index($0, "mov") && $NF ~ ("^" added ",.*\\(%") { counted = 1; next }
    /\t(add[ql]|inc[ql]) .*\(%/ || /\tcall .*::increment\(\)/ { counted = 1; next }
    # What must not come in between: another way to the instruction behind.
    /\t(j|ret|call)/ { counted = added = 0 }
    END { if (have_rtm && begins != 1) print begins + 0 " xbegin instead of 1" }'
}

# expect NAME HAVE_RTM FINDING: compares FINDING, "" for none, with what is found
# in standard input.
expect() {
  found=$(findings "$2")
  if test "$found" = "$3"; then
    echo "ok - $1"
  else
    echo "$found" | sed 's/^/#   /'
    echo "not ok - $1"
  fi
}

# A disassembly of function $1 with the given instructions, one argument each.
code() {
  echo "0000000000001000 <$1>:"
  shift
  printf '    1000:\t%s\n' "$@"
}
engine='ovsthread::elision::Engine<X, Y>::outermost(int)'
add='add    $0x1,%rax'
store='mov    %rax,0x10(%r8)'
clear='mov    $0xffffffff,%eax'
begin='xbegin 1006 <f>'

code "$engine" "$add" "$store" "$clear" "$begin" |
  expect "a counted transaction of the engine is right" 1 ""
code "$engine" 'addq   $0x1,0x10(%r8)' "$clear" "$begin" |
  expect "so is one counted in memory" 1 ""
code "$engine" "$clear" "$begin" |
  expect "a transaction that is not counted is found" 1 \
    "$engine: starts a transaction that is not counted"
code "$engine" "$add" "$store" 'jne    1010 <f>' "$begin" |
  expect "so is one that can be reached without the count" 1 \
    "$engine: starts a transaction that is not counted"
code "$engine" "$add" 'mov    %rbx,0x10(%r8)' "$begin" |
  expect "so is one whose count is not stored" 1 \
    "$engine: starts a transaction that is not counted"
code 'ovsthread::mutex_lock(int)' "$add" "$store" "$begin" |
  expect "a transaction outside the engine is found" 1 \
    "ovsthread::mutex_lock(int): starts a transaction outside the engine"
code f 'ret' | expect "a library without any is found" 1 "0 xbegin instead of 1"
code f 'xtest' |
  expect "an instruction where there must be none is found" 0 \
    "f: an RTM instruction"

if grep -q 'OVSTHREAD_HAVE_RTM 1' "$top_builddir/config.h"; then
  have_rtm=1
  name="the library starts transactions in the engine alone, counted"
else
  have_rtm=0
  name="the library has no RTM instruction"
fi
if test ! -f "$library"; then
  echo "ok - $name # SKIP no shared library was built"
elif test -n "$OVSTHREAD_SANITIZER"; then
  echo "ok - $name # SKIP what -fsanitize=$OVSTHREAD_SANITIZER adds stands between"
elif ! ${OBJDUMP-objdump} -d "$library" >/dev/null 2>&1; then
  echo "ok - $name # SKIP no objdump"
else
  ${OBJDUMP-objdump} -d -C --no-show-raw-insn "$library" |
    expect "$name" $have_rtm ""
fi
