// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to fill a map from empty, and to erase and
// re-insert an element of a full one, in cmap and hmap beside the maps of the
// standard library and of Abseil?  One thread, no lock.
//
// The argument is the number of elements; times are per element.
#include <benchmark/benchmark.h>

#include "maps.h"
#include "run-benchmarks.h"
#include "workload.h"

namespace {

template <class Map>
void BM_Fill(benchmark::State& state) {
  uint32_t n = state.range(0);
  std::vector<uint32_t> order = bench::permutation(n, 1, 0);
  while (state.KeepRunningBatch(n)) {
    state.PauseTiming();
    {
      Map map(n);
      state.ResumeTiming();
      for (uint32_t key : order) map.insert(key);
      state.PauseTiming();
    }
    state.ResumeTiming();
  }
}

template <class Map>
void BM_Replace(benchmark::State& state) {
  uint32_t n = state.range(0);
  Map map(n);
  for (uint32_t key = 0; key < n; key++) map.insert(key);
  std::vector<uint32_t> order = bench::permutation(n, 1, 0);
  size_t next = 0;
  for (auto _ : state) {
    map.erase(order[next]);
    map.insert(order[next]);
    if (++next == n) next = 0;
  }
}

BENCHMARK_MAPS(BM_Fill);
BENCHMARK_MAPS(BM_Replace);

}  // namespace

int main(int argc, char** argv) { return bench::run_benchmarks(argc, argv); }
