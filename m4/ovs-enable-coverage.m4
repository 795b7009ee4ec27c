# SPDX-License-Identifier: Apache-2.0
#
# OVS_ENABLE_COVERAGE
# -------------------
# Adds --enable-coverage, which compiles and links everything so that programs
# count the lines and branches that they run, for "make check-coverage".  Without
# optimisation, unless the user gives CFLAGS or CXXFLAGS: a compiler that merges
# lines counts them together.  Needs g++ and its gcov.  Defines OVSTHREAD_COVERAGE
# to 1 or 0 and substitutes COVERAGE_FLAGS and GCOV.  Comes after AC_PROG_CXX.
AC_DEFUN([OVS_ENABLE_COVERAGE], [
  AC_ARG_VAR([GCOV], [the gcov of the compiler, for --enable-coverage])
  AC_ARG_ENABLE([coverage],
    [AS_HELP_STRING([--enable-coverage],
      [count what lines and branches run, for make check-coverage])],
    [], [enable_coverage=no])
  COVERAGE_FLAGS=
  ovs_coverage=0
  AS_IF([test "$enable_coverage" != no], [
    ovs_coverage=1
    AC_CHECK_TOOL([GCOV], [gcov])
    AC_LANG_PUSH([C++])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [[
        #if !defined __GNUC__ || defined __clang__
        #error "not g++"
        #endif
        ]])],
      [], [GCOV=])
    AC_LANG_POP([C++])
    AS_IF([test -z "$GCOV"],
      [AC_MSG_ERROR([--enable-coverage: needs g++ and gcov])])
    # Threads count at the same time.
    COVERAGE_FLAGS="--coverage -fprofile-update=atomic"
    AS_IF([test -z "$ac_env_CFLAGS_set"], [CFLAGS="-g -O0"])
    AS_IF([test -z "$ac_env_CXXFLAGS_set"], [CXXFLAGS="-g -O0"])
  ])
  AC_SUBST([COVERAGE_FLAGS])
  AC_DEFINE_UNQUOTED([OVSTHREAD_COVERAGE], [$ovs_coverage],
    [1 if what runs is counted, else 0.])
])
