// SPDX-License-Identifier: Apache-2.0
//
// Export and thread-safety annotations of the C++ headers.
//
// The thread-safety macros expand to the attributes that clang's
// -Wthread-safety analyses and to nothing elsewhere.  Their names follow
// clang's documentation, with a prefix.  The C headers carry the OVS_ names of
// compat/openvswitch/compiler.h instead.
#ifndef OVSTHREAD_ANNOTATIONS_H_
#define OVSTHREAD_ANNOTATIONS_H_

// On types and data that the library exports, and on functions.  Those are
// called through their address, which the loader fills in at once: a call that
// is bound when it is first made would abort the transaction it is made in.
#define OVSTHREAD_EXPORT __attribute__((visibility("default")))
#if defined(__has_attribute) && __has_attribute(noplt)
#define OVSTHREAD_API OVSTHREAD_EXPORT __attribute__((noplt))
#else
#define OVSTHREAD_API OVSTHREAD_EXPORT
#endif

#if defined(__clang__)
#define OVSTHREAD_ATTRIBUTE(x) __attribute__((x))
#else
#define OVSTHREAD_ATTRIBUTE(x)
#endif

// On types.
#define OVSTHREAD_CAPABILITY(x) OVSTHREAD_ATTRIBUTE(capability(x))
#define OVSTHREAD_SCOPED_CAPABILITY OVSTHREAD_ATTRIBUTE(scoped_lockable)

// On data.
#define OVSTHREAD_GUARDED_BY(...) OVSTHREAD_ATTRIBUTE(guarded_by(__VA_ARGS__))
#define OVSTHREAD_PT_GUARDED_BY(...) \
  OVSTHREAD_ATTRIBUTE(pt_guarded_by(__VA_ARGS__))

// On functions.
#define OVSTHREAD_REQUIRES(...) \
  OVSTHREAD_ATTRIBUTE(requires_capability(__VA_ARGS__))
#define OVSTHREAD_REQUIRES_SHARED(...) \
  OVSTHREAD_ATTRIBUTE(requires_shared_capability(__VA_ARGS__))
#define OVSTHREAD_ACQUIRE(...) \
  OVSTHREAD_ATTRIBUTE(acquire_capability(__VA_ARGS__))
#define OVSTHREAD_ACQUIRE_SHARED(...) \
  OVSTHREAD_ATTRIBUTE(acquire_shared_capability(__VA_ARGS__))
#define OVSTHREAD_RELEASE(...) \
  OVSTHREAD_ATTRIBUTE(release_capability(__VA_ARGS__))
#define OVSTHREAD_RELEASE_SHARED(...) \
  OVSTHREAD_ATTRIBUTE(release_shared_capability(__VA_ARGS__))
#define OVSTHREAD_RELEASE_GENERIC(...) \
  OVSTHREAD_ATTRIBUTE(release_generic_capability(__VA_ARGS__))
#define OVSTHREAD_TRY_ACQUIRE(...) \
  OVSTHREAD_ATTRIBUTE(try_acquire_capability(__VA_ARGS__))
#define OVSTHREAD_TRY_ACQUIRE_SHARED(...) \
  OVSTHREAD_ATTRIBUTE(try_acquire_shared_capability(__VA_ARGS__))
#define OVSTHREAD_EXCLUDES(...) OVSTHREAD_ATTRIBUTE(locks_excluded(__VA_ARGS__))
#define OVSTHREAD_ASSERT_CAPABILITY(...) \
  OVSTHREAD_ATTRIBUTE(assert_capability(__VA_ARGS__))
#define OVSTHREAD_ASSERT_SHARED_CAPABILITY(...) \
  OVSTHREAD_ATTRIBUTE(assert_shared_capability(__VA_ARGS__))
#define OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS \
  OVSTHREAD_ATTRIBUTE(no_thread_safety_analysis)

#endif  // OVSTHREAD_ANNOTATIONS_H_
