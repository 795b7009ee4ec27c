// SPDX-License-Identifier: Apache-2.0
#include "ovstest-memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ovstest {
namespace {

// A file that holds one number.  A group without a limit says "max".
bool read_number(const std::string& file, uint64_t* number) {
  std::ifstream stream(file);
  std::string word;
  return stream >> word && absl::SimpleAtoi(word, number);
}

uint64_t kernel_available() {
  std::ifstream stream("/proc/meminfo");
  for (std::string line; std::getline(stream, line);) {
    uint64_t kib;
    std::vector<absl::string_view> words =
        absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (words.size() >= 2 && words[0] == "MemAvailable:" &&
        absl::SimpleAtoi(words[1], &kib)) {
      return kib * 1024;
    }
  }
  return UINT64_MAX;
}

// What one control group, and each above it, leaves over.
uint64_t group_available(const std::string& root, std::string path,
                         absl::string_view limit_file,
                         absl::string_view usage_file) {
  uint64_t least = UINT64_MAX;
  while (true) {
    uint64_t limit, usage;
    std::string group = absl::StrCat(root, path, "/");
    if (read_number(absl::StrCat(group, limit_file), &limit) &&
        read_number(absl::StrCat(group, usage_file), &usage)) {
      least = std::min(least, limit > usage ? limit - usage : 0);
    }
    if (path.empty()) return least;
    path.resize(path.rfind('/'));
  }
}

uint64_t groups_available() {
  uint64_t least = UINT64_MAX;
  std::ifstream stream("/proc/self/cgroup");
  for (std::string line; std::getline(stream, line);) {
    // "0::/path" in version 2, "7:memory:/path" in version 1.
    std::vector<std::string> fields =
        absl::StrSplit(line, absl::MaxSplits(':', 2));
    if (fields.size() != 3 || !absl::StartsWith(fields[2], "/")) continue;
    std::string path = fields[2] == "/" ? "" : fields[2];
    if (fields[0] == "0") {
      least = std::min(least, group_available("/sys/fs/cgroup", path,
                                              "memory.max", "memory.current"));
    } else if (fields[1] == "memory") {
      least = std::min(least, group_available("/sys/fs/cgroup/memory", path,
                                              "memory.limit_in_bytes",
                                              "memory.usage_in_bytes"));
    }
  }
  return least;
}

}  // namespace

uint64_t available_memory() {
  uint64_t least = std::min(kernel_available(), groups_available());
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    least = std::min<uint64_t>(least, limit.rlim_cur);
  }
  return least;
}

std::string format_bytes(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    unit++;
  }
  return absl::StrFormat("%.*f %s", unit ? 1 : 0, bytes, units[unit]);
}

}  // namespace ovstest
