/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files NAME-calls.c have in common.  Each uses one header of the C
 * interface as programs do, is valid C and C++, and defines a function that
 * runs its checks: CALLS(NAME) returns NULL, or the first check that failed.
 * compile.sh sees to it that no use draws a warning; test-calls.cc runs each
 * file in both languages. */
#ifndef OVSTHREAD_TESTS_COMPAT_CALLS_H_
#define OVSTHREAD_TESTS_COMPAT_CALLS_H_

#include <stddef.h>

#define CALLS_STRING2(X) #X
#define CALLS_STRING(X) CALLS_STRING2(X)

/* Returns from the calling function if CONDITION is false. */
#define CHECK(CONDITION)                                          \
  do {                                                            \
    if (!(CONDITION)) {                                           \
      return __FILE__ ":" CALLS_STRING(__LINE__) ": " #CONDITION; \
    }                                                             \
  } while (0)

#ifdef __cplusplus
#define CALLS(NAME) NAME##_calls_cxx
extern "C" {
#else
#define CALLS(NAME) NAME##_calls_c
#endif

/* Size and alignment of a type, or offset and size of a member. */
struct layout {
  const char *name;
  size_t first, second;
};

const char *cmap_calls_c(void);
const char *cmap_calls_cxx(void);
const char *hmap_calls_c(void);
const char *hmap_calls_cxx(void);
const char *lock_calls_c(void);
const char *lock_calls_cxx(void);
const struct layout *layout_calls_c(size_t *n);
const char *lock_calls_c(void);
const char *lock_calls_cxx(void);
const struct layout *layout_calls_cxx(size_t *n);
const char *rcu_calls_c(void);
const char *rcu_calls_cxx(void);
const char *thread_calls_c(void);
const char *thread_calls_cxx(void);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_TESTS_COMPAT_CALLS_H_ */
