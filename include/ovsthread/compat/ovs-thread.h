/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads, barriers, per-thread data and fork, source compatible with Open
 * vSwitch; the reader-writer lock is in ovsthread-rwlock.h, the mutex in
 * openvswitch/thread.h.
 *
 * What a function can't do ends the process with a message that says so: by
 * abort(), or where stated by exit(EXIT_FAILURE). */
#ifndef OVS_THREAD_H
#define OVS_THREAD_H 1

#include <limits.h>
#include <ovsthread/annotations.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>
#ifndef __cplusplus
#include <threads.h>
#endif

#include "openvswitch/thread.h"
#include "ovs-rcu.h"
#include "ovsthread-helpers.h"
#include "ovsthread-rwlock.h"

#ifdef __cplusplus
extern "C" {
#endif

struct seq;

/* A barrier for a fixed number of threads, to be used again and again.  It may
 * be static, and initialised again after ovs_barrier_destroy(). */
struct ovs_barrier {
  uint64_t arrivals; /* See lib/thread-barrier.h for all of them. */
  uint32_t size;
  uint32_t rounds;
  uint32_t inside;
};

/* Progress: wait-free. */
OVSTHREAD_API void ovs_barrier_init(struct ovs_barrier *barrier, uint32_t size);

/* Waits until SIZE threads have called it.  What any of them did before is
 * visible to all of them afterwards.  An RCU-active caller may be quiescent
 * while it waits, so RCU pointers don't survive it.  Progress: blocking. */
OVSTHREAD_API void ovs_barrier_block(struct ovs_barrier *barrier);

/* May follow a thread's own return from ovs_barrier_block() at once: waits for
 * the others of that round to have left it.  Any other thread must know that
 * they have.  Progress: blocking. */
OVSTHREAD_API void ovs_barrier_destroy(struct ovs_barrier *barrier);

/* As the functions of pthreads without the x, but they cannot fail. */
OVSTHREAD_API void xpthread_mutexattr_init(pthread_mutexattr_t *attr);
OVSTHREAD_API void xpthread_mutexattr_destroy(pthread_mutexattr_t *attr);
OVSTHREAD_API void xpthread_mutexattr_settype(pthread_mutexattr_t *attr,
                                              int type);
OVSTHREAD_API void xpthread_mutexattr_gettype(pthread_mutexattr_t *attr,
                                              int *typep);
OVSTHREAD_API void xpthread_rwlockattr_init(pthread_rwlockattr_t *attr);
OVSTHREAD_API void xpthread_rwlockattr_destroy(pthread_rwlockattr_t *attr);
#ifdef __GLIBC__
OVSTHREAD_API void xpthread_rwlockattr_setkind_np(pthread_rwlockattr_t *attr,
                                                  int kind);
#endif
OVSTHREAD_API void xpthread_cond_init(pthread_cond_t *cond,
                                      pthread_condattr_t *attr);
OVSTHREAD_API void xpthread_cond_destroy(pthread_cond_t *cond);
OVSTHREAD_API void xpthread_cond_signal(pthread_cond_t *cond);
OVSTHREAD_API void xpthread_cond_broadcast(pthread_cond_t *cond);
OVSTHREAD_API void xpthread_key_create(pthread_key_t *key,
                                       void (*destructor)(void *value));
OVSTHREAD_API void xpthread_key_delete(pthread_key_t key);
OVSTHREAD_API void xpthread_setspecific(pthread_key_t key, const void *value);
OVSTHREAD_API void xpthread_sigmask(int how, const sigset_t *set,
                                    sigset_t *old_set);
OVSTHREAD_API void xpthread_join(pthread_t thread, void **result);

/* Starts a thread that calls START(ARG), RCU-active and named NAME (of which 15
 * bytes count) with its id behind; its result goes to xpthread_join().  The
 * thread has the caller's signal mask and at least 512 kB of stack.  The first
 * call makes the caller RCU-active and starts the thread that runs RCU
 * callbacks; any call forbids forking.  The caller joins or detaches the
 * thread, and keeps what ARG leads to alive until START runs. */
OVSTHREAD_API pthread_t ovs_thread_create(const char *name,
                                          void *(*start)(void *arg), void *arg);

/* Whether ovs_thread_create() was never called.  Progress: wait-free. */
OVSTHREAD_API bool single_threaded(void);

/* Exits with EXIT_FAILURE if not single_threaded(). */
OVSTHREAD_API void assert_single_threaded_at(const char *where);
#define assert_single_threaded() assert_single_threaded_at(OVSTHREAD_WHERE)

/* Whether the thread's name begins with "pmd". */
OVSTHREAD_API bool thread_is_pmd(void);

/* CPUs that the process may use, and CPUs that the machine has, or 0 if
 * unknown.  The first may be 10 s old. */
OVSTHREAD_API int count_cpu_cores(void);
OVSTHREAD_API int count_total_cores(void);

/* fork().  Exits with EXIT_FAILURE if it fails or was forbidden. */
OVSTHREAD_API pid_t xfork_at(const char *where);
#define xfork() xfork_at(OVSTHREAD_WHERE)

/* Forbids xfork() for good.  REASON, which is kept, is what its message says.
 * ovs_thread_create() does so, too. */
OVSTHREAD_API void forbid_forking(const char *reason);
OVSTHREAD_API bool may_fork(void);

/* Data that each thread has one of.
 *
 * DEFINE_STATIC_PER_THREAD_DATA(TYPE, NAME, INITIALIZER) at file scope defines
 * NAME_type *NAME_get(void).  The address is valid for the life of the thread,
 * in other threads, too.  NAME_get_unsafe() is the same function here: it may
 * need a NAME_get() before, elsewhere. */
#define DEFINE_STATIC_PER_THREAD_DATA(TYPE, NAME, ...)    \
  typedef TYPE NAME##_type;                               \
  static __thread NAME##_type NAME##_var__ = __VA_ARGS__; \
  OVSTHREAD_PER_THREAD_GETTERS__(NAME##_type *, NAME, &NAME##_var__)

/* The same for data that several source files share: the first in a header, the
 * second in one source file, after the first. */
#define DECLARE_EXTERN_PER_THREAD_DATA(TYPE, NAME) \
  typedef TYPE NAME##_type;                        \
  extern __thread NAME##_type NAME##_var;          \
  OVSTHREAD_PER_THREAD_GETTERS__(NAME##_type *, NAME, &NAME##_var)
#define DEFINE_EXTERN_PER_THREAD_DATA(NAME, ...) \
  __thread NAME##_type NAME##_var = __VA_ARGS__;

/* DEFINE_PER_THREAD_MALLOCED_DATA(TYPE, NAME), where TYPE is a pointer type, at
 * file scope defines TYPE NAME_get(void), at first NULL, and TYPE
 * NAME_set(TYPE), which returns the old value.  A thread's last value is
 * free()d when the thread ends.  NAME_get_unsafe() and NAME_set_unsafe() need
 * one of the safe functions to have been called in the process. */
#define DEFINE_PER_THREAD_MALLOCED_DATA(TYPE, NAME)                        \
  static pthread_key_t NAME##_key__;                                       \
  static void NAME##_create_key__(void) {                                  \
    xpthread_key_create(&NAME##_key__, free);                              \
  }                                                                        \
  static inline void NAME##_once__(void) {                                 \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                        \
    pthread_once(&once, NAME##_create_key__);                              \
  }                                                                        \
  __attribute__((__unused__)) static inline TYPE NAME##_get_unsafe(void) { \
    return (TYPE)pthread_getspecific(NAME##_key__);                        \
  }                                                                        \
  __attribute__((__unused__)) static inline TYPE NAME##_get(void) {        \
    NAME##_once__();                                                       \
    return NAME##_get_unsafe();                                            \
  }                                                                        \
  __attribute__((__unused__)) static inline TYPE NAME##_set_unsafe(        \
      TYPE value) {                                                        \
    TYPE old_value = NAME##_get_unsafe();                                  \
    xpthread_setspecific(NAME##_key__, value);                             \
    return old_value;                                                      \
  }                                                                        \
  __attribute__((__unused__)) static inline TYPE NAME##_set(TYPE value) {  \
    NAME##_once__();                                                       \
    return NAME##_set_unsafe(value);                                       \
  }

#define OVSTHREAD_PER_THREAD_GETTERS__(POINTER, NAME, ADDRESS)                \
  __attribute__((__unused__)) static inline POINTER NAME##_get(void) {        \
    return ADDRESS;                                                           \
  }                                                                           \
  __attribute__((__unused__)) static inline POINTER NAME##_get_unsafe(void) { \
    return ADDRESS;                                                           \
  }

