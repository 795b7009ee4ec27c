// SPDX-License-Identifier: Apache-2.0
//
// What the programs on Google Benchmark have in common: the "context" of their
// JSON holds, beside what Google Benchmark puts there, that of context.h.
#ifndef OVSTHREAD_BENCH_RUN_BENCHMARKS_H_
#define OVSTHREAD_BENCH_RUN_BENCHMARKS_H_

#include <benchmark/benchmark.h>

#include "context.h"

namespace bench {

// Runs what is registered; to be returned from main().
inline int run_benchmarks(int argc, char** argv) {
  for (const auto& [name, value] : context()) {
    benchmark::AddCustomContext(name, value);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench

#endif  // OVSTHREAD_BENCH_RUN_BENCHMARKS_H_
