/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none:
 * assertions, arithmetic, and the step from an embedded node to the object
 * around it, alone and as loops. */
#ifndef OPENVSWITCH_UTIL_H
#define OPENVSWITCH_UTIL_H 1

/* Tells the headers of the library that the fallback is in use. */
#define OVSTHREAD_FALLBACK 1

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "types.h"
#include "version.h"

/* "FILE:LINE" of the place where it is written. */
#ifndef OVS_STRINGIZE
#define OVS_STRINGIZE(ARG) OVS_STRINGIZE2(ARG)
#endif
#ifndef OVS_STRINGIZE2
#define OVS_STRINGIZE2(ARG) #ARG
#endif
#ifndef OVS_SOURCE_LOCATOR
#define OVS_SOURCE_LOCATOR __FILE__ ":" OVS_STRINGIZE(__LINE__)
#endif

/* Aborts with a message if CONDITION is false, with and without NDEBUG. */
#ifndef ovs_assert
#define ovs_assert(CONDITION) \
  (OVS_LIKELY(CONDITION)      \
       ? (void)0              \
       : ovsthread_assert_failure__(OVS_SOURCE_LOCATOR, __func__, #CONDITION))
#endif
#ifndef OVS_NOT_REACHED
#define OVS_NOT_REACHED() abort()
#endif

OVS_NO_RETURN static inline void ovsthread_assert_failure__(
    const char *where, const char *function, const char *condition) {
  fprintf(stderr, "%s: assertion %s failed in %s()\n", where, condition,
          function);
  abort();
}

/* Arithmetic.  Arguments may be evaluated twice. */
#ifndef MIN
#define MIN(X, Y) ((X) < (Y) ? (X) : (Y))
#endif
#ifndef MAX
#define MAX(X, Y) ((X) > (Y) ? (X) : (Y))
#endif
#ifndef DIV_ROUND_UP
#define DIV_ROUND_UP(X, Y) (((X) + ((Y)-1)) / (Y))
#endif
#ifndef ROUND_UP
#define ROUND_UP(X, Y) (DIV_ROUND_UP(X, Y) * (Y))
#endif
#ifndef ROUND_DOWN
#define ROUND_DOWN(X, Y) ((X) / (Y) * (Y))
#endif
#ifndef IS_POW2
#define IS_POW2(X) ((X) && !((X) & ((X)-1)))
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))
#endif

/* POINTER without const, to TYPE, which must match but for that. */
#ifndef OVS_TYPEOF
#define OVS_TYPEOF(OBJECT) __typeof__(OBJECT)
#endif
#ifndef BUILD_ASSERT_TYPE
#define BUILD_ASSERT_TYPE(POINTER, TYPE) \
  ((void)sizeof((int)((POINTER) == (TYPE)(POINTER))))
#endif
#ifndef CONST_CAST
#define CONST_CAST(TYPE, POINTER) \
  (BUILD_ASSERT_TYPE(POINTER, TYPE), (TYPE)(POINTER))
#endif

/* From POINTER, the address of MEMBER, to what contains it: a STRUCT, or an
 * object of the type that OBJECT points to.  OBJECT is not evaluated. */
#ifndef OBJECT_OFFSETOF
#define OBJECT_OFFSETOF(OBJECT, MEMBER) offsetof(__typeof__(*(OBJECT)), MEMBER)
#endif
#ifndef CONTAINER_OF
#define CONTAINER_OF(POINTER, STRUCT, MEMBER) \
  ((STRUCT *)(void *)((char *)(POINTER)-offsetof(STRUCT, MEMBER)))
#endif
#ifndef OBJECT_CONTAINING
#define OBJECT_CONTAINING(POINTER, OBJECT, MEMBER)                        \
  ((__typeof__(OBJECT))(void *)((char *)(POINTER)-OBJECT_OFFSETOF(OBJECT, \
                                                                  MEMBER)))
#endif
#ifndef ASSIGN_CONTAINER
#define ASSIGN_CONTAINER(OBJECT, POINTER, MEMBER) \
  ((OBJECT) = OBJECT_CONTAINING(POINTER, OBJECT, MEMBER), (void)0)
#endif
#ifndef INIT_CONTAINER
#define INIT_CONTAINER(OBJECT, POINTER, MEMBER) \
  ((OBJECT) = NULL, ASSIGN_CONTAINER(OBJECT, POINTER, MEMBER))
#endif

/* The three parts of the head of a loop over embedded nodes, as in
 *
 *   for (INIT_MULTIVAR(VAR, MEMBER, first(x), struct node);
 *        CONDITION_MULTIVAR(VAR, MEMBER, ITER_VAR(VAR) != NULL);
 *        UPDATE_MULTIVAR(VAR, next(ITER_VAR(VAR))))
 *
 * Progress is in a hidden ITER_TYPE *ITER_VAR(VAR), so that the body cannot
 * disturb it through VAR.  VAR is NULL once EXPR is false.  The _EXP forms
 * evaluate further expressions first. */
#ifndef ITER_VAR
#define ITER_VAR(NAME) NAME##__iterator__
#endif
#ifndef ITER_NEXT_VAR
#define ITER_NEXT_VAR(NAME) NAME##__iterator__next__
#endif
#ifndef INIT_MULTIVAR
#define INIT_MULTIVAR(VAR, MEMBER, POINTER, ITER_TYPE) \
  INIT_MULTIVAR_EXP(VAR, MEMBER, POINTER, ITER_TYPE, (void)0)