/* The number of a thread: 0, 1, 2, ..., none given twice.  ovsthread_id_get()
 * leads to it, or to OVSTHREAD_ID_UNSET in a thread that has not asked for it
 * and that ovs_thread_create() has not made.  Progress: wait-free. */
#define OVSTHREAD_ID_UNSET UINT_MAX
#pragma GCC visibility push(default)
DECLARE_EXTERN_PER_THREAD_DATA(unsigned int, ovsthread_id)
#pragma GCC visibility pop

/* Gives the thread its number.  Not to be called in a thread that has one: ends
 * the process with a message.  Progress: lock-free. */
OVSTHREAD_API unsigned int ovsthread_id_init(void);

/* The thread's number, given now if need be.  Progress: lock-free. */
static inline unsigned int ovsthread_id_self(void) {
  unsigned int id = *ovsthread_id_get();
  return __builtin_expect(id == OVSTHREAD_ID_UNSET, 0) ? ovsthread_id_init()
                                                       : id;
}

/* Thread-specific data like that of pthreads, but with up to 2^20 keys (one
 * more aborts).  A value is NULL until set. */
typedef struct ovsthread_key *ovsthread_key_t;

/* DESTRUCTOR, if not NULL, is called when a thread ends, with its value unless
 * that is NULL, after the value was made NULL; in no particular order and not
 * again.  It must not call the functions below.  Progress: blocking. */
