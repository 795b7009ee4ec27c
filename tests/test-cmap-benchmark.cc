// SPDX-License-Identifier: Apache-2.0
//
// ovstest test-cmap benchmark: times batched cmap, cmap and hmap at one rate of
// mutation.  See ovstest-trial.h for what is timed.
#include <cstdio>

#include "absl/strings/str_format.h"
#include "ovstest-commands.h"
#include "ovstest-plan.h"
#include "ovstest-progress.h"
#include "ovstest-report.h"
#include "ovstest-words.h"

namespace ovstest {
namespace {

void print_header(const Plan& plan, const Elision& elision) {
  absl::PrintF("n=%d, %s, %g %% mutations, batch size %d, seed %d, %s%s%s\n",
               plan.n, count_of(plan.threads, "thread"), plan.mutation,
               plan.batch, plan.seed, count_of(plan.repeat, "round"),
               plan.retire ? ", removed elements retired" : "",
               plan.pin ? ", threads pinned" : "");
  absl::PrintF("search: baseline%s; TM: %s\n\n",
               plan.pthread ? " / TM / pthread" : " / TM", describe(elision));
  std::fflush(stdout);
}

absl::StatusOr<Result> measure(const Plan& plan, const Elision& elision,
                               const Workload& workload, Container container,
                               Progress* progress) {
  Measurement measurement(container, elision, plan.pthread);
  if (plan.repeat > 1) {
    progress->show(absl::StrFormat("%s: warming up", name(container)));
    absl::Status status = measurement.run_round(workload, true);
    if (!status.ok()) return status;
  }
  for (uint64_t round = 1; round <= plan.repeat; round++) {
    progress->show(absl::StrFormat("%s: round %d of %d", name(container), round,
                                   plan.repeat));
    absl::Status status = measurement.run_round(workload);
    if (!status.ok()) return status;
  }
  progress->show("");
  return measurement.result();
}

absl::Status benchmark(const Plan& plan, const Elision& elision) {
  Progress progress;
  if (!plan.json) print_header(plan, elision);
  progress.show("drawing");
  Workload workload(plan.shape(plan.mutation));

  JsonWriter json;
  json.open_object()
      .member("n", plan.n)
      .member("threads", plan.threads)
      .member("mutation", plan.mutation)
      .member("batch", plan.batch)
      .member("rounds", plan.repeat)
      .member("seed", plan.seed);
  write_elision(elision, &json);
  json.key("results").open_array();
  for (Container container : kAllContainers) {
    absl::StatusOr<Result> result =
        measure(plan, elision, workload, container, &progress);
    if (!result.ok()) {
      return absl::InternalError(
          absl::StrCat(name(container), ": ", result.status().message()));
    }
    write_result(*result, &json);
    if (!plan.json) {
      if (container != kAllContainers[0]) absl::PrintF("\n");
      absl::PrintF("%s", format_result(*result, plan, elision));
      std::fflush(stdout);
    }
  }
  json.close_array().close_object();
  if (plan.json) absl::PrintF("%s\n", json.text());
  return absl::OkStatus();
}

}  // namespace

absl::Status test_cmap_benchmark(Words words) {
  Plan plan;
  plan.repeat = 1;
  CommandLine line("ovstest test-cmap benchmark",
                   "Times cmap and hmap while threads search and remove, with "
                   "lock elision off and on.");
  line.required("N", "Elements, whose hashes are those of 0 ... N - 1.",
                elements_setter(&plan));
  line.required("THREADS", "Threads; each visits all elements in order.",
                threads_setter(&plan));
  line.required("MUTATION%", "Share of the visits that remove the element.",
                percentage(&plan.mutation));
  line.optional("BATCH", "Elements per batched lookup (default 1).",
                batch_setter(&plan));
  add_options(&line, &plan);
  if (absl::Status status = line.parse(words);
      !status.ok() || line.help_shown()) {
    return status;
  }
  if (absl::Status status = check_memory(line, plan); !status.ok()) {
    return status;
  }
  absl::StatusOr<Elision> elision = choose_elision(plan.elision);
  if (!elision.ok()) return elision.status();
  ignore_warnings();
  return benchmark(plan, *elision);
}

}  // namespace ovstest