#endif
#ifndef INIT_MULTIVAR_EXP
#define INIT_MULTIVAR_EXP(VAR, MEMBER, POINTER, ITER_TYPE, ...) \
  ITER_TYPE *ITER_VAR(VAR) = (__VA_ARGS__, (ITER_TYPE *)(POINTER))
#endif
#ifndef CONDITION_MULTIVAR
#define CONDITION_MULTIVAR(VAR, MEMBER, EXPR)                            \
  ((EXPR) ? (((VAR) = OBJECT_CONTAINING(ITER_VAR(VAR), VAR, MEMBER)), 1) \
          : (((VAR) = NULL), (void)(VAR), 0))
#endif
#ifndef UPDATE_MULTIVAR
#define UPDATE_MULTIVAR(VAR, EXPR) (ITER_VAR(VAR) = (EXPR))
#endif

/* The same for loops whose body may remove and free VAR: the successor is known
 * before the body runs, hidden (SHORT) or also in NEXT_VAR (LONG).  NEXT_EXPR
 * assigns ITER_NEXT_VAR(VAR) (SHORT), or ITER_VAR(NEXT_VAR) with a value that
 * says whether there is a successor (LONG). */
#ifndef INIT_MULTIVAR_SAFE_SHORT
#define INIT_MULTIVAR_SAFE_SHORT(VAR, MEMBER, POINTER, ITER_TYPE) \
  INIT_MULTIVAR_SAFE_SHORT_EXP(VAR, MEMBER, POINTER, ITER_TYPE, (void)0)
#endif
#ifndef INIT_MULTIVAR_SAFE_SHORT_EXP
#define INIT_MULTIVAR_SAFE_SHORT_EXP(VAR, MEMBER, POINTER, ITER_TYPE, ...) \
  ITER_TYPE *ITER_VAR(VAR) = (__VA_ARGS__, (ITER_TYPE *)(POINTER)),        \
            *ITER_NEXT_VAR(VAR) = NULL
#endif
#ifndef CONDITION_MULTIVAR_SAFE_SHORT
#define CONDITION_MULTIVAR_SAFE_SHORT(VAR, MEMBER, EXPR, NEXT_EXPR)   \
  ((EXPR) ? (((VAR) = OBJECT_CONTAINING(ITER_VAR(VAR), VAR, MEMBER)), \
             (NEXT_EXPR), 1)                                          \
          : (((VAR) = NULL), (void)(VAR), 0))
#endif
#ifndef UPDATE_MULTIVAR_SAFE_SHORT
#define UPDATE_MULTIVAR_SAFE_SHORT(VAR) UPDATE_MULTIVAR(VAR, ITER_NEXT_VAR(VAR))
#endif
#ifndef INIT_MULTIVAR_SAFE_LONG
#define INIT_MULTIVAR_SAFE_LONG(VAR, NEXT_VAR, MEMBER, POINTER, ITER_TYPE) \
  INIT_MULTIVAR_SAFE_LONG_EXP(VAR, NEXT_VAR, MEMBER, POINTER, ITER_TYPE,   \
                              (void)0)
#endif
#ifndef INIT_MULTIVAR_SAFE_LONG_EXP
#define INIT_MULTIVAR_SAFE_LONG_EXP(VAR, NEXT_VAR, MEMBER, POINTER, ITER_TYPE, \
                                    ...)                                       \
  ITER_TYPE *ITER_VAR(VAR) = (__VA_ARGS__, (ITER_TYPE *)(POINTER)),            \
            *ITER_VAR(NEXT_VAR) = NULL
#endif
#ifndef CONDITION_MULTIVAR_SAFE_LONG
#define CONDITION_MULTIVAR_SAFE_LONG(VAR, NEXT_VAR, MEMBER, EXPR, NEXT_EXPR)   \
  ((EXPR) ? (((VAR) = OBJECT_CONTAINING(ITER_VAR(VAR), VAR, MEMBER)),          \
             ((NEXT_VAR) = (NEXT_EXPR) ? OBJECT_CONTAINING(ITER_VAR(NEXT_VAR), \
                                                           NEXT_VAR, MEMBER)   \
                                       : NULL),                                \
             1)                                                                \
          : (((VAR) = NULL), ((NEXT_VAR) = NULL), (void)(VAR),                 \
             (void)(NEXT_VAR), 0))
#endif
#ifndef UPDATE_MULTIVAR_SAFE_LONG
#define UPDATE_MULTIVAR_SAFE_LONG(VAR, NEXT_VAR) \
  UPDATE_MULTIVAR(VAR, ITER_VAR(NEXT_VAR))
#endif

/* Calls LONG where MAX_ARGS (2 to 6) arguments follow and SHORT where one less
 * does. */
#ifndef OVERLOAD_SAFE_MACRO
#define OVERLOAD_SAFE_MACRO(LONG, SHORT, MAX_ARGS, ...) \
  OVSTHREAD_PICK_##MAX_ARGS##__(__VA_ARGS__, LONG, SHORT, )(__VA_ARGS__)
#define OVSTHREAD_PICK_2__(A, B, NAME, ...) NAME
#define OVSTHREAD_PICK_3__(A, B, C, NAME, ...) NAME
#define OVSTHREAD_PICK_4__(A, B, C, D, NAME, ...) NAME
#define OVSTHREAD_PICK_5__(A, B, C, D, E, NAME, ...) NAME
#define OVSTHREAD_PICK_6__(A, B, C, D, E, F, NAME, ...) NAME
#endif

#endif /* OPENVSWITCH_UTIL_H */
