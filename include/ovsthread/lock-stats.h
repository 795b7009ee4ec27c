/* SPDX-License-Identifier: Apache-2.0
 *
 * Statistics of locks: for each lock and each place that takes it, how often
 * and how, what made its transactions abort, and how long threads waited.  C
 * and C++.
 *
 * Off by default, and then they cost nothing that could be measured.  The
 * environment variable OVSTHREAD_STATS (on, publish) or ovs_lock_stats_set()
 * switches them on.  Each thread then counts in memory of its own, never inside
 * a transaction, so that no section aborts because it is counted.
 *
 * Aborts and waits are all counted.  Of the acquisitions, a thread's first 1024
 * are counted one by one, and then one in 64 or so, which stands for those
 * since the last one: to count each would slow down short sections.  A number
 * of N acquisitions is then some 9 / sqrt(N) off: 1 % of a million, 9 % of ten
 * thousand.
 *
 * Taking a lock again after waiting on a condition is no acquisition that is
 * counted.
 *
 * A lock is known by its address.  Destroying it ends its entries, so that
 * another lock at the same address gets new ones, with another id.  What the
 * old one has counted is then shown with a later lock of the same name and
 * place, if there is one; inside an elided section the destruction is a safe
 * point.  (Memory that is freed with a lock in it that was not
 * destroyed can't be told apart.)  Memory is bounded: locks and places that
 * come when it is used up are counted together, as "others".
 *
 * A program that publishes its statistics does so in a shared-memory object
 * that only its user can open; `ovstest stats` shows it. */
#ifndef OVSTHREAD_LOCK_STATS_H_
#define OVSTHREAD_LOCK_STATS_H_

#include <ovsthread/annotations.h>
#include <ovsthread/elision.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ovs_lock_stats_mode {
  OVS_LOCK_STATS_OFF,
  OVS_LOCK_STATS_ON,     /* Count. */
  OVS_LOCK_STATS_PUBLISH /* Count where other processes of the user can read. */
};

/* How a place takes its lock. */
enum ovs_lock_use {
  OVS_LOCK_USE_MUTEX,
  OVS_LOCK_USE_READ,  /* An rwlock, for reading. */
  OVS_LOCK_USE_WRITE, /* An rwlock, for writing. */
  OVS_LOCK_USE_SPIN,
  OVS_N_LOCK_USES
};

/* What an acquisition does now, and why. */
enum ovs_lock_way {
  OVS_LOCK_WAY_UNKNOWN, /* Only ever taken inside other sections. */
  OVS_LOCK_WAY_ELIDES,  /* It tries a transaction first. */
  OVS_LOCK_WAY_OFF,     /* For real: elision is off. */
  OVS_LOCK_WAY_REAL,    /* For real: nothing is gained by eliding this lock. */
  OVS_LOCK_WAY_VETOED,  /* For real: transactions of this place have aborted. */
  OVS_N_LOCK_WAYS
};

/* A lock at one place that takes it. */
struct ovs_lock_stats_entry {
  char lock[64];  /* Its name, or its kind and the first place that took it. */
  char site[160]; /* The place. */
  pid_t pid;      /* Of the process. */
  uint32_t id;    /* Of the lock, in its process: 1, 2, ...; 0: others. */
  enum ovs_lock_use use;
  enum ovs_lock_way way;
  uint64_t address;      /* Of the lock. */
  uint64_t acquisitions; /* elided + real. */
  uint64_t elided;       /* Committed, or part of a section that did. */
  uint64_t real;
  uint64_t contended;            /* Acquisitions that had to wait. */
  uint64_t waited_ns;            /* How long, all together, ... */
  uint64_t longest_ns;           /* ... and the longest of them. */
  uint64_t aborts[OVS_N_ABORTS]; /* Of sections that began here. */
  uint64_t safe_points[OVS_N_SAFE_POINTS];
};

struct ovs_lock_stats {
  size_t n;
  struct ovs_lock_stats_entry *entries; /* "others", if any, last. */
};

