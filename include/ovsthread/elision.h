/* SPDX-License-Identifier: Apache-2.0
 *
 * Lock elision: what the machine can do, what the process does, and what came
 * of it.  C and C++.
 *
 * Elision runs a critical section as a hardware transaction (Intel RTM) without
 * taking its lock.  It is decided per process here and per acquisition by the
 * locks themselves; a program needs nothing of this header to profit. */
#ifndef OVSTHREAD_ELISION_H_
#define OVSTHREAD_ELISION_H_

#include <ovsthread/annotations.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ovs_elision_mode {
  OVS_ELISION_AUTO,  /* Elide a lock where that has been measured to be cheaper
                      * than taking it for real (default).  New locks are taken
                      * for real; the measurement follows the program. */
  OVS_ELISION_OFF,   /* Start no transaction. */
  OVS_ELISION_ALWAYS /* Try each acquisition as a transaction first. */
};

/* Classes of aborts, the same words in code, JSON and statistics. */
enum ovs_elision_abort {
  OVS_ABORT_BUSY,     /* The lock was held for real. */
  OVS_ABORT_CONFLICT, /* Another thread touched a line of the transaction. */
  OVS_ABORT_CAPACITY, /* The section touched more than the cache can hold. */
  OVS_ABORT_COLD,     /* No cause given: page fault, interrupt, lazy binding. */
  OVS_ABORT_NESTED,   /* A transaction inside this one aborted. */
  OVS_ABORT_SAFE_POINT, /* The section did what no transaction can do. */
  OVS_ABORT_OTHER,      /* Any other explicit abort. */
  OVS_N_ABORTS
};

/* What no transaction can do.  A section that gets there aborts as
 * OVS_ABORT_SAFE_POINT, is run again for real, and is counted by kind. */
enum ovs_safe_point {
  OVS_SAFE_POINT_CONDITION_WAIT,
  OVS_SAFE_POINT_RCU_REGISTER, /* A thread's first use of RCU. */
  OVS_SAFE_POINT_QUIESCE,
  OVS_SAFE_POINT_SYNCHRONIZE, /* Waiting for a grace period. */
  OVS_SAFE_POINT_BARRIER,     /* Waiting for threads, or for callbacks. */
  OVS_SAFE_POINT_FORK,
  OVS_SAFE_POINT_THREAD_START,
  OVS_SAFE_POINT_MESSAGE,   /* A misuse, or another fatal message. */
  OVS_SAFE_POINT_WAKE,      /* Waking a thread that waits. */
  OVS_SAFE_POINT_MIGRATION, /* A map that owes work to its resize. */
  OVS_SAFE_POINT_ALLOCATION,
  OVS_SAFE_POINT_STATISTICS,  /* Reading or resetting counts. */
  OVS_SAFE_POINT_MODE_CHANGE, /* Switching elision or statistics. */
  OVS_N_SAFE_POINTS
};

struct ovs_elision_status {
  bool compiled;      /* The library contains the instructions. */
  bool available;     /* The CPU runs transactions; trial ones committed. */
  bool active;        /* Locks may elide now. */
  const char *reason; /* In plain words, why ACTIVE is what it is; static. */
};

/* Counts of one process since its start or the last reset. */
struct ovs_elision_counts {
  uint64_t acquisitions; /* Outermost acquisitions while elision was active:
                          * those not inside an elided section, nor inside one
                          * that a safe point made start again for real.
                          * In mode auto, while locks are taken for real, a
                          * relock of a recursive mutex counts, too, and what
                          * is locked inside a transaction of the program's
                          * own. */
  uint64_t elided;       /* Those of them that committed as a transaction. */
  uint64_t started;      /* Transactions started. */
  uint64_t aborts[OVS_N_ABORTS];
  uint64_t safe_points[OVS_N_SAFE_POINTS]; /* The safe_point aborts, by kind. */
};

/* Sets the mode of the process.  The environment variable OVSTHREAD_ELISION
 * (off, auto, always) sets it at start.  Returns 0, or ENOTSUP if MODE is
 * ALWAYS and transactions don't work here (the mode is then unchanged), or
 * EINVAL if MODE is none.  Locks that are held keep the way they were taken.
 * Progress: lock-free. */
OVSTHREAD_API int ovs_elision_set_mode(enum ovs_elision_mode mode);
OVSTHREAD_API enum ovs_elision_mode ovs_elision_get_mode(void);

/* Trial transactions run once, when the mode first is not OFF: normally before
 * main().  Where none has run, AVAILABLE is what the CPU says of itself.
 *
 * A program may lose its transactions while it runs, by being moved to another
 * machine.  If none commits any more, trial ones neither, elision is switched
 * off for the process: AVAILABLE and ACTIVE are then false and REASON says so,
 * while the mode stays what it was set to.  Setting it again tries afresh.
 * Progress: wait-free. */
OVSTHREAD_API void ovs_elision_get_status(struct ovs_elision_status *status);

/* Adds up the counts of all threads, ended ones included.  Exact when no thread
 * is inside a lock call.  Blocking (a registry lock). */
OVSTHREAD_API void ovs_elision_counts_read(struct ovs_elision_counts *counts);
OVSTHREAD_API void ovs_elision_counts_reset(void);

/* The word for CAUSE: "busy", "conflict", ...  Wait-free. */
OVSTHREAD_API const char *ovs_elision_abort_name(enum ovs_elision_abort cause);

/* The word for WHAT: "condition_wait", "rcu_register", ...  Wait-free. */
OVSTHREAD_API const char *ovs_safe_point_name(enum ovs_safe_point what);

#ifdef __cplusplus
}
#endif

#endif /* OVSTHREAD_ELISION_H_ */
