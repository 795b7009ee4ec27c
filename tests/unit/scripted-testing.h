// SPDX-License-Identifier: Apache-2.0
//
// What the tests upon the scripted layer share.
#ifndef OVSTHREAD_TESTS_UNIT_SCRIPTED_TESTING_H_
#define OVSTHREAD_TESTS_UNIT_SCRIPTED_TESTING_H_

#include <gtest/gtest.h>
#include <ovsthread/elision.h>

#include <cstdio>
#include <string>

#include "elision-policy.h"
#include "elision.h"
#include "lock-testing.h"
#include "lock-word.h"
#include "openvswitch/thread.h"
#include "ovsthread-rwlock.h"
#include "scripted-layer.h"

namespace ovsthread {

// Each test starts with elision in mode always and with counts of 0.
class Scripted : public testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "the thread sanitizer does not know restored stacks";
#endif
    ASSERT_EQ(ovs_elision_set_mode(OVS_ELISION_ALWAYS), 0);
    // Real read holds are told by the word here.
    ovs_rwlock_set_bias(false);
    ovs_elision_counts_reset();
  }

  static uint64_t aborts(ovs_elision_abort cause) {
    return counts().aborts[cause];
  }
  static ovs_elision_counts counts() {
    ovs_elision_counts now;
    ovs_elision_counts_read(&now);
    return now;
  }
  static bool elided() { return elision::in_transaction(); }
};

inline bool is_held(const ovs_mutex& mutex) { return mutex.word >= 32; }

// As a trace has the abort at a safe point.
inline std::string abort_at(ovs_safe_point what) {
  char text[32];
  std::snprintf(text, sizeof text, "abort(%x)",
                elision::kCodeSafePoint + static_cast<unsigned>(what));
  return text;
}

// As sampling does in mode auto.
template <class Lock>
void set_elide_mode(Lock& lock) {
  lock.word |= kLockElide;
}

// The status of an abort by the engine itself.
constexpr uint32_t explicit_abort(uint8_t code) {
  return uint32_t{code} << 24 | kStatusExplicit;
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_UNIT_SCRIPTED_TESTING_H_
