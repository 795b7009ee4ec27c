// SPDX-License-Identifier: Apache-2.0
#include "ovstest-plan.h"

#include <cstdint>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "ovstest-memory.h"

namespace ovstest {

Workload::Shape Plan::shape(double percent) const {
  return {.n = n,
          .threads = static_cast<unsigned>(threads),
          .mutation = percent,
          .batch = static_cast<unsigned>(batch),
          .seed = seed,
          .retire = retire,
          .pin = pin};
}

// An element's value has 32 bits.
Setter elements_setter(Plan* plan) {
  return whole_number(&plan->n, 1, UINT32_MAX);
}

Setter threads_setter(Plan* plan) {
  return whole_number(&plan->threads, 1, 1024);
}

// The lookups of one cmap_find_batch() are the bits of an unsigned long.
Setter batch_setter(Plan* plan) { return whole_number(&plan->batch, 1, 64); }

void add_options(CommandLine* line, Plan* plan) {
  line->option("--elision", "MODE",
               "What the TM column runs: auto (default), always, or off (no "
               "such column).",
               [plan](absl::string_view text) {
                 return one_of<std::optional<ovs_elision_mode>>(
                     &plan->elision, {{"auto", OVS_ELISION_AUTO},
                                      {"always", OVS_ELISION_ALWAYS},
                                      {"off", OVS_ELISION_OFF}})(text);
               });
  line->option(
      "--locks", "KIND",
      "pthread: a third column with pthread's locks; ovs (default).",
      one_of<bool>(&plan->pthread, {{"ovs", false}, {"pthread", true}}));
  line->flag("--retire",
             "Frees removed elements by ovsrcu_postpone() inside the lock.",
             &plan->retire);
  line->option("--repeat", "R",
               "Rounds; medians and 95 % intervals of the paired ratios.",
               whole_number(&plan->repeat, 1, 1000));
  line->option("--seed", "S", "Of the draws (default 1).",
               whole_number(&plan->seed, 0, UINT64_MAX));
  line->flag("--pin", "Binds each thread to a hardware thread.", &plan->pin);
  line->flag("--json", "Prints one JSON object.", &plan->json);
}

absl::Status check_memory(const CommandLine& line, const Plan& plan) {
  double needed = Workload::memory_needed(plan.shape(plan.mutation));
  double available = static_cast<double>(available_memory());
  if (needed <= available) return absl::OkStatus();
  return line.error(absl::StrFormat(
      "N is %d, which needs about %s of memory, but %s are available", plan.n,
      format_bytes(needed), format_bytes(available)));
}

}  // namespace ovstest
