// SPDX-License-Identifier: Apache-2.0
//
// What the words of all locks share: six bits of state (each lock's own, but
// LIVE and ELIDE mean the same everywhere), then the owner's number.
#ifndef OVSTHREAD_LIB_LOCK_WORD_H_
#define OVSTHREAD_LIB_LOCK_WORD_H_

#include <cstdint>

namespace ovsthread {

inline constexpr uint32_t kLockLive = 1;  // initialised and not destroyed
// In mode auto: acquisitions try a transaction.  One bit for all threads, since
// one that went for real among many that elide would abort them all.  Other
// bits don't depend on it, and every operation keeps it.
inline constexpr uint32_t kLockElide = 8;

inline constexpr uint32_t kOwnerOne = 64;
inline constexpr uint32_t kOwnerMask = ~(kOwnerOne - 1);

// The number of a thread in the owner's bits, not 0.  Thread ids are never used
// twice, but there are more of them than numbers: two threads share one if
// 2^26 - 1 others were made between them and the first still lives.  Ids, and
// so the words of held locks, survive a fork.
constexpr uint32_t lock_number(uint32_t thread_id) {
  return (thread_id % (kOwnerMask / kOwnerOne) + 1) * kOwnerOne;
}

// What came of an operation on a lock.
enum class LockResult : uint8_t {
  kDone,
  kBusy,     // try: held
  kHeld,     // lock: by the caller already; destroy: by anyone
  kNotHeld,  // unlock: not by the caller
  kDead,     // not initialised, or destroyed
  kTooMany,  // more levels or readers than are counted
};

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOCK_WORD_H_
