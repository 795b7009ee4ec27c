/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this folder have in common.  Each is valid in C and in C++,
 * and defines one function per language that runs it, LOOPS(name): NULL, or the
 * first check that failed. */
#ifndef OVSTHREAD_TESTS_COMPAT_LOOPS_H_
#define OVSTHREAD_TESTS_COMPAT_LOOPS_H_

#define LOOPS_STRING2(X) #X
#define LOOPS_STRING(X) LOOPS_STRING2(X)

/* Returns from the calling function if CONDITION is false. */
#define CHECK(CONDITION)                                          \
  do {                                                            \
    if (!(CONDITION)) {                                           \
      return __FILE__ ":" LOOPS_STRING(__LINE__) ": " #CONDITION; \
    }                                                             \
  } while (0)

#ifdef __cplusplus
#define LOOPS(NAME) NAME##_loops_cxx
extern "C" {
#else
#define LOOPS(NAME) NAME##_loops_c
#endif

const char *hmap_loops_c(void);
const char *hmap_loops_cxx(void);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_TESTS_COMPAT_LOOPS_H_ */
