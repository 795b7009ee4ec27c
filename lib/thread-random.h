// SPDX-License-Identifier: Apache-2.0
//
// Random numbers of which each thread has a sequence of its own, so that no two
// threads share a line for them.  Not for secrets.
//
// Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
// generators": a counter, mixed.
#ifndef OVSTHREAD_LIB_THREAD_RANDOM_H_
#define OVSTHREAD_LIB_THREAD_RANDOM_H_

#include <cstdint>

namespace ovsthread {

// The next number of the calling thread, of 64 random bits.  Wait-free.
uint64_t thread_random();

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_THREAD_RANDOM_H_
