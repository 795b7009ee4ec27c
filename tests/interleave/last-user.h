// SPDX-License-Identifier: Apache-2.0
//
// A lock that its last user destroys.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_LAST_USER_H_
#define OVSTHREAD_TESTS_INTERLEAVE_LAST_USER_H_

#include "interleave/model-atomics.h"
#include "interleave/relacy.h"
#include "lock-word.h"

namespace ovsthread {

// Made with new, for two threads.
template <class Lock>
class LastUserDestroys {
 public:
  // Takes the lock in the way MINE; the last user then does so in the way
  // WRITE, that of a writer, and destroys the lock at once, while the one
  // before may still be in its unlock.
  template <class Way>
  void use(Way mine, Way write) {
    lock.lock(mine);
    bool last = users_.fetch_sub(1, kRelaxed) == 1;
    lock.unlock();
    if (!last) return;
    // The other one has left the section.
    lock.lock(write);
    lock.unlock();
    RL_ASSERT(lock.core.destroy() == LockResult::kDone);
    delete this;
  }

  Lock lock;

 private:
  ModelAtomics::Atomic<int> users_{2};
};

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_INTERLEAVE_LAST_USER_H_