OVSTHREAD_API void ovsthread_key_create(ovsthread_key_t *key,
                                        void (*destructor)(void *value));

/* Makes all threads' values NULL without calling the destructor.  Afterwards
 * none runs nor will run.  Progress: blocking. */
OVSTHREAD_API void ovsthread_key_delete(ovsthread_key_t key);

/* The calling thread's value.  Progress: getspecific wait-free; setspecific
 * wait-free but for the first use of a key in a thread, which may block. */
OVSTHREAD_API void ovsthread_setspecific(ovsthread_key_t key,
                                         const void *value);
OVSTHREAD_API void *ovsthread_getspecific(ovsthread_key_t key);

/* Statistics in a few buckets, one for each residue of the thread's number;
 * each is made when one of its threads first asks, and never replaced.  What is
 * in a bucket is the caller's, who also makes access by several threads safe.
 */
#define OVSTHREAD_N_STATS_BUCKETS__ 16
struct ovsthread_stats {
  struct ovs_mutex mutex;
  void *volatile buckets[OVSTHREAD_N_STATS_BUCKETS__];
};

OVSTHREAD_API void ovsthread_stats_init(struct ovsthread_stats *stats);

/* Frees no bucket. */
OVSTHREAD_API void ovsthread_stats_destroy(struct ovsthread_stats *stats);

/* The calling thread's bucket, which NEW_BUCKET() makes under the mutex if it
 * isn't there.  Progress: wait-free once it is there, else blocking. */
OVSTHREAD_API void *ovsthread_stats_bucket_get(struct ovsthread_stats *stats,
                                               void *(*new_bucket)(void));

/* The lowest number from I of a bucket that is there, else 16.  Wait-free. */
OVSTHREAD_API size_t
ovs_thread_stats_next_bucket(const struct ovsthread_stats *stats, size_t i);

/* For each bucket that is there, BUCKET points to it and IDX is its number.
 * After a loop that was not left early, IDX is 16 and BUCKET the last one.
 *
 * (3) what is in the bucket; pairs with (12) of compat. */
#define OVSTHREAD_STATS_FOR_EACH_BUCKET(BUCKET, IDX, STATS)   \
  for ((IDX) = ovs_thread_stats_next_bucket(STATS, 0);        \
       (IDX) < OVSTHREAD_N_STATS_BUCKETS__                    \
           ? ((BUCKET) = (__typeof__(BUCKET))__atomic_load_n( \
                  &(STATS)->buckets[IDX], __ATOMIC_ACQUIRE),  \
             true)                                            \
           : false;                                           \
       (IDX) = ovs_thread_stats_next_bucket(STATS, (IDX) + 1))

#ifdef __cplusplus
}
#endif

#endif /* OVS_THREAD_H */
