// SPDX-License-Identifier: Apache-2.0
//
// The relacy race detector without the macros that it leaves behind.
//
// relacy.hpp ends by redefining `new`, `free`, `memory_order_relaxed` and
// others for code that is written against it.  The library's algorithms are
// not, and the standard headers they include must not see these macros.
#ifndef OVSTHREAD_TESTS_INTERLEAVE_RELACY_H_
#define OVSTHREAD_TESTS_INTERLEAVE_RELACY_H_

#include <cassert>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <new>

// Its models of pthread and of Windows would redefine the errno constants.
#define RL_PTHREAD_HPP
#define RL_WINDOWS_HPP
#pragma push_macro("assert")
#pragma push_macro("errno")
#include <relacy/base.hpp>

// Its generator misses a third of the sequences of the first 8 binary choices,
// and with some seeds repeats a handful.  This is SplitMix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators"), one sequence a run.
#define RL_RANDOM_HPP
namespace rl {
struct random_generator {
  void seed(iteration_t run) {
    state = run * 0xd1342543de82ef95;
    rand();
  }
  unsigned rand() {
    state += 0x9e3779b97f4a7c15;
    uint64_t mixed = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return static_cast<unsigned>(mixed >> 32);
  }
  uint64_t state;
};
}  // namespace rl

#include <relacy/relacy.hpp>

// Its histories print pointers as void*, which pointers to const don't become.
namespace rl {
template <typename T>
struct atomic_add_type<const T*> {
  typedef ptrdiff_t type;
  typedef const void* output_type;
};
}  // namespace rl

#undef VAR_T
#undef TLS_T
#undef VAR
#undef memory_order_relaxed
#undef memory_order_consume
#undef memory_order_acquire
#undef memory_order_release
#undef memory_order_acq_rel
#undef memory_order_seq_cst
#undef new
#undef delete
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef $
#pragma pop_macro("assert")
#pragma pop_macro("errno")

#endif  // OVSTHREAD_TESTS_INTERLEAVE_RELACY_H_
