// SPDX-License-Identifier: Apache-2.0
//
// ovstest stats: the statistics that running programs publish of their locks.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-stats-advice.h"
#include "ovsthread/lock-stats.h"
#include "ovsthread/topology.h"

namespace ovstest {
namespace {

using Entry = ovs_lock_stats_entry;
using Order = bool (*)(const Entry&, const Entry&);

double elided_share(const Entry& entry) {
  return entry.acquisitions == 0 ? 0
                                 : static_cast<double>(entry.elided) /
                                       static_cast<double>(entry.acquisitions);
}

// Numbers descend, texts ascend.
const std::vector<std::pair<absl::string_view, Order>>& columns() {
  static const std::vector<std::pair<absl::string_view, Order>> kColumns = {
      {"lock",
       [](const Entry& a, const Entry& b) {
         return std::string_view(a.lock) < b.lock;
       }},
      {"site",
       [](const Entry& a, const Entry& b) {
         return std::string_view(a.site) < b.site;
       }},
      {"acquired",
       [](const Entry& a, const Entry& b) {
         return a.acquisitions > b.acquisitions;
       }},
      {"elided",
       [](const Entry& a, const Entry& b) {
         return elided_share(a) > elided_share(b);
       }},
      {"aborts", [](const Entry& a,
                    const Entry& b) { return all_aborts(a) > all_aborts(b); }},
      {"waits", [](const Entry& a,
                   const Entry& b) { return a.contended > b.contended; }},
      {"waited", [](const Entry& a,
                    const Entry& b) { return a.waited_ns > b.waited_ns; }},
      {"longest", [](const Entry& a,
                     const Entry& b) { return a.longest_ns > b.longest_ns; }},
  };
  return kColumns;
}

struct Request {
  uint64_t pid = 0;  // 0: the only one
  bool all = false;
  uint64_t seconds = 0;  // 0: once
  bool json = false;
  bool prometheus = false;
  Order order = nullptr;
};

std::vector<pid_t> publishers() {
  std::vector<pid_t> pids(ovs_lock_stats_processes(nullptr, 0));
  // Some may have come meanwhile, and some gone.
  pids.resize(std::min(pids.size(),
                       ovs_lock_stats_processes(pids.data(), pids.size())));
  std::sort(pids.begin(), pids.end());
  return pids;
}

absl::Status explain(pid_t pid, int error) {
  switch (error) {
    case ESRCH:
      return absl::NotFoundError(
          absl::StrFormat("stats: there is no process %d", pid));
    case ENOENT:
      return absl::NotFoundError(
          absl::StrFormat("stats: process %d publishes nothing; start it with "
                          "OVSTHREAD_STATS=publish",
                          pid));
    case EACCES:
      return absl::PermissionDeniedError(absl::StrFormat(
          "stats: what process %d publishes is another user's", pid));
    case EPROTO:
      return absl::DataLossError(
          absl::StrFormat("stats: what process %d publishes is damaged, or of "
                          "another version of the library",
                          pid));
    default:
      return absl::InternalError(
          absl::StrCat("stats: ", std::generic_category().message(error)));
  }
}

// Appends what process PID has counted.
absl::Status append(pid_t pid, std::vector<Entry>* entries) {
  ovs_lock_stats* stats = nullptr;
  int error = ovs_lock_stats_snapshot_of(pid, &stats);
  if (error != 0) return explain(pid, error);
  entries->insert(entries->end(), stats->entries, stats->entries + stats->n);
  ovs_lock_stats_free(stats);
  return absl::OkStatus();
}

absl::Status collect(const Request& request, std::vector<Entry>* entries) {
  entries->clear();
  if (request.pid != 0) {
    return append(static_cast<pid_t>(request.pid), entries);
  }
  std::vector<pid_t> pids = publishers();
  if (pids.empty()) {
    return absl::NotFoundError(
        "stats: no process publishes its statistics; start one with "
        "OVSTHREAD_STATS=publish");
  }
  for (pid_t pid : pids) {
    // One of several may end at any time.
    absl::Status status = append(pid, entries);
    if (!status.ok() && !absl::IsNotFound(status)) return status;
  }
  return absl::OkStatus();
}

// How many lines a transaction can write: those of the level 1 cache.
uint64_t writable_lines() {
  constexpr uint64_t kLineBytes = 64;
  for (const ovsthread::Cache& cache : ovsthread::topology().caches) {
    if (cache.level == 1) return cache.bytes / kLineBytes;
  }
  return 512;
}

void print(const Request& request, std::vector<Entry>* entries,
           uint64_t lines) {
  std::stable_sort(entries->begin(), entries->end(), request.order);
  ovs_lock_stats stats = {entries->size(), entries->data()};
  ovs_lock_stats_syntax syntax = request.json ? OVS_LOCK_STATS_JSON
                                 : request.prometheus
                                     ? OVS_LOCK_STATS_PROMETHEUS
                                     : OVS_LOCK_STATS_TEXT;
  std::unique_ptr<char, void (*)(void*)> text(
      ovs_lock_stats_format(&stats, syntax), std::free);
  if (!text) throw std::bad_alloc();
  std::fputs(text.get(), stdout);
  if (syntax == OVS_LOCK_STATS_TEXT) {
    absl::PrintF("\n%s\n", absl::StrJoin(advise(*entries, lines), "\n"));
  }
}

// Until the process ends.  On a terminal each table replaces the last one.
absl::Status watch(const Request& request) {
  bool terminal = isatty(STDOUT_FILENO) != 0;
  uint64_t lines = writable_lines();
  std::vector<Entry> entries;
  for (bool first = true;; first = false) {
    absl::Status status = collect(request, &entries);
    if (!status.ok()) {
      return !first && absl::IsNotFound(status) ? absl::OkStatus() : status;
    }
    if (terminal && request.seconds != 0) std::fputs("\033[H\033[2J", stdout);
    print(request, &entries, lines);
    if (request.seconds == 0) return absl::OkStatus();
    if (!terminal && !request.json) std::fputs("\n", stdout);
    if (std::fflush(stdout) != 0) return absl::OkStatus();  // finish() says so
    poll(nullptr, 0, static_cast<int>(request.seconds * 1000));
  }
}

}  // namespace

absl::Status stats(Words words) {
  Request request;
  constexpr uint64_t kMaxPid = 1 << 22;
  constexpr uint64_t kMaxSeconds = 86400;
  bool pid_given = false;
  request.order = columns()[2].second;
  CommandLine line("ovstest stats",
                   "Shows what a running program has counted of its locks, if "
                   "it was started with\nOVSTHREAD_STATS=publish.");
  Setter set_pid = whole_number(&request.pid, 1, kMaxPid);
  line.optional("PID", "The process; by default the only one that publishes.",
                [&](absl::string_view text) {
                  pid_given = true;
                  return set_pid(text);
                });
  line.flag("--all", "Shows all processes of the user.", &request.all);
  line.option_or_flag("--watch", "SECONDS", "2",
                      "Shows it anew until the process ends.",
                      whole_number(&request.seconds, 1, kMaxSeconds));
  line.option("--sort", "COLUMN", "Sorts by this column; default: acquired.",
              one_of(&request.order, columns()));
  line.flag("--json", "Prints one JSON object on a line.", &request.json);
  line.flag("--prometheus", "Prints the text format of Prometheus.",
            &request.prometheus);
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }
  if (pid_given && request.all) {
    return line.error("PID and --all exclude each other");
  }
  if (request.json && request.prometheus) {
    return line.error("--json and --prometheus exclude each other");
  }
  if (!pid_given && !request.all) {
    std::vector<pid_t> pids = publishers();
    if (pids.size() > 1) {
      return line.error(absl::StrFormat(
          "%d processes publish their statistics; PID must be one of %s, or "
          "use --all",
          pids.size(), absl::StrJoin(pids, ", ")));
    }
    // With one, its end is the end.
    if (pids.size() == 1) request.pid = static_cast<uint64_t>(pids[0]);
  }
  return watch(request);
}

}  // namespace ovstest
