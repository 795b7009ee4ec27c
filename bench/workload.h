// SPDX-License-Identifier: Apache-2.0
//
// What the workloads of benchmarks and checks have in common: random orders of
// visit, and memory of a chosen page size.
#ifndef OVSTHREAD_BENCH_WORKLOAD_H_
#define OVSTHREAD_BENCH_WORKLOAD_H_

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace bench {

// The numbers 0 ... n - 1 in an order that SEED and STREAM decide.
inline std::vector<uint32_t> permutation(uint32_t n, uint64_t seed,
                                         uint32_t stream) {
  std::seed_seq seeds{static_cast<uint32_t>(seed),
                      static_cast<uint32_t>(seed >> 32), stream};
  std::mt19937_64 random(seeds);
  std::vector<uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

// N zeroed objects of a trivial type, all of whose pages have been touched.
// HUGE asks for huge pages, otherwise there are none.
template <class T>
class Pages {
 public:
  Pages(size_t n, bool huge) : bytes_((n * sizeof(T) + kHuge - 1) & -kHuge) {
    // Room to align: a huge page starts at a multiple of its size.
    mapping_ = mmap(nullptr, bytes_ + kHuge, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping_ == MAP_FAILED) {
      std::perror("mmap");
      std::exit(1);
    }
    uintptr_t start =
        (reinterpret_cast<uintptr_t>(mapping_) + kHuge - 1) & -kHuge;
    data_ = reinterpret_cast<T*>(start);
    // Fails only where the kernel knows no huge pages.
    madvise(data_, bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(static_cast<void*>(data_), 0, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { munmap(mapping_, bytes_ + kHuge); }

  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }

 private:
  static constexpr size_t kHuge = size_t{2} << 20;

  size_t bytes_;
  void* mapping_;
  T* data_;
};

}  // namespace bench

#endif  // OVSTHREAD_BENCH_WORKLOAD_H_
