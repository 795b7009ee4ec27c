// SPDX-License-Identifier: Apache-2.0
//
// Guards of oneTBB's speculative locks, which have no other interface, in the
// form of those of bench/locks.h.  (tbb::spin_mutex has that of the standard
// library.)  Only where configure has found oneTBB.
#ifndef OVSTHREAD_BENCH_PEERS_TBB_LOCKS_H_
#define OVSTHREAD_BENCH_PEERS_TBB_LOCKS_H_

#include <oneapi/tbb/spin_mutex.h>
#include <oneapi/tbb/spin_rw_mutex.h>

namespace bench {

class TbbSpeculating {
 public:
  using Lock = tbb::speculative_spin_mutex;
  static constexpr bool kExclusive = true;

  explicit TbbSpeculating(Lock& lock) : scope_(lock) {}

 private:
  Lock::scoped_lock scope_;
};

template <bool exclusive>
class TbbSpeculatingRw {
 public:
  using Lock = tbb::speculative_spin_rw_mutex;
  static constexpr bool kExclusive = exclusive;

  explicit TbbSpeculatingRw(Lock& lock) : scope_(lock, exclusive) {}

 private:
  Lock::scoped_lock scope_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_PEERS_TBB_LOCKS_H_
