// SPDX-License-Identifier: Apache-2.0
//
// The memory of a process's table of lock statistics, and how it is published.
//
// The table lies in a file of /dev/shm that has no name, or in anonymous memory
// where there can be none.  Publishing gives the file the name
// ovsthread-stats.PID: from then on shm_open() finds it, but only for its user.
// A file that has lost its name can't get another one, so it keeps it, and the
// table says whether it is published, until the process ends; if that comes too
// abruptly, the next reader removes it.
//
// The process holds an exclusive flock() on the file, which the kernel takes
// back however the program ends, be it by exec(): a file that nobody holds is a
// leftover.  Process numbers would not do: they are used again, and processes
// that share /dev/shm may count them in different namespaces.
//
// A reader copies the file and maps nothing: what another process does to the
// file meanwhile, it reads too little or numbers that make no sense.
#ifndef OVSTHREAD_LIB_LOCK_STATS_MEMORY_H_
#define OVSTHREAD_LIB_LOCK_STATS_MEMORY_H_

#include <sys/types.h>

#include "lock-stats-table.h"

namespace ovsthread::stats {

// All zero; null if memory is short.
Table* allocate_memory();

void initialise_table(Table& table);

// Returns 0 or an error number.  In a child of fork, what other threads count
// meanwhile may be lost; they may claim nothing of TABLE.
int publish_memory(Table& table);
void hide_memory(Table& table);

// The child of a fork gets memory of its own, all zero, where TABLE is; false:
// there is none.  It has no file until it publishes: most children only want to
// execute another program.
bool replace_memory_in_child(Table* table);

// Copies the table that process PID publishes.  Errors as of
// ovs_lock_stats_snapshot_of().
int read_published(pid_t pid, Table& copy);

}  // namespace ovsthread::stats

#endif  // OVSTHREAD_LIB_LOCK_STATS_MEMORY_H_
