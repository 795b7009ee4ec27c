# SPDX-License-Identifier: Apache-2.0
#
# OVS_ENABLE_SANITIZER
# --------------------
# Adds --enable-sanitizer=LIST, which compiles and links everything with
# -fsanitize=LIST, such as address,undefined or thread.  Undefined behaviour
# ends the program instead of only printing a line, so that tests fail by it.
# The address of a thread-local variable is not checked for null, nor any other:
# g++ takes the answer from the addition that makes the address, which the linker
# may replace by one that gives no answer.
# Substitutes SANITIZER, the list, and SANITIZER_FLAGS, both empty
# by default.
AC_DEFUN([OVS_ENABLE_SANITIZER], [
  AC_ARG_ENABLE([sanitizer],
    [AS_HELP_STRING([--enable-sanitizer=LIST],
      [build with -fsanitize=LIST, e.g. address,undefined or thread])],
    [], [enable_sanitizer=no])
  SANITIZER=
  SANITIZER_FLAGS=
  AS_CASE([$enable_sanitizer],
    [no], [],
    [yes | ''], [AC_MSG_ERROR([--enable-sanitizer needs a list, such as address,undefined])],
    [
      SANITIZER=$enable_sanitizer
      SANITIZER_FLAGS="-fsanitize=$enable_sanitizer -fno-sanitize-recover=all -fno-omit-frame-pointer"
      AS_CASE([$enable_sanitizer], [*undefined*],
        [SANITIZER_FLAGS="$SANITIZER_FLAGS -fno-sanitize=null"])
      AS_VAR_PUSHDEF([cache], [ovs_cv_sanitizer_$enable_sanitizer])
      AC_CACHE_CHECK([whether $CXX links with -fsanitize=$enable_sanitizer], [cache], [
        ovs_save_CXXFLAGS=$CXXFLAGS
        CXXFLAGS="$CXXFLAGS $SANITIZER_FLAGS"
        AC_LANG_PUSH([C++])
        AC_LINK_IFELSE([AC_LANG_PROGRAM()],
          [AS_VAR_SET([cache], [yes])], [AS_VAR_SET([cache], [no])])
        AC_LANG_POP([C++])
        CXXFLAGS=$ovs_save_CXXFLAGS
      ])
      AS_VAR_IF([cache], [yes], [],
        [AC_MSG_ERROR([--enable-sanitizer=$enable_sanitizer: $CXX does not link with it])])
      AS_VAR_POPDEF([cache])
    ])
  AC_SUBST([SANITIZER])
  AC_SUBST([SANITIZER_FLAGS])
])