enum ovs_lock_stats_syntax {
  OVS_LOCK_STATS_TEXT,      /* A table. */
  OVS_LOCK_STATS_JSON,      /* One object on one line. */
  OVS_LOCK_STATS_PROMETHEUS /* The text exposition format 0.0.4. */
};

/* Switches the process.  Counts are kept.  Returns 0, EINVAL if MODE is none,
 * or why there is no memory for it or it can't be published (the mode is then
 * the one before).  A child of fork() begins with counts of 0; it publishes its
 * own, if its parent did, from the first lock on that it takes, or is in mode
 * on from then if that fails.  If it has counted before it first publishes,
 * some of what its other threads count just then may be lost.  Blocking. */
OVSTHREAD_API int ovs_lock_stats_set(enum ovs_lock_stats_mode mode);
OVSTHREAD_API enum ovs_lock_stats_mode ovs_lock_stats_get(void);

/* Names LOCK, of any type of the library, until it is destroyed or named again.
 * Names are cut at 63 bytes.  Several locks may have one name; their ids tell
 * them apart.  Returns 0, or ENOMEM if there are too many names (4096) or no
 * memory.  Blocking. */
OVSTHREAD_API int ovs_lock_set_name(const void *lock, const char *name);

/* What the calling process has counted since its start or the last reset: the
 * entries that are not 0.  Exact when no thread is inside a lock call.  Null if
 * memory is short.  To be given to ovs_lock_stats_free().  Blocking. */
OVSTHREAD_API struct ovs_lock_stats *ovs_lock_stats_snapshot(void);

/* The same of process PID.  Returns 0, or ESRCH if there is no such process,
 * ENOENT if it publishes nothing, EACCES if another user does, EPROTO if what
 * is there can't be understood, or ENOMEM.  What an ended process of the caller
 * has left behind is removed.  Blocking. */
OVSTHREAD_API int ovs_lock_stats_snapshot_of(pid_t pid,
                                             struct ovs_lock_stats **stats);

/* The processes of the user that publish: writes up to MAX of them to PIDS and
 * returns how many there are.  Removes what ended ones have left.  Blocking. */
OVSTHREAD_API size_t ovs_lock_stats_processes(pid_t pids[], size_t max);

OVSTHREAD_API void ovs_lock_stats_free(struct ovs_lock_stats *stats);

/* Starts to count from 0 again.  Blocking. */
OVSTHREAD_API void ovs_lock_stats_reset(void);

/* STATS, in the order of their entries, as text to be given to free(); null if
 * memory is short.  Entries of several processes, which a caller may have put
 * together, are told apart by their pid, which samples for Prometheus always
 * have, so that the series of a process don't depend on how many there are.
 * Blocking. */
OVSTHREAD_API char *ovs_lock_stats_format(const struct ovs_lock_stats *stats,
                                          enum ovs_lock_stats_syntax syntax);

/* The words for them: "read", "write", ...; "elides", "real", ...  Wait-free.
 */
OVSTHREAD_API const char *ovs_lock_use_name(enum ovs_lock_use use);
OVSTHREAD_API const char *ovs_lock_way_name(enum ovs_lock_way way);

#ifdef __cplusplus
}

#include <memory>
#include <new>
#include <vector>

namespace ovsthread {

using LockStats = std::vector<ovs_lock_stats_entry>;

/* As ovs_lock_stats_snapshot().  Throws std::bad_alloc. */
inline LockStats lock_stats() {
  std::unique_ptr<ovs_lock_stats, void (*)(ovs_lock_stats *)> stats(
      ovs_lock_stats_snapshot(), ovs_lock_stats_free);
  if (!stats) throw std::bad_alloc();
  return LockStats(stats->entries, stats->entries + stats->n);
}

/* As ovs_lock_set_name(), for a Mutex, an RwLock, ... */
template <class Lock>
int set_lock_name(const Lock &lock, const char *name) {
  return ovs_lock_set_name(&lock, name);
}

}  // namespace ovsthread
#endif

#endif /* OVSTHREAD_LOCK_STATS_H_ */
