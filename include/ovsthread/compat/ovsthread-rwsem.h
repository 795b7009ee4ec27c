/* SPDX-License-Identifier: Apache-2.0
 *
 * A recursive reader-writer semaphore with the semantics of the rw_semaphore of
 * NuttX.
 *
 * Its writer may take it again: for writing, or for reading, which counts as
 * one more level of the write lock.  Either up_read or up_write releases a
 * level of the writer.  Waiters are served in the order in which they came, a
 * writer alone or the readers in front of the next writer together; a waiter is
 * woken once, when it has the semaphore, and nobody overtakes it.
 *
 * Every misuse ends the process with a message that names both places:
 * releasing what the caller does not hold; taking it for writing while the
 * caller reads, which would be a deadlock, and for reading a second time, with
 * no deadline, while someone waits; downgrading at more than one level;
 * destroying it while it is held; any use of a semaphore that is not
 * initialised or was destroyed.
 *
 * It is never elided, and taking it inside an elided section ends that as a
 * transaction.  Where no recursion is needed, an ovs_rwlock is elided.  The
 * analysis of clang does not follow it, since it knows no recursion. */
#ifndef OVSTHREAD_RWSEM_H
#define OVSTHREAD_RWSEM_H 1

#include <time.h>

#include "openvswitch/thread.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Zero-filled memory is an uninitialised semaphore.  The members are described
 * in lib/rwsem-core.h. */
struct ovs_rwsem {
  uint32_t word;
  uint32_t depth;
  void *first;
  void *last;
  uint64_t handed;
  const char *where; /* "file:line" where it was last taken. */
};

#define OVS_RWSEM_INITIALIZER \
  { 1, 0, NULL, NULL, 0, "<unlocked>" }

/* Initialises *SEM.  Progress: wait-free. */
OVSTHREAD_API void ovs_rwsem_init(struct ovs_rwsem *sem);

/* Destroys a free semaphore.  It may follow the last release at once, in
 * another thread, too.  Progress: wait-free. */
OVSTHREAD_API void ovs_rwsem_destroy_at(struct ovs_rwsem *sem,
                                        const char *where);
#define ovs_rwsem_destroy(sem) ovs_rwsem_destroy_at(sem, OVSTHREAD_WHERE)

/* Take it for reading, for writing.  Progress: blocking. */
OVSTHREAD_API void ovs_rwsem_down_read_at(struct ovs_rwsem *sem,
                                          const char *where);
#define ovs_rwsem_down_read(sem) ovs_rwsem_down_read_at(sem, OVSTHREAD_WHERE)
OVSTHREAD_API void ovs_rwsem_down_write_at(struct ovs_rwsem *sem,
                                           const char *where);
#define ovs_rwsem_down_write(sem) ovs_rwsem_down_write_at(sem, OVSTHREAD_WHERE)

/* The same if it can be had now without overtaking a waiter: 1, else 0.  A
 * reader that asks for writing gets 0.  Progress: don't sleep; lock-free but
 * while another thread changes the queue of waiters. */
OVSTHREAD_API int ovs_rwsem_down_read_trylock_at(struct ovs_rwsem *sem,
                                                 const char *where);
#define ovs_rwsem_down_read_trylock(sem) \
  ovs_rwsem_down_read_trylock_at(sem, OVSTHREAD_WHERE)
OVSTHREAD_API int ovs_rwsem_down_write_trylock_at(struct ovs_rwsem *sem,
                                                  const char *where);
#define ovs_rwsem_down_write_trylock(sem) \
  ovs_rwsem_down_write_trylock_at(sem, OVSTHREAD_WHERE)

/* Take it, but wait no longer than until DEADLINE, of CLOCK_MONOTONIC.  Return
 * 0 or ETIMEDOUT.  Progress: blocking. */
OVSTHREAD_API int ovs_rwsem_down_read_timed_at(struct ovs_rwsem *sem,
                                               const struct timespec *deadline,
                                               const char *where);
#define ovs_rwsem_down_read_timed(sem, deadline) \
  ovs_rwsem_down_read_timed_at(sem, deadline, OVSTHREAD_WHERE)
OVSTHREAD_API int ovs_rwsem_down_write_timed_at(struct ovs_rwsem *sem,
                                                const struct timespec *deadline,
                                                const char *where);
#define ovs_rwsem_down_write_timed(sem, deadline) \
  ovs_rwsem_down_write_timed_at(sem, deadline, OVSTHREAD_WHERE)

/* Take it, but return EINTR when a signal handler has run in the calling thread
 * while it slept, whether it was installed with SA_RESTART or not; else 0.
 * Progress: blocking. */
OVSTHREAD_API int ovs_rwsem_down_read_interruptible_at(struct ovs_rwsem *sem,
                                                       const char *where);
#define ovs_rwsem_down_read_interruptible(sem) \
  ovs_rwsem_down_read_interruptible_at(sem, OVSTHREAD_WHERE)
OVSTHREAD_API int ovs_rwsem_down_write_interruptible_at(struct ovs_rwsem *sem,
                                                        const char *where);
#define ovs_rwsem_down_write_interruptible(sem) \
  ovs_rwsem_down_write_interruptible_at(sem, OVSTHREAD_WHERE)

/* Release one level.  up_read serves readers and the writer, up_write the
 * writer.  Progress: as trylock. */
OVSTHREAD_API void ovs_rwsem_up_read_at(struct ovs_rwsem *sem,
                                        const char *where);
#define ovs_rwsem_up_read(sem) ovs_rwsem_up_read_at(sem, OVSTHREAD_WHERE)
OVSTHREAD_API void ovs_rwsem_up_write_at(struct ovs_rwsem *sem,
                                         const char *where);
#define ovs_rwsem_up_write(sem) ovs_rwsem_up_write_at(sem, OVSTHREAD_WHERE)

/* Makes the writer, which must have one level, a reader, and lets the readers
 * at the head of the queue in.  Progress: as trylock. */
OVSTHREAD_API void ovs_rwsem_downgrade_write_at(struct ovs_rwsem *sem,
                                                const char *where);
#define ovs_rwsem_downgrade_write(sem) \
  ovs_rwsem_downgrade_write_at(sem, OVSTHREAD_WHERE)

/* The number (ovsthread_id_self() in ovs-thread.h) of the thread that holds it
 * for writing, or UINT_MAX.  Progress: wait-free. */
OVSTHREAD_API unsigned int ovs_rwsem_holder(const struct ovs_rwsem *sem);

/* To how many waiters it was handed so far; each was woken once, at most. Exact
 * for who holds it for writing.  Progress: wait-free. */
OVSTHREAD_API uint64_t ovs_rwsem_n_handed(const struct ovs_rwsem *sem);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_RWSEM_H */
