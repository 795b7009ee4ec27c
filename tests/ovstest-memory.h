// SPDX-License-Identifier: Apache-2.0
//
// How much memory the program may still use.
#ifndef OVSTHREAD_TESTS_OVSTEST_MEMORY_H_
#define OVSTHREAD_TESTS_OVSTEST_MEMORY_H_

#include <cstdint>
#include <string>

namespace ovstest {

// Bytes: the least of what the kernel calls available, of what the control
// groups of the process leave over and of its address space limit.
uint64_t available_memory();

// "5.7 GiB".
std::string format_bytes(double bytes);

}  // namespace ovstest

#endif  // OVSTHREAD_TESTS_OVSTEST_MEMORY_H_
