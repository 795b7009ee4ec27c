/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none:
 * function, type and variable attributes, and the annotations of clang's
 * thread-safety analysis. */
#ifndef OPENVSWITCH_COMPILER_H
#define OPENVSWITCH_COMPILER_H 1

#include <stdbool.h>
#include <stddef.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#ifndef __has_extension
#define __has_extension(x) 0
#endif

/* Functions. */
#ifndef OVS_NO_RETURN
#define OVS_NO_RETURN __attribute__((__noreturn__))
#endif
#ifndef OVS_PRINTF_FORMAT
#define OVS_PRINTF_FORMAT(FMT, ARG1) \
  __attribute__((__format__(__printf__, FMT, ARG1)))
#endif
#ifndef OVS_SCANF_FORMAT
#define OVS_SCANF_FORMAT(FMT, ARG1) \
  __attribute__((__format__(__scanf__, FMT, ARG1)))
#endif
#ifndef OVS_WARN_UNUSED_RESULT
#define OVS_WARN_UNUSED_RESULT __attribute__((__warn_unused_result__))
#endif
#ifndef OVS_RETURNS_NONNULL
#define OVS_RETURNS_NONNULL __attribute__((__returns_nonnull__))
#endif
#ifndef OVS_CONSTRUCTOR
#define OVS_CONSTRUCTOR(F)                                          \
  static void F(void) __attribute__((__constructor__, __unused__)); \
  static void F(void)
#endif

/* Types and variables. */
#ifndef OVS_UNUSED
#define OVS_UNUSED __attribute__((__unused__))
#endif
#ifndef OVS_PACKED_ENUM
#define OVS_PACKED_ENUM __attribute__((__packed__))
#endif
#ifndef OVS_PACKED
#define OVS_PACKED(DECL) DECL __attribute__((__packed__))
#endif
#ifndef OVS_ALIGNED_STRUCT
#define OVS_ALIGNED_STRUCT(N, TAG) struct __attribute__((__aligned__(N))) TAG
#endif
#ifndef OVS_ALIGNED_VAR
#define OVS_ALIGNED_VAR(N) __attribute__((__aligned__(N)))
#endif

/* Expressions and statements. */
#ifndef OVS_LIKELY
#define OVS_LIKELY(CONDITION) __builtin_expect(!!(CONDITION), 1)
#endif
#ifndef OVS_UNLIKELY
#define OVS_UNLIKELY(CONDITION) __builtin_expect(!!(CONDITION), 0)
#endif
#ifndef OVS_PREFETCH
#define OVS_PREFETCH(ADDRESS) __builtin_prefetch(ADDRESS)
#endif
#ifndef OVS_PREFETCH_WRITE
#define OVS_PREFETCH_WRITE(ADDRESS) __builtin_prefetch(ADDRESS, 1)
#endif

/* Checks at compile time: as an expression of type void, and as a declaration.
 */
