/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader-writer lock of ovs-thread.h, source compatible with Open vSwitch.
 *
 * Writers are preferred: once one waits, no further reader enters, so readers
 * can starve under writers without a pause.  A thread must therefore not take a
 * second read lock: it would wait for the writer that waits for its first one.
 * (Without a waiting writer it gets it.)  Where sections are short and rarely
 * write, an ovs_mutex costs less.
 *
 * Sections may run elided, and every misuse ends the process with a message, as
 * described in openvswitch/thread.h: locking for writing what the caller holds
 * in either way, or for reading what it holds for writing; a second read lock
 * while a writer waits; unlocking what the caller doesn't hold; destroying what
 * is held; any use of a lock that is not initialised or was destroyed. */
#ifndef OVSTHREAD_RWLOCK_H
#define OVSTHREAD_RWLOCK_H 1

#include "openvswitch/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-filled memory is an uninitialised lock. */
struct OVS_LOCKABLE ovs_rwlock {
  uint32_t word;            /* State, writer or readers; lib/rwlock-core.h. */
  uint32_t waiting_writers; /* How many. */
  const char *where;        /* "file:line" where it was last taken for real. */
  uint64_t inhibited_until; /* When it may be biased towards readers again. */
};

#define OVS_RWLOCK_INITIALIZER \
  { 1, 0, "<unlocked>", 0 }

/* Whether rwlocks that are mostly read, and are not elided, become biased
 * towards readers: readers then announce themselves in 64 bytes of their own
 * thread, so that they don't slow one another down, and a writer looks through
 * those of all threads.  On by default; OVSTHREAD_RWLOCK_BIAS=off|on in the
 * environment sets it at start.  What is biased already stays so until the next
 * writer. Progress: wait-free. */
OVSTHREAD_API void ovs_rwlock_set_bias(bool allowed);
OVSTHREAD_API bool ovs_rwlock_get_bias(void);

/* Initialises *RWLOCK.  Progress: wait-free. */
OVSTHREAD_API void ovs_rwlock_init(struct ovs_rwlock *rwlock);

/* Destroys a free lock.  It may follow the last unlock at once, in another
 * thread, too.  Progress: lock-free. */
OVSTHREAD_API void ovs_rwlock_destroy(struct ovs_rwlock *rwlock);
OVSTHREAD_API void ovs_rwlock_destroy_at(struct ovs_rwlock *rwlock,
                                         const char *where);
#define ovs_rwlock_destroy(rwlock) \
  ovs_rwlock_destroy_at(rwlock, OVSTHREAD_WHERE)

/* Take the lock for writing, for reading.  Progress: blocking. */
OVSTHREAD_API void ovs_rwlock_wrlock_at(const struct ovs_rwlock *rwlock,
                                        const char *where)
    OVS_ACQ_WRLOCK(rwlock);
#define ovs_rwlock_wrlock(rwlock) ovs_rwlock_wrlock_at(rwlock, OVSTHREAD_WHERE)
OVSTHREAD_API void ovs_rwlock_rdlock_at(const struct ovs_rwlock *rwlock,
                                        const char *where)
    OVS_ACQ_RDLOCK(rwlock);
#define ovs_rwlock_rdlock(rwlock) ovs_rwlock_rdlock_at(rwlock, OVSTHREAD_WHERE)

/* The same if it is free to take now: 0, else EBUSY.  A reader may take it for
 * reading again.  Progress: lock-free. */
OVSTHREAD_API int ovs_rwlock_trywrlock_at(const struct ovs_rwlock *rwlock,
                                          const char *where)
    OVS_TRY_WRLOCK(0, rwlock);
#define ovs_rwlock_trywrlock(rwlock) \
  ovs_rwlock_trywrlock_at(rwlock, OVSTHREAD_WHERE)
OVSTHREAD_API int ovs_rwlock_tryrdlock_at(const struct ovs_rwlock *rwlock,
                                          const char *where)
    OVS_TRY_RDLOCK(0, rwlock);
#define ovs_rwlock_tryrdlock(rwlock) \
  ovs_rwlock_tryrdlock_at(rwlock, OVSTHREAD_WHERE)

/* Releases either kind.  Progress: lock-free. */
OVSTHREAD_API void ovs_rwlock_unlock(const struct ovs_rwlock *rwlock)
    OVS_RELEASES(rwlock);
OVSTHREAD_API void ovs_rwlock_unlock_at(const struct ovs_rwlock *rwlock,
                                        const char *where) OVS_RELEASES(rwlock);
#define ovs_rwlock_unlock(rwlock) ovs_rwlock_unlock_at(rwlock, OVSTHREAD_WHERE)

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_RWLOCK_H */
