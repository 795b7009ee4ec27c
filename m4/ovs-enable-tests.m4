# SPDX-License-Identifier: Apache-2.0
#
# OVS_ENABLE_TESTS
# ----------------
# Adds --enable-tests[=auto|yes|no]: whether to build tests/ and bench/, which
# need packages that the library itself does not.  auto, the default, builds
# them where they are found, and not when cross compiling, where pkg-config
# would answer for the build machine.  Sets the conditional ENABLE_TESTS and
# ovs_tests for the summary.
# Looks for oneTBB, whose locks the benchmarks measure beside the library's where
# it is found.  Defines HAVE_TBB to 1 or 0, substitutes TBB_CFLAGS and TBB_LIBS,
# and sets ovs_tbb for the summary.
# Adds --disable-interleaving-tests, which leaves out tests/interleave/: they
# take long to compile, and what they search does not depend on the compiler.  A
# build with sanitizers, which cannot follow their fibers, leaves them out too.
# Adds --disable-scripted-tests, which leaves out tests/scripted/: they compile
# the library again and bring their own transactions, whatever the CPU.  A build
# with the thread sanitizer, which cannot follow stacks that are put back, leaves
# them out too.  Sets the conditionals ENABLE_INTERLEAVING_TESTS and
# ENABLE_SCRIPTED_TESTS.  Comes after OVS_ENABLE_SANITIZER.
AC_DEFUN([OVS_ENABLE_TESTS], [
  AC_ARG_ENABLE([tests],
    [AS_HELP_STRING([--enable-tests@<:@=auto|yes|no@:>@],
      [build ovstest, the tests and the benchmarks (auto: where GoogleTest,
       Google Benchmark, Abseil and Relacy are found)])],
    [], [enable_tests=auto])
  ovs_missing=
  AS_CASE([$enable_tests,$cross_compiling],
    [no,*], [ovs_tests="no (--disable-tests)"],
    [auto,yes], [ovs_tests="no (cross compiling)"],
    [auto,* | yes,*], [
      PKG_CHECK_MODULES([GTEST], [gtest], [], [ovs_missing="$ovs_missing libgtest-dev"])
      PKG_CHECK_MODULES([BENCHMARK], [benchmark], [], [ovs_missing="$ovs_missing libbenchmark-dev"])
      PKG_CHECK_MODULES([ABSL],
        [absl_strings absl_str_format absl_status absl_statusor absl_synchronization absl_time absl_random_random absl_flat_hash_map],
        [], [ovs_missing="$ovs_missing libabsl-dev"])
      AC_CHECK_HEADER([relacy/relacy.hpp], [], [ovs_missing="$ovs_missing relacy-dev"])
      AS_IF([test -z "$ovs_missing"], [ovs_tests=yes],
        [test $enable_tests = yes],
          [AC_MSG_ERROR([--enable-tests: install$ovs_missing])],
        [ovs_tests="no (not found:$ovs_missing)"])
    ],
    [AC_MSG_ERROR([--enable-tests=$enable_tests: must be auto, yes or no])])
  AM_CONDITIONAL([ENABLE_TESTS], [test "$ovs_tests" = yes])
  ovs_have_tbb=0
  AS_CASE([$ovs_tests,$SANITIZER],
    [no*], [ovs_tbb="no (no benchmarks)"],
    [*,*thread*], [ovs_tbb="no (the thread sanitizer cannot look into it)"],
    [PKG_CHECK_MODULES([TBB], [tbb >= 2021],
      [ovs_have_tbb=1
       ovs_tbb=yes],
      [ovs_tbb="no (not found: libtbb-dev)"])])
  AC_DEFINE_UNQUOTED([HAVE_TBB], [$ovs_have_tbb],
    [1 to compare with the locks of oneTBB in benchmarks, else 0.])
  AC_ARG_ENABLE([interleaving-tests],
    [AS_HELP_STRING([--disable-interleaving-tests],
      [leave out the searches of tests/interleave/])],
    [], [enable_interleaving_tests=yes])
  AM_CONDITIONAL([ENABLE_INTERLEAVING_TESTS],
    [test "$enable_interleaving_tests" != no && test -z "$SANITIZER"])
  AC_ARG_ENABLE([scripted-tests],
    [AS_HELP_STRING([--disable-scripted-tests],
      [leave out the tests on scripted transactions, tests/scripted/])],
    [], [enable_scripted_tests=yes])
  AM_CONDITIONAL([ENABLE_SCRIPTED_TESTS],
    [AS_CASE([$enable_scripted_tests,$SANITIZER], [no,* | *,*thread*], [false], [:])])
])
