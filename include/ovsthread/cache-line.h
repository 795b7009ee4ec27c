// SPDX-License-Identifier: Apache-2.0
//
// The unit in which processors move memory between caches, hence the unit in
// which transactions conflict and threads share falsely.
#ifndef OVSTHREAD_CACHE_LINE_H_
#define OVSTHREAD_CACHE_LINE_H_

// Bytes in a cache line.  Fixed, not
// std::hardware_destructive_interference_size: the layouts of installed headers
// must not depend on compiler flags.
#define OVSTHREAD_CACHE_LINE_SIZE 64

#endif  // OVSTHREAD_CACHE_LINE_H_
