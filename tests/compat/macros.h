/* SPDX-License-Identifier: Apache-2.0
 *
 * For the files of this folder that use macros other than loops: MACROS(name)
 * is the function that runs one of them in one language.  As loops.h. */
#ifndef OVSTHREAD_TESTS_COMPAT_MACROS_H_
#define OVSTHREAD_TESTS_COMPAT_MACROS_H_

#include "tests/compat/loops.h"

#ifdef __cplusplus
#define MACROS(NAME) NAME##_macros_cxx
extern "C" {
#else
#define MACROS(NAME) NAME##_macros_c
#endif

const char *rcu_macros_c(void);
const char *rcu_macros_cxx(void);
const char *thread_macros_c(void);
const char *thread_macros_cxx(void);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_TESTS_COMPAT_MACROS_H_ */
