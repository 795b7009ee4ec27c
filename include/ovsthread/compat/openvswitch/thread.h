/* SPDX-License-Identifier: Apache-2.0
 *
 * Mutexes, spin locks and one-time initialisation, source compatible with Open
 * vSwitch.
 *
 * A critical section may run elided, as a hardware transaction that never takes
 * its lock (ovsthread/elision.h).  A program can't tell but by its speed: all
 * rules below hold then, too.
 *
 * Every lock is checked.  Locking one that the caller holds (but a recursive
 * mutex), unlocking or waiting with one that the caller doesn't hold,
 * destroying one that is held, and any use of one that is not initialised or
 * was destroyed end the process with a message that names the misuse, the lock,
 * the thread, the place of the call and the place where the lock was last
 * taken.  One thing is out of reach: another thread's elided hold leaves no
 * trace.  Whoever unlocks then reads "last taken at" the last acquisition for
 * real; whoever destroys makes the other thread start again and find a
 * destroyed lock. */
#ifndef OPENVSWITCH_THREAD_H
#define OPENVSWITCH_THREAD_H 1

#include <ovsthread/annotations.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "ovsthread-util.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A mutex.  Zero-filled memory is an uninitialised one.  Packed, since there
 * may be millions: they share cache lines with what surrounds them. */
struct OVS_LOCKABLE ovs_mutex {
  uint32_t word;     /* State and holder; see lib/mutex-core.h. */
  uint16_t spins;    /* Looks at a held mutex before the thread sleeps. */
  uint16_t depth;    /* Levels of a recursive mutex beyond the first. */
  const char *where; /* "file:line" where it was last taken for real. */
};

/* Static initialisers of a plain (error-checking) and of an adaptive mutex,
 * which spins longer before it sleeps. */
#define OVS_MUTEX_INITIALIZER \
  { 1, 10, 0, "<unlocked>" }
#define OVS_ADAPTIVE_MUTEX_INITIALIZER \
  { 1, 100, 0, "<unlocked>" }

/* Initialise *MUTEX.  Progress: wait-free. */
OVSTHREAD_API void ovs_mutex_init(struct ovs_mutex *mutex);
OVSTHREAD_API void ovs_mutex_init_recursive(struct ovs_mutex *mutex);
OVSTHREAD_API void ovs_mutex_init_adaptive(struct ovs_mutex *mutex);

/* Destroys a free mutex.  It may follow the last unlock at once, in another
 * thread, too.  Progress: lock-free. */
OVSTHREAD_API void ovs_mutex_destroy(struct ovs_mutex *mutex);
OVSTHREAD_API void ovs_mutex_destroy_at(struct ovs_mutex *mutex,
                                        const char *where);
#define ovs_mutex_destroy(mutex) ovs_mutex_destroy_at(mutex, OVSTHREAD_WHERE)

/* Takes the mutex; a recursive one that the caller holds nests up to 65536
 * levels.  Progress: blocking. */
OVSTHREAD_API void ovs_mutex_lock_at(const struct ovs_mutex *mutex,
                                     const char *where) OVS_ACQUIRES(mutex);
#define ovs_mutex_lock(mutex) ovs_mutex_lock_at(mutex, OVSTHREAD_WHERE)

/* Takes the mutex and returns 0, or returns EBUSY if anyone, the caller
 * included, holds it.  A recursive mutex nests.  Progress: lock-free. */
OVSTHREAD_API int ovs_mutex_trylock_at(const struct ovs_mutex *mutex,
                                       const char *where)
    OVS_TRY_LOCK(0, mutex);
#define ovs_mutex_trylock(mutex) ovs_mutex_trylock_at(mutex, OVSTHREAD_WHERE)

/* Releases the mutex, or one level of it.  Progress: lock-free. */
OVSTHREAD_API void ovs_mutex_unlock(const struct ovs_mutex *mutex)
    OVS_RELEASES(mutex);
OVSTHREAD_API void ovs_mutex_unlock_at(const struct ovs_mutex *mutex,
                                       const char *where) OVS_RELEASES(mutex);
#define ovs_mutex_unlock(mutex) ovs_mutex_unlock_at(mutex, OVSTHREAD_WHERE)

/* Releases the mutex (all levels), waits until COND is signalled or for no
 * reason, and takes the mutex again.  COND is any pthread condition; the other
 * side may use plain pthread_cond_signal() and pthread_cond_broadcast(), and
 * loses no wake-up if it changes what is waited for under the mutex.  A
 * cancellation point.  Progress: blocking. */
OVSTHREAD_API void ovs_mutex_cond_wait(pthread_cond_t *cond,
                                       const struct ovs_mutex *mutex)
    OVS_REQUIRES(mutex);
