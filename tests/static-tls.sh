#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Static TLS of the shared library stays under 256 bytes: a program that loads it
# with dlopen() has little to spare, and the library's blocks must be there
# before a transaction touches them.
library=$top_builddir/lib/.libs/libovsthread.so
echo 1..2

headers=$(${READELF-readelf} -lW "$library")
size=$(echo "$headers" | awk '$1 == "TLS" { print $6 }')
if test -n "$size" && test $((size)) -lt 256; then
  echo "ok 1 - static TLS: $((size)) bytes"
else
  echo "not ok 1 - static TLS: $((size)) bytes, 256 or more"
fi

# Any other model calls a function that may allocate.
calls=$(${OBJDUMP-objdump} -dR "$library" | grep -c __tls_get_addr)
if test "$calls" = 0; then
  echo "ok 2 - initial-exec model only"
else
  echo "not ok 2 - $calls mentions of __tls_get_addr"
fi
