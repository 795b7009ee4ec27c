/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C headers share: Open vSwitch's openvswitch/util.h, or what stands
 * in for it, the place of a call, and a step of the maps' loops. */
#ifndef OVSTHREAD_UTIL_H
#define OVSTHREAD_UTIL_H 1

#include <stddef.h>

/* In angle brackets: a quoted name would be looked for beside this file
 * first. */
#if __has_include(<openvswitch/util.h>)
#include <openvswitch/util.h>
#else
#include "../fallback/openvswitch/util.h"
#endif

/* A constant "FILE:LINE" that names the place of a macro's use. */
#define OVSTHREAD_WHERE OVSTHREAD_WHERE__(__LINE__)
#define OVSTHREAD_WHERE__(LINE) OVSTHREAD_WHERE2__(LINE)
#define OVSTHREAD_WHERE2__(LINE) __FILE__ ":" #LINE

static inline void *ovsthread_object__(void *node, size_t offset) {
  return node ? (char *)node - offset : NULL;
}

/* Points OBJECT to what has the node ITER as its MEMBER, or to NULL, and reads
 * it, lest compilers complain of a variable that is only set. */
#define OVSTHREAD_ASSIGN__(OBJECT, MEMBER, ITER)       \
  ((OBJECT) = (__typeof__(OBJECT))ovsthread_object__(  \
       ITER, offsetof(__typeof__(*(OBJECT)), MEMBER)), \
   (void)(OBJECT))

#endif /* OVSTHREAD_UTIL_H */
