// SPDX-License-Identifier: Apache-2.0
#include "rwsem-operations.h"

#include <cerrno>
#include <limits>

#include "lock-misuse.h"
#include "lock-operations.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

HeldLocks& held_locks() { return elision::tls_elision.held; }

[[noreturn]] void report(const RealRwSem& sem, const char* where,
                         const char* what, const char* relation) {
  report_misuse(
      {what, "rwsem", &sem, where, relation, sem.where.load(kRelaxed)});
}

[[noreturn]] void report_dead(const RealRwSem& sem, const char* where) {
  report_misuse({"use of an uninitialised or destroyed %s", "rwsem", &sem,
                 where, nullptr, nullptr});
}

// RESULT of a try was neither kDone nor kBusy.
[[noreturn]] void report_try(const RealRwSem& sem, const char* where,
                             LockResult result) {
  if (result == LockResult::kTooMany) {
    report(sem, where, "too many levels of an %s", "last taken at");
  }
  report_dead(sem, where);
}

[[noreturn]] void report_not_held(const RealRwSem& sem, const char* where,
                                  const char* what) {
  if (!(sem.word.load(kRelaxed) & kLockLive)) report_dead(sem, where);
  report(sem, where, what, "last taken at");
}

void note_read(RealRwSem& sem, const char* where) {
  sem.where.store(where, kRelaxed);
  held_locks().push_real(&sem.word, Hold::kCounted, where);
}

// RESULT of taking it to read without waiting.  A reader's hold is noted, a
// writer's further level is not.
bool read_done(RealRwSem& sem, const char* where, LockResult result) {
  if (result == LockResult::kBusy) return false;
  if (result != LockResult::kDone) report_try(sem, where, result);
  if (!sem.write_held_by(held_locks().self())) note_read(sem, where);
  return true;
}

bool write_done(RealRwSem& sem, const char* where, LockResult result) {
  if (result == LockResult::kBusy) return false;
  if (result != LockResult::kDone) report_try(sem, where, result);
  sem.where.store(where, kRelaxed);
  return true;
}

// Queues up; ERROR says why it returned kBusy.
LockResult wait_in_queue(RealRwSem& sem, uint32_t as_writer, bool hopeless,
                         RwSemPatience patience, int& error) {
  // Without a deadline the kernel would go on waiting behind a handler that was
  // installed with SA_RESTART.
  timespec never = {std::numeric_limits<time_t>::max(), 0};
  const timespec* deadline = patience.deadline;
  if (deadline == nullptr && patience.interruptible) deadline = &never;
  return sem.queue_up(as_writer, hopeless, [&](RealRwSem::Word& granted) {
    error = futex_wait(granted, 0, FutexQueue::kExclusive, deadline);
    return error != ETIMEDOUT && (error != EINTR || !patience.interruptible);
  });
}

}  // namespace

int rwsem_read(RealRwSem& sem, const char* where, RwSemPatience patience) {
  if (rwsem_try_read(sem, where)) return 0;
  const HeldLock* mine = held_locks().find(&sem.word);
  const char* since = mine != nullptr ? mine->where() : nullptr;
  int error = 0;
  LockResult result =
      wait_in_queue(sem, 0, since != nullptr && patience.deadline == nullptr,
                    patience, error);
  if (result == LockResult::kHeld) {
    report_misuse({"deadlock: second read lock of an %s while a writer waits",
                   "rwsem", &sem, where, "held since", since});
  }
  if (result == LockResult::kBusy) return error;
  note_read(sem, where);
  return 0;
}

int rwsem_write(RealRwSem& sem, const char* where, RwSemPatience patience) {
  if (rwsem_try_write(sem, where)) return 0;
  if (const HeldLock* mine = held_locks().find(&sem.word)) {
    report_misuse({"deadlock: write lock of an %s that the caller reads",
                   "rwsem", &sem, where, "held since", mine->where()});
  }
  int error = 0;
  LockResult result =
      wait_in_queue(sem, held_locks().self(), false, patience, error);
  if (result == LockResult::kBusy) return error;
  sem.where.store(where, kRelaxed);
  return 0;
}

bool rwsem_try_read(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_BARRIER);
  return read_done(sem, where, sem.try_read(held_locks().self()));
}

bool rwsem_try_write(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_BARRIER);
  return write_done(sem, where, sem.try_write(held_locks().self()));
}

void rwsem_read_unlock(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  if (sem.write_held_by(held_locks().self())) return sem.write_unlock();
  HeldLock* mine = held_locks().find(&sem.word);
  if (mine == nullptr) {
    report_not_held(sem, where,
                    "unlock of an %s that the caller does not hold");
  }
  held_locks().remove(mine);
  sem.read_unlock();
}

void rwsem_write_unlock(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  if (!sem.write_held_by(held_locks().self())) {
    report_not_held(sem, where,
                    "write unlock of an %s that the caller does not write");
  }
  sem.write_unlock();
}

void rwsem_downgrade(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  if (!sem.write_held_by(held_locks().self())) {
    report_not_held(sem, where,
                    "downgrade of an %s that the caller does not write");
  }
  if (sem.downgrade() == LockResult::kHeld) {
    report(sem, where, "downgrade of an %s at more than one level",
           "held since");
  }
  held_locks().push_real(&sem.word, Hold::kCounted, where);
}

void rwsem_destroy(RealRwSem& sem, const char* where) {
  elision::safe_point(OVS_SAFE_POINT_WAKE);
  LockResult result = sem.destroy();
  if (result == LockResult::kDead) report_dead(sem, where);
  if (result == LockResult::kHeld) {
    report(sem, where, "destruction of an %s that is held", "held since");
  }
}

uint32_t rwsem_holder(const RealRwSem& sem) {
  // Relaxed: a snapshot, unless the caller is the holder.
  uint32_t writer = RealRwSem::writer(sem.word.load(kRelaxed));
  return writer == 0 ? kThreadIdUnset : writer / kOwnerOne - 1;
}

}  // namespace ovsthread
