// SPDX-License-Identifier: Apache-2.0
//
// What results are worth nothing without.
#ifndef OVSTHREAD_BENCH_CONTEXT_H_
#define OVSTHREAD_BENCH_CONTEXT_H_

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "ovsthread/elision.h"
#include "ovsthread/version.h"

namespace bench {

// The model of the CPU as the system calls it.
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

// By name.
inline std::vector<std::pair<std::string, std::string>> context() {
#ifdef __clang__
  const char* compiler = __VERSION__;
#else
  const char* compiler = "g++ " __VERSION__;
#endif
  return {{"compiler", compiler},
          {"cpu", cpu_model()},
          {"elision", elision_state()},
          {"version", ovsthread_version()}};
}

}  // namespace bench

#endif  // OVSTHREAD_BENCH_CONTEXT_H_
