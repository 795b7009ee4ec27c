# SPDX-License-Identifier: Apache-2.0
#
# OVS_CHECK_RTM
# -------------
# Adds --enable-lock-elision[=auto|yes|no] and checks whether the compiler
# assembles the instructions of Intel RTM (xbegin, xend, xabort, xtest).  They
# are written as inline assembly, so no -mrtm is needed and no other code gets
# them.  Only the compiler is asked, never the CPU of the build machine: whether
# transactions run is found out by the program, where it runs.
#
# Defines OVSTHREAD_HAVE_RTM to 1 or 0 and sets ovs_lock_elision to "yes" or to
# "no (reason)".  The answer of the compiler is cached in ovs_cv_rtm.
AC_DEFUN([OVS_CHECK_RTM], [
  AC_ARG_ENABLE([lock-elision],
    [AS_HELP_STRING([--enable-lock-elision@<:@=auto|yes|no@:>@],
      [contain the code that runs critical sections as transactions of Intel
       RTM (auto: where the compiler can; no: not one RTM instruction in the
       library)])],
    [], [enable_lock_elision=auto])
  AC_CACHE_CHECK([whether $CXX assembles RTM instructions], [ovs_cv_rtm], [
    AC_LANG_PUSH([C++])
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [[
        unsigned status = ~0u;
        unsigned char inside;
        asm volatile("xbegin 1f\n1:" : "+a"(status) : : "memory");
        asm volatile("xtest\n\tsetnz %0" : "=r"(inside) : : "cc");
        asm volatile("xabort %0\n\txend" : : "i"(1) : "memory");
        static_assert(sizeof(void *) == 8, "only 64-bit machines are supported");
        ]])],
      [ovs_cv_rtm=yes], [ovs_cv_rtm=no])
    AC_LANG_POP([C++])
  ])
  AS_CASE([$enable_lock_elision,$ovs_cv_rtm],
    [auto,yes | yes,yes], [ovs_lock_elision=yes],
    [auto,no], [ovs_lock_elision="no ($CXX has no RTM instructions for $host_cpu)"],
    [yes,no],
      [AC_MSG_ERROR([--enable-lock-elision=yes: $CXX cannot assemble RTM instructions for $host_cpu; use auto or no])],
    [no,*], [ovs_lock_elision="no (--disable-lock-elision)"],
    [AC_MSG_ERROR([--enable-lock-elision=$enable_lock_elision: must be auto, yes or no])])
  AS_IF([test "$ovs_lock_elision" = yes], [ovs_have_rtm=1], [ovs_have_rtm=0])
  AC_DEFINE_UNQUOTED([OVSTHREAD_HAVE_RTM], [$ovs_have_rtm],
    [1 if the library contains the instructions of Intel RTM, else 0.])
])
