// SPDX-License-Identifier: Apache-2.0
//
// What a person should look at in the statistics of locks, in a sentence or
// two.
#ifndef OVSTHREAD_TESTS_OVSTEST_STATS_ADVICE_H_
#define OVSTHREAD_TESTS_OVSTEST_STATS_ADVICE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "ovsthread/lock-stats.h"

namespace ovstest {

// Of less than this many nothing is concluded.
inline constexpr uint64_t kFewAborts = 100;
inline constexpr uint64_t kShortWaitNs = 1000000;

// Of any cause.
uint64_t all_aborts(const ovs_lock_stats_entry& entry);

// At most two sentences, the more important first; never none.  LINES: how many
// cache lines a transaction can write.
std::vector<std::string> advise(absl::Span<const ovs_lock_stats_entry> entries,
                                uint64_t lines);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_STATS_ADVICE_H_
