// SPDX-License-Identifier: Apache-2.0
#include "interleave/driver.h"

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "interleave/model-atomics.h"

// relacy keeps the stacks of its fibers and watches the scenario's allocations
// itself, with an operator new that the sanitizer does not know.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:alloc_dealloc_mismatch=0:"
         "detect_stack_use_after_return=0";
}

// relacy replaces the plain forms only.
void operator delete(void* object, size_t) noexcept { operator delete(object); }
void operator delete[](void* array, size_t) noexcept {
  operator delete[](array);
}

namespace ovsthread::interleave {
namespace {

constexpr int kUsage = 2;
// A run whose threads take more steps than this together is a livelock.
constexpr unsigned kMaxSteps = 5000;

struct Options {
  int weaken = 0;
  const char* scenario = "";
  uint64_t runs = 20000;
  uint64_t seed = 0;
  bool trace = false;
};

struct Outcome {
  bool failed;
  uint64_t runs;
  rl::string report;  // The history of the failure.
};

[[noreturn]] void usage_error(const char* program, const char* problem,
                              const char* text) {
  std::fprintf(stderr,
               "%s: %s '%s'; allowed: [--weaken N] [--scenario TEXT] "
               "[--runs N] [--seed N] [--trace]\n",
               program, problem, text);
  std::exit(kUsage);
}

uint64_t to_number(const char* program, const char* text, uint64_t min,
                   uint64_t max) {
  char* end;
  errno = 0;
  uint64_t value = std::strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || *end || errno || value < min ||
      value > max) {
    usage_error(program, "bad number", text);
  }
  return value;
}

Options parse(int argc, char** argv) {
  constexpr uint64_t kMaxSeed = UINT64_MAX >> 1;  // runs are numbered upwards
  constexpr uint64_t kMaxRuns = UINT32_MAX;
  Options options;
  const char* runs = std::getenv("OVSTHREAD_INTERLEAVE_RUNS");
  if (runs) options.runs = to_number(argv[0], runs, 1, kMaxRuns);
  const char* seed = std::getenv("OVSTHREAD_TEST_SEED");
  options.seed = seed ? to_number(argv[0], seed, 0, UINT64_MAX) & kMaxSeed
                      : std::random_device()();
  for (int i = 1; i < argc; i++) {
    if (!std::strcmp(argv[i], "--trace")) {
      options.trace = true;
      continue;
    }
    if (i + 1 == argc) usage_error(argv[0], "bad argument", argv[i]);
    const char* value = argv[i + 1];
    if (!std::strcmp(argv[i], "--weaken")) {
      options.weaken =
          static_cast<int>(to_number(argv[0], value, 1, INT32_MAX));
    } else if (!std::strcmp(argv[i], "--scenario")) {
      options.scenario = value;
    } else if (!std::strcmp(argv[i], "--runs")) {
      options.runs = to_number(argv[0], value, 1, kMaxRuns);
    } else if (!std::strcmp(argv[i], "--seed")) {
      options.seed = to_number(argv[0], value, 0, kMaxSeed);
    } else {
      usage_error(argv[0], "bad argument", argv[i]);
    }
    i++;
  }
  return options;
}

Outcome search(const Scenario& scenario, rl::scheduler_type_e type,
               uint64_t seed, uint64_t runs) {
  rl::ostringstream report;
  std::ostream nowhere(nullptr);
  rl::test_params params;
  params.search_type = type;
  params.context_bound = scenario.preemptions;
  params.execution_depth_limit = kMaxSteps;
  params.output_stream = &report;
  params.progress_stream = &nowhere;
  if (type == rl::sched_random) {
    rl::ostringstream state;
    state << seed << ' ';
    params.initial_state = state.str();
    params.iteration_count = seed + runs - 1;
  }
  scenario.simulate(params);
  bool failed = params.test_result != rl::test_result_success;
  uint64_t first = type == rl::sched_random ? seed : 1;
  return {failed, params.stop_iteration - first + 1,
          failed ? report.str() : rl::string()};
}

void print_report(const Outcome& outcome) {
  const char* line = outcome.report.c_str();
  while (*line) {
    int length = static_cast<int>(std::strcspn(line, "\n"));
    std::printf("# %.*s\n", length, line);
    line += length + (line[length] == '\n');
  }
}

// As written: no interleaving fails.
bool search_sound(const Scenario& scenario, const Options& options) {
  Outcome outcome =
      search(scenario, scenario.search, options.seed, options.runs);
  std::printf("# %s: %" PRIu64 " interleavings, %s\n", scenario.name,
              outcome.runs, rl::format(scenario.search));
  if (outcome.failed) {
    print_report(outcome);
    if (scenario.search == rl::sched_random) {
      std::printf("# replay: --scenario '%s' --seed %" PRIu64 " --runs 1\n",
                  scenario.name, options.seed + outcome.runs - 1);
    }
  }
  return !outcome.failed;
}

// With one order weakened: some interleaving fails.  A random search mostly
// finds it sooner than one in order.
bool search_weakened(const Scenario& scenario, int number,
                     const Options& options) {
  ModelAtomics::weakened = number;
  Outcome outcome =
      search(scenario, rl::sched_random, options.seed, 10 * options.runs);
  if (!outcome.failed && scenario.search != rl::sched_random) {
    outcome = search(scenario, scenario.search, 0, 0);
  }
  ModelAtomics::weakened = 0;
  std::printf("# %s, order %d relaxed: %s after %" PRIu64 " interleavings\n",
              scenario.name, number, outcome.failed ? "fails" : "no failure",
              outcome.runs);
  if (outcome.failed && options.trace) print_report(outcome);
  return outcome.failed;
}

}  // namespace

int run(int argc, char** argv, const std::vector<Scenario>& scenarios) {
  Options options = parse(argc, argv);
  std::printf("# seed %" PRIu64 "\n", options.seed);
  int count = 0;
  bool all_ok = true;
  auto report = [&](bool ok, const char* name, int number) {
    std::printf("%s %d - %s", ok ? "ok" : "not ok", ++count, name);
    if (number) std::printf(": needs order %d", number);
    std::printf("\n");
    std::fflush(stdout);
    all_ok = all_ok && ok;
  };
  for (const Scenario& scenario : scenarios) {
    if (!std::strstr(scenario.name, options.scenario)) continue;
    if (!options.weaken) {
      report(search_sound(scenario, options), scenario.name, 0);
    }
    for (int number : scenario.numbers) {
      if (options.weaken && number != options.weaken) continue;
      report(search_weakened(scenario, number, options), scenario.name, number);
    }
  }
  if (!count) usage_error(argv[0], "no such scenario", options.scenario);
  std::printf("1..%d\n", count);
  return all_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace ovsthread::interleave
