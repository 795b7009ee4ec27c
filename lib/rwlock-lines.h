// SPDX-License-Identifier: Apache-2.0
//
// The lines in which the threads of the process announce that they read
// (rwlock-readers.h): one for all rwlocks of a thread, 64 bytes, that it gets
// at its first counted read lock and leaves to a later thread when it ends.
#ifndef OVSTHREAD_LIB_RWLOCK_LINES_H_
#define OVSTHREAD_LIB_RWLOCK_LINES_H_

#include "atomics.h"
#include "lock-platform.h"
#include "rwlock-readers.h"

namespace ovsthread {

using ReaderLines =
    RwReaders<RealAtomics, LockPlatform, LockPlatform::kReaderSlots>;
using ReaderLine = ReaderLines::Line;
static_assert(sizeof(ReaderLine) == OVSTHREAD_CACHE_LINE_SIZE);

// The calling thread's; null if it has none yet.
extern constinit thread_local ReaderLine* tls_reader_line;

// Gives the calling thread a line; null if memory is short.  Blocking.
ReaderLine* acquire_reader_line();

// Whether locks may become biased.
extern constinit RealAtomics::Atomic<bool> bias_allowed;

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_RWLOCK_LINES_H_
