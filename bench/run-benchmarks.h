// SPDX-License-Identifier: Apache-2.0
//
// What the programs on Google Benchmark have in common: the context that their
// results are worth nothing without.
//
// The JSON's "context" gets, beside what Google Benchmark puts there: cpu (its
// model), compiler, version (of the library) and elision (whether locks elide,
// and why or why not).  "make bench" adds the commit.
#ifndef OVSTHREAD_BENCH_RUN_BENCHMARKS_H_
#define OVSTHREAD_BENCH_RUN_BENCHMARKS_H_

#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

#include "ovsthread/elision.h"
#include "ovsthread/version.h"

namespace bench {

// As the system calls it.
inline std::string cpu_model() {
  std::ifstream cpus("/proc/cpuinfo");
  for (std::string line; std::getline(cpus, line);) {
    size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "unknown";
}

inline std::string elision_state() {
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  return std::string(status.active ? "on: " : "off: ") + status.reason;
}

// Runs what is registered; to be returned from main().
inline int run_benchmarks(int argc, char** argv) {
#ifdef __clang__
  benchmark::AddCustomContext("compiler", __VERSION__);
#else
  benchmark::AddCustomContext("compiler", "g++ " __VERSION__);
#endif
  benchmark::AddCustomContext("cpu", cpu_model());
  benchmark::AddCustomContext("elision", elision_state());
  benchmark::AddCustomContext("version", ovsthread_version());
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace bench

#endif  // OVSTHREAD_BENCH_RUN_BENCHMARKS_H_
