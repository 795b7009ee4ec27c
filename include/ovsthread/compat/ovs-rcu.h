/* SPDX-License-Identifier: Apache-2.0
 *
 * Read-copy-update, source compatible with Open vSwitch.
 *
 * Readers of a data structure take no lock and write nothing.  A writer makes
 * an object unreachable, then postpones its end until no reader can hold it any
 * more:
 *
 *   ovs_mutex_lock(&mutex);
 *   old = ovsrcu_get_protected(struct config *, &config);
 *   ovsrcu_set(&config, new_config);
 *   ovs_mutex_unlock(&mutex);
 *   ovsrcu_postpone(free, old);
 *
 * A thread is active or quiescent.  What an active thread got from RCU stays
 * valid until the thread quiesces.  States don't nest: one ovsrcu_quiesce_end()
 * undoes any number of ovsrcu_quiesce_start().  A thread from
 * ovs_thread_create() starts active, any other one quiescent.  An active thread
 * that blocks, in a lock or a condition too, holds up all callbacks.
 *
 * A callback runs after the thread that postponed it has quiesced and every
 * thread that was active at that moment has quiesced since.  So it may be
 * postponed before the object is unpublished, as long as its thread does not
 * quiesce in between.  The callbacks of one thread run in order, each once, and
 * also if the thread has ended.  Until the first ovs_thread_create() they run
 * inside ovsrcu_quiesce(), ovsrcu_quiesce_start() and ovsrcu_barrier(), then in
 * a thread of their own; a callback may postpone others, which run later, take
 * locks and wait in ovsrcu_synchronize(), but not in ovsrcu_barrier() or
 * ovsrcu_exit(): that ends the process with a message.
 *
 * All functions may be called from a child of fork, whatever other threads did
 * meanwhile: the child adopts their callbacks. */
#ifndef OVS_RCU_H
#define OVS_RCU_H 1

#include <ovsthread/annotations.h>
#include <stdbool.h>

#include "ovsthread-helpers.h"

/* A variable, member or typedef for a pointer of type TYPE that readers and
 * writers share; and its constant initialiser. */
#define OVSRCU_TYPE(TYPE) \
  struct {                \
    TYPE p;               \
  }
#define OVSRCU_INITIALIZER(VALUE) \
  { VALUE }

/* The pointer of type TYPE in *VAR, valid until the thread quiesces.
 * _protected: for a caller that excludes writers.  Progress: wait-free.
 *
 * (1) what the pointer leads to; pairs with (2). */
#define ovsrcu_get(TYPE, VAR) ovsrcu_get__(TYPE, VAR, __ATOMIC_ACQUIRE)
#define ovsrcu_get_protected(TYPE, VAR) \
  ovsrcu_get__(TYPE, VAR, __ATOMIC_RELAXED)

/* Publishes VALUE in *VAR.  Writers exclude each other by themselves.  _hidden:
 * *VAR can't be reached by readers.  ovsrcu_init(): it is not initialised yet.
 * Statements.  Progress: wait-free.
 *
 * (2) what the pointer leads to; pairs with (1). */
#define ovsrcu_set(VAR, VALUE) \
  ovsrcu_set__(VAR, VALUE, __ATOMIC_RELEASE, __COUNTER__)
#define ovsrcu_set_hidden(VAR, VALUE) \
  ovsrcu_set__(VAR, VALUE, __ATOMIC_RELAXED, __COUNTER__)
#define ovsrcu_init(VAR, VALUE) \
  ovsrcu_set__(VAR, VALUE, __ATOMIC_RELAXED, __COUNTER__)

/* Calls FUNCTION(ARG) later.  ARG is a pointer to a complete type or to void
 * that FUNCTION takes as its one argument.  Makes the thread active.  May be
 * called inside an elided section.  Progress: wait-free but for allocating. */
#define ovsrcu_postpone(FUNCTION, ARG)                             \
  ((void)sizeof(((void)(FUNCTION)(ARG), 1)),                       \
   (void)sizeof(OVSRCU_POINTEE__(ARG)),                            \
   ovsrcu_postpone__((void (*)(void *))(void (*)(void))(FUNCTION), \
                     (void *)(ARG)))

/* Names are made unique by ID, so that an argument can contain such a macro,
 * too, without hiding anything. */
#define ovsrcu_get__(TYPE, VAR, ORDER)   \
  (__extension__({                       \
    OVSRCU_CHECK_TYPE__(TYPE, (VAR)->p); \
    __atomic_load_n(&(VAR)->p, (ORDER)); \
  }))
#define ovsrcu_set__(VAR, VALUE, ORDER, ID) \
  ovsrcu_set_with_id__(VAR, VALUE, ORDER, ID)
