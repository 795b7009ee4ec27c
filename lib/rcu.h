// SPDX-License-Identifier: Apache-2.0
//
// Quiescent-state RCU: what the rest of the library and the C and C++ faces
// call.  The algorithm is in lib/rcu-core.h.
//
// A thread is *active* or *quiescent*; one that has called nothing of this
// header is quiescent.  What an active thread has read stays valid until it
// quiesces.  A thread registers itself at its first call that needs it.
//
// Nothing here but postpone(), retire() and guard_*() may be called inside a
// read-side guard; nothing that waits for callbacks may be called from one.
// Both end in a diagnostic.
#ifndef OVSTHREAD_LIB_RCU_H_
#define OVSTHREAD_LIB_RCU_H_

#include <cstdint>

#include "rcu-batch.h"

namespace ovsthread::rcu {

// Calls FUNCTION(ARG) after the caller has quiesced and every thread that was
// active then has quiesced too.  Makes the caller active.  By an active thread
// with room in its batch a private store that is allowed inside a transaction;
// else it may allocate.  Wait-free but for allocation.
void postpone(Function function, void* arg);

// The same for the library's own use: leaves the caller's state as it is, so a
// caller that is quiescent now has "quiesced" already.  Never runs a callback.
void retire(Function function, void* arg);

// Wait-free.
bool is_quiescent();

// A number that stays the same as long as all that the calling thread may hold
// stays valid; 0 while the thread is quiescent.  Wait-free.
uint64_t read_section();

// Passes through a quiescent state and leaves the caller active.  While no
// helper thread exists, runs the callbacks that are due.  Otherwise wait-free.
void quiesce();

// As quiesce(), which waits for nothing, so that the result is always true.
// Not allowed in a process without a second thread.
bool try_quiesce();

// quiesce_start() makes the caller quiescent until quiesce_end(), or any other
// call that makes it active.  They do not nest.  quiesce_end() is wait-free.
void quiesce_start();
void quiesce_end();

// Blocks until every thread that is active now has quiesced, the caller being
// quiescent meanwhile.  Leaves the caller active.  Without any other thread it
// does nothing at all.
void synchronize();

// Blocks until every callback postponed before the call, by any thread, has
// run.  Leaves the caller active.
void barrier();

// For the end of main(): stops the helper thread and runs what is pending, up
// to eight rounds of it.  Callbacks postponed later never run.  Blocking;
// a second call does nothing.
void exit();

// A nesting read-side guard: the thread is active at least until the matching
// guard_unlock(), which restores the state that the outermost guard_lock()
// found.  Wait-free, but guard_unlock() runs callbacks as quiesce() does if it
// makes the thread quiescent.
void guard_lock();
void guard_unlock();

// As synchronize() and barrier(), but leave the caller's state as it was.
void synchronize_keeping_state();
void barrier_keeping_state();

// Starts the helper thread that runs callbacks from now on, unless it runs.
void start_helper();

}  // namespace ovsthread::rcu

#endif  // OVSTHREAD_LIB_RCU_H_
