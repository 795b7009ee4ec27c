# SPDX-License-Identifier: Apache-2.0
#
# OVS_CHECK_GLIBC_TSX
# -------------------
# Finds the version of the GNU C library that is compiled against and whether
# its own pthread locks can elide: they could on x86-64 from 2.21 to 2.42, since
# 2.27 only where the tunable glibc.elision.enable is set to 1.  The locks of
# this library are its own and take no notice; the answer matters to who
# compares the two, because pthread's are a baseline only while they do not
# elide.
#
# Sets ovs_cv_glibc_version to MAJOR * 1000 + MINOR, 0 where the C library is
# another, and ovs_glibc_tsx to a sentence for the summary, which is substituted
# as GLIBC_TSX.  Right when cross compiling: the headers of the target are asked
# and nothing is run.
AC_DEFUN([OVS_CHECK_GLIBC_TSX], [
  AC_CACHE_CHECK([for the version of the GNU C library],
    [ovs_cv_glibc_version], [
    AC_COMPUTE_INT([ovs_cv_glibc_version], [__GLIBC__ * 1000 + __GLIBC_MINOR__],
      [[#include <limits.h>]], [ovs_cv_glibc_version=0])
  ])
  ovs_glibc=`expr $ovs_cv_glibc_version / 1000`.`expr $ovs_cv_glibc_version % 1000`
  AS_IF(
    [test $ovs_cv_glibc_version = 0],
      [ovs_glibc_tsx="do not elide (not the GNU C library)"],
    [test "$host_cpu" != x86_64],
      [ovs_glibc_tsx="do not elide (glibc $ovs_glibc, no TSX on $host_cpu)"],
    [test $ovs_cv_glibc_version -lt 2021],
      [ovs_glibc_tsx="do not elide (glibc $ovs_glibc, before 2.21)"],
    [test $ovs_cv_glibc_version -gt 2042],
      [ovs_glibc_tsx="do not elide (glibc $ovs_glibc: removed after 2.42)"],
    [test $ovs_cv_glibc_version -lt 2027],
      [ovs_glibc_tsx="may elide (glibc $ovs_glibc, if it was built with --enable-lock-elision)"],
    [ovs_glibc_tsx="elide only under GLIBC_TUNABLES=glibc.elision.enable=1 (glibc $ovs_glibc)"])
  AC_SUBST([GLIBC_TSX], [$ovs_glibc_tsx])
])