#ifndef BUILD_ASSERT
#ifdef __cplusplus
#define BUILD_ASSERT(EXPR) \
  ((void)([] { static_assert(EXPR, "assertion " #EXPR " failed"); }))
#else
#define BUILD_ASSERT(EXPR)                              \
  ((void)sizeof(struct {                                \
    _Static_assert(EXPR, "assertion " #EXPR " failed"); \
    int build_assert;                                   \
  }))
#endif
#endif
#ifndef BUILD_ASSERT_DECL
#ifdef __cplusplus
#define BUILD_ASSERT_DECL(EXPR) \
  static_assert(EXPR, "assertion " #EXPR " failed")
#else
#define BUILD_ASSERT_DECL(EXPR) \
  _Static_assert(EXPR, "assertion " #EXPR " failed")
#endif
#endif

/* Thread-safety annotations.  The arguments are lock expressions; R is the
 * return value that means "taken". */
#if __has_feature(c_thread_safety_attributes)
#define OVSTHREAD_ANNOTATE__(ATTRIBUTE) __attribute__((ATTRIBUTE))
#else
#define OVSTHREAD_ANNOTATE__(ATTRIBUTE)
#endif

/* Between "struct" and the tag of a lock type. */
#ifndef OVS_LOCKABLE
#define OVS_LOCKABLE OVSTHREAD_ANNOTATE__(lockable)
#endif

/* On variables and members: accessed only under some lock, under this lock. */
#ifndef OVS_GUARDED
#define OVS_GUARDED OVSTHREAD_ANNOTATE__(guarded_var)
#endif
#ifndef OVS_GUARDED_BY
#define OVS_GUARDED_BY(...) OVSTHREAD_ANNOTATE__(guarded_by(__VA_ARGS__))
#endif

/* On lock variables: the order in which to take them. */
#ifndef OVS_ACQ_BEFORE
#define OVS_ACQ_BEFORE(...) OVSTHREAD_ANNOTATE__(acquired_before(__VA_ARGS__))
#endif
#ifndef OVS_ACQ_AFTER
#define OVS_ACQ_AFTER(...) OVSTHREAD_ANNOTATE__(acquired_after(__VA_ARGS__))
#endif

/* On functions: held on entry and on exit. */
#ifndef OVS_REQUIRES
#define OVS_REQUIRES(...) \
  OVSTHREAD_ANNOTATE__(exclusive_locks_required(__VA_ARGS__))
#endif
#ifndef OVS_REQ_WRLOCK
#define OVS_REQ_WRLOCK(...) \
  OVSTHREAD_ANNOTATE__(exclusive_locks_required(__VA_ARGS__))
#endif
#ifndef OVS_REQ_RDLOCK
#define OVS_REQ_RDLOCK(...) \
  OVSTHREAD_ANNOTATE__(shared_locks_required(__VA_ARGS__))
#endif

/* On functions: taken by the call. */
#ifndef OVS_ACQUIRES
#define OVS_ACQUIRES(...) \
  OVSTHREAD_ANNOTATE__(exclusive_lock_function(__VA_ARGS__))
#endif
#ifndef OVS_ACQ_WRLOCK
#define OVS_ACQ_WRLOCK(...) \
  OVSTHREAD_ANNOTATE__(exclusive_lock_function(__VA_ARGS__))
#endif
#ifndef OVS_ACQ_RDLOCK
#define OVS_ACQ_RDLOCK(...) \
  OVSTHREAD_ANNOTATE__(shared_lock_function(__VA_ARGS__))
#endif

/* On functions: taken if the call returns R. */
#ifndef OVS_TRY_LOCK
#define OVS_TRY_LOCK(R, ...) \
  OVSTHREAD_ANNOTATE__(exclusive_trylock_function(R, __VA_ARGS__))
#endif
#ifndef OVS_TRY_WRLOCK
#define OVS_TRY_WRLOCK(R, ...) \
  OVSTHREAD_ANNOTATE__(exclusive_trylock_function(R, __VA_ARGS__))
#endif
#ifndef OVS_TRY_RDLOCK
#define OVS_TRY_RDLOCK(R, ...) \
  OVSTHREAD_ANNOTATE__(shared_trylock_function(R, __VA_ARGS__))
#endif

/* On functions: released by the call; not held; not analysed. */
#ifndef OVS_RELEASES
#define OVS_RELEASES(...) OVSTHREAD_ANNOTATE__(unlock_function(__VA_ARGS__))
#endif
#ifndef OVS_EXCLUDED
#define OVS_EXCLUDED(...) OVSTHREAD_ANNOTATE__(locks_excluded(__VA_ARGS__))
#endif
#ifndef OVS_NO_THREAD_SAFETY_ANALYSIS
#define OVS_NO_THREAD_SAFETY_ANALYSIS \
  OVSTHREAD_ANNOTATE__(no_thread_safety_analysis)
#endif

#endif /* OPENVSWITCH_COMPILER_H */
