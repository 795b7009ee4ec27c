// SPDX-License-Identifier: Apache-2.0
//
// The subcommands of ovstest.  Each gets the words that follow its name; its
// result becomes the exit code (see ovstest-command-line.h).
#ifndef OVSTHREAD_TESTS_OVSTEST_COMMANDS_H_
#define OVSTHREAD_TESTS_OVSTEST_COMMANDS_H_

#include "absl/status/status.h"
#include "ovstest-command-line.h"

namespace ovstest {

absl::Status elision(Words words);
absl::Status stats(Words words);
absl::Status test_cmap_benchmark(Words words);
absl::Status test_cmap_check(Words words);
absl::Status test_cmap_sweep(Words words);
absl::Status test_hmap(Words words);
absl::Status test_rcu(Words words);
absl::Status test_rwsem_check(Words words);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_COMMANDS_H_
