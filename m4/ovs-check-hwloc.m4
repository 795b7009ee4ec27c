# SPDX-License-Identifier: Apache-2.0
#
# OVS_CHECK_HWLOC
# ---------------
# Adds --without-hwloc, with which the library sees of the machine's topology
# only the affinity mask.  Defines HAVE_HWLOC to 1 or 0 and substitutes
# HWLOC_CFLAGS, HWLOC_LIBS and, for ovsthread.pc, HWLOC_REQUIRES.
AC_DEFUN([OVS_CHECK_HWLOC], [
  AC_ARG_WITH([hwloc],
    [AS_HELP_STRING([--without-hwloc],
      [see of the machine's topology only the affinity mask])],
    [], [with_hwloc=yes])
  HWLOC_REQUIRES=
  AS_IF([test "$with_hwloc" = no], [ovs_have_hwloc=0], [
    PKG_CHECK_MODULES([HWLOC], [hwloc >= 2.0], [],
      [AC_MSG_ERROR([hwloc was not found: install libhwloc-dev, or do without by --without-hwloc])])
    ovs_have_hwloc=1
    HWLOC_REQUIRES=hwloc
  ])
  AC_SUBST([HWLOC_REQUIRES])
  AC_DEFINE_UNQUOTED([HAVE_HWLOC], [$ovs_have_hwloc],
    [1 to read the machine's topology through hwloc, else 0.])
])
