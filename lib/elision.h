// SPDX-License-Identifier: Apache-2.0
//
// What code outside the locks needs to know of elision.
#ifndef OVSTHREAD_LIB_ELISION_H_
#define OVSTHREAD_LIB_ELISION_H_

#include <ovsthread/elision.h>

#include <cstdint>

#include "atomics.h"

namespace ovsthread::elision {

// Whether the calling thread runs an elided section now.  Wait-free.
bool in_transaction();

// To be passed before WHAT.  Outside a transaction it does nothing.  Inside, it
// aborts: the section starts again with its locks taken for real, this call
// does not return, and the abort is counted as one of WHAT.
void safe_point(ovs_safe_point what);

// To be called when statistics of locks have been switched.  Blocking.
void attend_to_recording();

// In a child of fork: no other thread attends to anything any more.
void attend_in_child();

// In a child of fork: the recorders' tallies are gone.
void forget_recorded();

// The caller is about to sleep until the lock at WORD is released: what the
// policy wants to know.  Wait-free.
void waits_for(RealAtomics::Atomic<uint32_t>& word);

}  // namespace ovsthread::elision

#endif  // OVSTHREAD_LIB_ELISION_H_