OVSTHREAD_API void ovs_mutex_cond_wait_at(pthread_cond_t *cond,
                                          const struct ovs_mutex *mutex,
                                          const char *where)
    OVS_REQUIRES(mutex);
#define ovs_mutex_cond_wait(cond, mutex) \
  ovs_mutex_cond_wait_at(cond, mutex, OVSTHREAD_WHERE)

/* A spin lock: who waits for it never sleeps, it looks again and again, and
 * yields the processor between two looks once it has waited some ten
 * microseconds.  For sections of less than a microsecond whose threads have
 * processors of their own.  Nearly always an ovs_mutex is better: it costs as
 * little when nobody waits, while here the waiters of an owner that was
 * preempted burn their time slices.  Zero-filled memory is an uninitialised
 * one.  Packed, as an ovs_mutex. */
struct OVS_LOCKABLE ovs_spin {
  uint32_t word;     /* State and holder; see lib/spinlock-core.h. */
  const char *where; /* "file:line" where it was last taken for real. */
};

/* Initialises *SPIN.  There is no static initialiser.  Progress: wait-free. */
OVSTHREAD_API void ovs_spin_init(struct ovs_spin *spin);

/* Destroys a free spin lock.  It may follow the last unlock at once, in another
 * thread, too.  Progress: lock-free. */
OVSTHREAD_API void ovs_spin_destroy(struct ovs_spin *spin);
OVSTHREAD_API void ovs_spin_destroy_at(struct ovs_spin *spin,
                                       const char *where);
#define ovs_spin_destroy(spin) ovs_spin_destroy_at(spin, OVSTHREAD_WHERE)

/* Takes the spin lock.  Progress: blocking. */
OVSTHREAD_API void ovs_spin_lock_at(const struct ovs_spin *spin,
                                    const char *where) OVS_ACQUIRES(spin);
#define ovs_spin_lock(spin) ovs_spin_lock_at(spin, OVSTHREAD_WHERE)

/* Takes the spin lock and returns 0, or returns EBUSY if anyone, the caller
 * included, holds it.  Progress: lock-free. */
OVSTHREAD_API int ovs_spin_trylock_at(const struct ovs_spin *spin,
                                      const char *where) OVS_TRY_LOCK(0, spin);
#define ovs_spin_trylock(spin) ovs_spin_trylock_at(spin, OVSTHREAD_WHERE)

/* Releases the spin lock.  Progress: lock-free. */
OVSTHREAD_API void ovs_spin_unlock(const struct ovs_spin *spin)
    OVS_RELEASES(spin);
OVSTHREAD_API void ovs_spin_unlock_at(const struct ovs_spin *spin,
                                      const char *where) OVS_RELEASES(spin);
#define ovs_spin_unlock(spin) ovs_spin_unlock_at(spin, OVSTHREAD_WHERE)

/* Something that is to be done once in the life of the process:
 *
 *   static struct ovsthread_once once = OVSTHREAD_ONCE_INITIALIZER;
 *   if (ovsthread_once_start(&once)) {
 *     ...
 *     ovsthread_once_done(&once);
 *   }
 */
struct ovsthread_once {
  bool done;
  struct ovs_mutex mutex;
};

#define OVSTHREAD_ONCE_INITIALIZER \
  { false, OVS_MUTEX_INITIALIZER }

OVSTHREAD_API bool ovsthread_once_start__(struct ovsthread_once *once)
    OVS_TRY_LOCK(true, once->mutex);
OVSTHREAD_API void ovsthread_once_done(struct ovsthread_once *once)
    OVS_RELEASES(once->mutex);

/* True for one caller, who must end with ovsthread_once_done().  Others wait
 * for that and get false, and see what the one has written.  Misuse: to start
 * again before it is done, in the same thread.  Progress: blocking until done,
 * then wait-free. */
static inline bool ovsthread_once_start(struct ovsthread_once *once)
    OVS_TRY_LOCK(true, once->mutex);

static inline OVS_NO_THREAD_SAFETY_ANALYSIS bool ovsthread_once_start(
    struct ovsthread_once *once) {
  /* (30) what the initialisation wrote; pairs with (1) of compat. */
  return !__atomic_load_n(&once->done, __ATOMIC_ACQUIRE) &&
         ovsthread_once_start__(once);
}

/* For an object that is not static. */
static inline void ovsthread_once_destroy(struct ovsthread_once *once) {
  ovs_mutex_destroy(&once->mutex);
}

#ifdef __cplusplus
}
#endif

#endif /* OPENVSWITCH_THREAD_H */
