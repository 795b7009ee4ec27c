// SPDX-License-Identifier: Apache-2.0
//
// ovstest elision: says in plain words whether locks are elided here and why,
// and what of the machine decides how well that works.
#include <string>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "ovstest-command-line.h"
#include "ovstest-commands.h"
#include "ovstest-json.h"
#include "ovstest-memory.h"
#include "ovstest-words.h"
#include "ovsthread/elision.h"
#include "ovsthread/topology.h"

namespace ovstest {
namespace {

using ovsthread::Cache;
using ovsthread::Topology;

size_t most_siblings(const Topology& topology) {
  size_t most = 0;
  for (const auto& core : topology.cores) most = std::max(most, core.size());
  return most;
}

void print_text(const ovs_elision_status& status, const Topology& topology) {
  absl::PrintF("Lock elision is %s: %s.\n\n", status.active ? "on" : "off",
               status.reason);
  absl::PrintF("%-14s %s\n", "library:",
               status.compiled ? "contains RTM instructions"
                               : "built without RTM instructions");
  absl::PrintF("%-14s %s\n", "processor:",
               status.available ? "runs transactions" : "runs no transactions");
  absl::PrintF("%-14s %s\n", "mode:", mode_name(ovs_elision_get_mode()));

  size_t siblings = most_siblings(topology);
  absl::PrintF("\n%-14s %s, %s\n",
               "usable:", count_of(topology.cores.size(), "core"),
               count_of(ovsthread::hardware_threads(), "hardware thread"));
  if (!topology.detailed) {
    absl::PrintF("%-14s unknown (hwloc could not be asked)\n", "caches:");
    return;
  }
  for (const auto& core : topology.cores) {
    if (core.size() > 1) {
      absl::PrintF("%-14s %s\n", "SMT siblings:", absl::StrJoin(core, " "));
    }
  }
  if (siblings > 1) {
    absl::PrintF(
        "%-14s A transaction's writes must fit in the level 1 cache, which %d\n"
        "%-14s SMT siblings share: pin threads to different cores.\n",
        "", siblings, "");
  }
  for (const Cache& cache : topology.caches) {
    absl::PrintF("%-14s %d x %s, shared by %s\n",
                 absl::StrFormat("level %d cache:", cache.level), cache.count,
                 format_bytes(static_cast<double>(cache.bytes)),
                 count_of(cache.sharing, "hardware thread"));
  }
}

void print_json(const ovs_elision_status& status, const Topology& topology) {
  JsonWriter json;
  json.open_object()
      .member("active", status.active)
      .member("reason", status.reason)
      .member("compiled", status.compiled)
      .member("available", status.available)
      .member("mode", mode_name(ovs_elision_get_mode()))
      .member("hardware_threads", ovsthread::hardware_threads());
  json.key("cores").open_array();
  for (const auto& core : topology.cores) {
    json.open_array();
    for (unsigned cpu : core) json.value(cpu);
    json.close_array();
  }
  json.close_array().key("caches").open_array();
  for (const Cache& cache : topology.caches) {
    json.open_object()
        .member("level", cache.level)
        .member("bytes", cache.bytes)
        .member("sharing", cache.sharing)
        .member("count", cache.count)
        .close_object();
  }
  json.close_array().close_object();
  absl::PrintF("%s\n", json.text());
}

}  // namespace

absl::Status elision(Words words) {
  bool json = false;
  CommandLine line("ovstest elision",
                   "Says whether locks are elided on this machine and why, and "
                   "shows its cores and caches.");
  line.flag("--json", "Prints one JSON object.", &json);
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }

  struct ovs_elision_status status;
  ovs_elision_get_status(&status);
  if (json) {
    print_json(status, ovsthread::topology());
  } else {
    print_text(status, ovsthread::topology());
  }
  return absl::OkStatus();
}

}  // namespace ovstest