#define ovsrcu_set_with_id__(VAR, VALUE, ORDER, ID)                            \
  (__extension__({                                                             \
    __typeof__(VAR) ovsrcu_var_##ID##__ = (VAR);                               \
    __typeof__(ovsrcu_var_##ID##__->p) ovsrcu_value_##ID##__ = (VALUE);        \
    __atomic_store_n(&ovsrcu_var_##ID##__->p, ovsrcu_value_##ID##__, (ORDER)); \
  }))

#ifdef __cplusplus
#define OVSRCU_CHECK_TYPE__(TYPE, POINTER)               \
  static_assert(__is_same(TYPE, __typeof__(+(POINTER))), \
                "type of ovsrcu_get() differs from the variable's")
#define OVSRCU_POINTEE__(ARG) ovsrcu_pointee_of__(ARG)

/* Programs may include C headers inside extern "C". */
extern "C++" {
template <class T>
struct ovsrcu_pointee__ {
  typedef T type;
};
template <>
struct ovsrcu_pointee__<void> {
  typedef char type;
};
template <>
struct ovsrcu_pointee__<const void> {
  typedef char type;
};
template <class T>
typename ovsrcu_pointee__<T>::type &ovsrcu_pointee_of__(T *);
}

extern "C" {
#else
#define OVSRCU_CHECK_TYPE__(TYPE, POINTER)                                \
  _Static_assert(__builtin_types_compatible_p(TYPE, __typeof__(POINTER)), \
                 "type of ovsrcu_get() differs from the variable's")
#define OVSRCU_POINTEE__(ARG) \
  *_Generic((ARG), void * : "", const void * : "", default : (ARG))
#endif

/* What ovsrcu_postpone() expands to. */
OVSTHREAD_API void ovsrcu_postpone__(void (*function)(void *aux), void *aux);

/* A number instead of a pointer, by convention -1 for none.  As the macros
 * above, with which they share the rules. */
typedef struct {
  int v;
} ovsrcu_index;

static inline int ovsrcu_index_get(const ovsrcu_index *index) {
  /* (1) what the number leads to; pairs with (2). */
  return __atomic_load_n(&index->v, __ATOMIC_ACQUIRE);
}

static inline int ovsrcu_index_get_protected(const ovsrcu_index *index) {
  return __atomic_load_n(&index->v, __ATOMIC_RELAXED);
}

static inline void ovsrcu_index_set(ovsrcu_index *index, int value) {
  /* (2) what the number leads to; pairs with (1). */
  __atomic_store_n(&index->v, value, __ATOMIC_RELEASE);
}

static inline void ovsrcu_index_set_hidden(ovsrcu_index *index, int value) {
  __atomic_store_n(&index->v, value, __ATOMIC_RELAXED);
}

static inline void ovsrcu_index_init(ovsrcu_index *index, int value) {
  __atomic_store_n(&index->v, value, __ATOMIC_RELAXED);
}

/* Makes the thread quiescent, and hands its callbacks over.  Runs callbacks
 * until the first ovs_thread_create().  Progress: wait-free afterwards, but for
 * allocating. */
OVSTHREAD_API void ovsrcu_quiesce_start(void);

/* Makes the thread active.  Progress: wait-free. */
OVSTHREAD_API void ovsrcu_quiesce_end(void);

/* A quiescent state of a moment, after which the thread is active, and a full
 * memory barrier.  Otherwise as ovsrcu_quiesce_start(). */
OVSTHREAD_API void ovsrcu_quiesce(void);

/* As ovsrcu_quiesce().  Always returns 0: nothing it does waits for another
 * thread, so there is no contention that EBUSY could report.  Not to be called
 * in a process with one thread: ends it with a message. */
OVSTHREAD_API int ovsrcu_try_quiesce(void);

/* Whether the thread is quiescent.  Progress: wait-free. */
OVSTHREAD_API bool ovsrcu_is_quiescent(void);

/* Waits until every thread that is active now has quiesced.  The caller is
 * quiescent meanwhile and active afterwards.  If no other thread is known to
 * RCU and none was made by ovs_thread_create(), it does nothing at all.  A
 * thread that is waited for is named in a warning after 1 s, 2 s, 4 s, ...
 * Progress: blocking. */
OVSTHREAD_API void ovsrcu_synchronize(void);

/* Waits until every callback that any thread postponed before the call has run,
 * and may run some itself.  What they did is visible afterwards.  Callbacks
 * that these postpone are not waited for.  The thread is active afterwards.
 * Progress: blocking. */
OVSTHREAD_API void ovsrcu_barrier(void);

/* For the end of main(): ends the thread that runs callbacks, waits for other
 * active threads, runs all callbacks, and those that they postpone, up to eight
 * rounds in all.  Callbacks postponed later never run.  A second call does
 * nothing.  Progress: blocking. */
OVSTHREAD_API void ovsrcu_exit(void);

#ifdef __cplusplus
}
#endif

#endif /* OVS_RCU_H */
