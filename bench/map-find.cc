// SPDX-License-Identifier: Apache-2.0
//
// Question: what does one lookup cost in cmap and hmap, in one thread and
// without a lock, beside the maps of the standard library and of Abseil?
//
// The argument is the number of elements.  All are looked up in random order.
#include <benchmark/benchmark.h>

#include "maps.h"
#include "run-benchmarks.h"
#include "workload.h"

namespace {

template <class Map>
void BM_Find(benchmark::State& state) {
  uint32_t n = state.range(0);
  Map map(n);
  for (uint32_t key = 0; key < n; key++) map.insert(key);
  std::vector<uint32_t> order = bench::permutation(n, 1, 0);
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(map.find(order[next]));
    if (++next == n) next = 0;
  }
}

BENCHMARK_MAPS(BM_Find);

}  // namespace

int main(int argc, char** argv) { return bench::run_benchmarks(argc, argv); }
