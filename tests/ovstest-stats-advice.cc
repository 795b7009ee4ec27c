// SPDX-License-Identifier: Apache-2.0
#include "ovstest-stats-advice.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ovstest {
namespace {

using Entry = ovs_lock_stats_entry;

uint64_t sum(absl::Span<const uint64_t> counts) {
  return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}

double percent(uint64_t part, uint64_t whole) {
  return whole == 0
             ? 0
             : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string place(const Entry& entry) {
  return absl::StrFormat("`%s` at %s", absl::CHexEscape(entry.lock),
                         absl::CHexEscape(entry.site));
}

std::string duration(uint64_t ns) {
  double value = static_cast<double>(ns);
  if (ns >= 1000000000) return absl::StrFormat("%.1f s", value / 1e9);
  if (ns >= 1000000) return absl::StrFormat("%.1f ms", value / 1e6);
  return absl::StrFormat("%.0f us", value / 1e3);
}

template <size_t n>
size_t most(const uint64_t (&counts)[n]) {
  return static_cast<size_t>(std::max_element(counts, counts + n) - counts);
}

// Why sections of an entry abort, and what can be done.
std::string reason(const Entry& entry, size_t cause, uint64_t lines) {
  switch (cause) {
    case OVS_ABORT_BUSY:
      return "others hold the lock for real; look at what makes them do so";
    case OVS_ABORT_CONFLICT:
      return "sections of several threads write the same lines; keep apart "
             "what different threads write";
    case OVS_ABORT_CAPACITY:
      return absl::StrCat("the section writes more than ", lines,
                          " lines, or reads more than the cache can track; "
                          "shorten it");
    case OVS_ABORT_COLD:
      return "the section meets page faults, interrupts or system calls; touch "
             "memory before it, and make no calls into the kernel in it";
    case OVS_ABORT_NESTED:
      return "a transaction of the program's own in the section aborts";
    case OVS_ABORT_SAFE_POINT:
      return absl::StrFormat(
          "the section does what no transaction can do, mostly %s; do that "
          "outside of it",
          ovs_safe_point_name(
              static_cast<ovs_safe_point>(most(entry.safe_points))));
    default:
      return "the section holds more locks than can be elided at once, or "
             "elision was switched";
  }
}

const Entry* find_worst_aborter(absl::Span<const Entry> entries) {
  const Entry* worst = nullptr;
  for (const Entry& entry : entries) {
    uint64_t aborts = all_aborts(entry);
    if (aborts < kFewAborts || percent(aborts, entry.acquisitions) < 1) {
      continue;
    }
    if (worst == nullptr || aborts > all_aborts(*worst)) worst = &entry;
  }
  return worst;
}

const Entry* find_longest_waiter(absl::Span<const Entry> entries) {
  const Entry* worst = nullptr;
  for (const Entry& entry : entries) {
    if (entry.waited_ns < kShortWaitNs ||
        percent(entry.contended, entry.acquisitions) < 1) {
      continue;
    }
    if (worst == nullptr || entry.waited_ns > worst->waited_ns) worst = &entry;
  }
  return worst;
}

std::string about_aborts(const Entry& entry, uint64_t lines) {
  size_t cause = most(entry.aborts);
  return absl::StrFormat(
      "%.0f %% of the aborts of %s are %s: %s.",
      percent(entry.aborts[cause], all_aborts(entry)), place(entry),
      ovs_elision_abort_name(static_cast<ovs_elision_abort>(cause)),
      reason(entry, cause, lines));
}

std::string about_waiting(const Entry& entry) {
  return absl::StrFormat(
      "Threads have waited %s for %s, in %.1f %% of its acquisitions and up to "
      "%s: shorten the sections under this lock, or split it.",
      duration(entry.waited_ns), place(entry),
      percent(entry.contended, entry.acquisitions), duration(entry.longest_ns));
}

}  // namespace

uint64_t all_aborts(const ovs_lock_stats_entry& entry) {
  return sum(entry.aborts);
}

std::vector<std::string> advise(absl::Span<const ovs_lock_stats_entry> entries,
                                uint64_t lines) {
  std::vector<std::string> sentences;
  const Entry* waiter = find_longest_waiter(entries);
  const Entry* aborter = find_worst_aborter(entries);
  if (waiter != nullptr) sentences.push_back(about_waiting(*waiter));
  if (aborter != nullptr) sentences.push_back(about_aborts(*aborter, lines));
  if (waiter != nullptr && waiter->way == OVS_LOCK_WAY_OFF) {
    sentences.push_back(
        "Elision is off in this process; `ovstest elision` says what this "
        "machine can do.");
  }
  uint64_t all = 0;
  uint64_t others = 0;
  for (const Entry& entry : entries) {
    all += entry.acquisitions;
    if (entry.id == 0) others += entry.acquisitions;
  }
  if (percent(others, all) >= 5) {
    sentences.push_back(absl::StrFormat(
        "%.0f %% of all acquisitions are of locks and places that found no "
        "room and are counted as others.",
        percent(others, all)));
  }
  if (all == 0) sentences.push_back("No lock has been taken yet.");
  if (sentences.empty()) {
    sentences.push_back("Nothing stands out: hardly any waits or aborts.");
  }
  if (sentences.size() > 2) sentences.resize(2);
  return sentences;
}

}  // namespace ovstest
