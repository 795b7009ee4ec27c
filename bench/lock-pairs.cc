// SPDX-License-Identifier: Apache-2.0
//
// Question: does taking a lock cost what is claimed of it?
//
// Each claim compares two things, A and B.  They run alternately, A B B A,
// after one warm-up of each, and the figure is the median of the paired ratios
// A / B of the time per critical section (paired.h).  With several threads the
// time runs from the first start to the last end and counts for the sections of
// all of them, so that the ratio of one thread to two is the work that two do
// in the time in which one does 1.
//
// All goes through the shared library; sections are empty but where threads are
// compared, which write to lines of their own (sections.h).
#include <config.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "claims.h"
#include "context.h"
#include "elision-rtm.h"
#include "locks.h"
#include "ovstest-command-line.h"
#include "ovstest-json.h"
#include "ovsthread/elision.h"
#include "paired.h"
#include "sections.h"
#include "team.h"
#if HAVE_TBB
#include "peers/tbb-locks.h"
#endif

namespace bench {
namespace {

struct Settings {
  uint64_t rounds = 21;
  uint64_t sections = 1000000;
  bool pin = false;
  bool json = false;
  std::string commit = "unknown";
};

// A or B.
struct Side {
  std::string name;
  ovs_elision_mode mode;  // Of the locks of this library.
  unsigned threads;       // 0: the calling thread.
  std::function<void(unsigned thread, uint64_t sections)> run;
  std::function<void(std::stop_token)> beside = {};  // A thread of its own.
};

struct Comparison {
  Side a, b;
  Bound bound;
  std::string skipped;  // Why it is not made; empty: it is.
};

enum class Owner { kNone, kSlow };

// SECTIONS critical sections of one kind, under one lock for all threads.  A
// slow OWNER holds it for 1 ms in 10; it sleeps then, so for real.
template <class Guard, class Section = EmptySection>
Side side(const char* name, ovs_elision_mode mode, unsigned threads = 0,
          Owner owner = Owner::kNone) {
  struct Scene {
    alignas(128) typename Guard::Lock lock;
    alignas(128) SectionData data;
  };
  auto scene = std::make_shared<Scene>();
  scene->data.touch();
  Side side = {name, mode, threads, [=](unsigned thread, uint64_t sections) {
                 for (uint64_t i = 0; i < sections; i++) {
                   Guard guard(scene->lock);
                   Section::template run<Guard::kExclusive>(scene->data, thread,
                                                            i);
                 }
               }};
  if (owner == Owner::kSlow) {
    side.beside = [=](std::stop_token stop) {
      while (!stop.stop_requested()) {
        {
          Guard guard(scene->lock);
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(9));
      }
    };
  }
  return side;
}

// As many bare transactions.
Side transactions() {
  using Layer = ovsthread::RtmLayer;
  auto line = std::make_shared<LinePair>();
  return {"transaction", OVS_ELISION_OFF, 0, [=](unsigned, uint64_t sections) {
            for (uint64_t i = 0; i < sections; i++) {
              if (Layer::begin() == Layer::kStarted) {
                store(line->word, load(line->word) + 1);
                Layer::end();
              }
            }
          }};
}

template <class Guard>
Comparison two_threads(const char* one, const char* two, ovs_elision_mode mode,
                       const std::string& skipped) {
  return {side<Guard, DisjointSection>(one, mode, 1),
          side<Guard, DisjointSection>(two, mode, 2),
          {false, 1.9},
          skipped};
}

std::vector<Comparison> comparisons() {
  constexpr ovs_elision_mode kOff = OVS_ELISION_OFF;
  constexpr ovs_elision_mode kAuto = OVS_ELISION_AUTO;
  constexpr ovs_elision_mode kAlways = OVS_ELISION_ALWAYS;
  using Mutex = Writing<OvsMutex>;
  using Reader = Reading<OvsRwlock>;
  using Writer = Writing<OvsRwlock>;

  ovs_elision_status status;
  ovs_elision_get_status(&status);
  std::string no_transactions = status.available ? "" : status.reason;
#if HAVE_TBB
  using TbbMutex = TbbSpeculating;
  std::string no_tbb = no_transactions;
#else
  using TbbMutex = Mutex;  // To be named; it is not run.
  std::string no_tbb = "configure has not found oneTBB (libtbb-dev)";
#endif

  std::vector<Comparison> all = {
      {side<Mutex>("ovs_mutex auto", kAuto),
       side<Mutex>("off", kOff),
       {true, 1.1},
       ""},
      {side<Mutex>("ovs_mutex off", kOff),
       side<Writing<PthreadErrorcheckMutex>>("pthread errorcheck", kOff),
       {true, 1},
       ""},
      {side<Reader>("ovs_rwlock read off", kOff),
       side<Reading<PthreadRwlock>>("pthread_rwlock read", kOff),
       {true, 1},
       ""},
      {side<Mutex>("ovs_mutex always", kAlways),
       transactions(),
       {true, 1.6},
       no_transactions},
      {side<Mutex>("ovs_mutex always", kAlways),
       side<TbbMutex>("tbb::speculative_spin_mutex", kOff),
       {true, 1.1},
       no_tbb},
      two_threads<Mutex>("ovs_mutex always, 1 thread", "2 threads", kAlways,
                         no_transactions),
      two_threads<Reader>("ovs_rwlock read always, 1 thread", "2 threads",
                          kAlways, no_transactions),
      two_threads<Writer>("ovs_rwlock write always, 1 thread", "2 threads",
                          kAlways, no_transactions),
      two_threads<Reader>("ovs_rwlock read off, 1 thread", "2 threads", kOff,
                          ""),
      // 80 % of the share of time that the owner leaves.
      {side<Mutex, DisjointSection>("ovs_mutex auto, 3 threads", kAuto, 3),
       side<Mutex, DisjointSection>("beside a slow owner", kAuto, 3,
                                    Owner::kSlow),
       {false, 0.8 * 0.9},
       no_transactions},
  };
  return all;
}

// What one side came to.
struct Times {
  std::vector<double> ns;  // Per section, one for each round.
  ovs_elision_counts counts = {};

  // Of the acquisitions while elision was active; NaN if there was none.
  double elided_share() const {
    return static_cast<double>(counts.elided) /
           static_cast<double>(counts.acquisitions);
  }
};

void measure(const Settings& settings, const Side& side, Times* times) {
  ovs_elision_set_mode(side.mode);
  ovs_elision_counts_reset();
  double ms;
  std::jthread beside;
  if (side.beside) beside = std::jthread(side.beside);
  if (side.threads == 0) {
    ms = timed([&] { side.run(0, settings.sections); });
  } else {
    ms = timed_team(side.threads, settings.pin, [&](unsigned thread) {
      side.run(thread, settings.sections);
    });
  }
  double sections = static_cast<double>(settings.sections) *
                    (side.threads == 0 ? 1 : side.threads);
  times->ns.push_back(ms * 1e6 / sections);
  ovs_elision_counts counts;
  ovs_elision_counts_read(&counts);
  times->counts.acquisitions += counts.acquisitions;
  times->counts.elided += counts.elided;
}

struct Result {
  Times a, b;
  Summary ratio;
};

Result compare(const Settings& settings, const Comparison& comparison) {
  Times warm_up;
  measure(settings, comparison.a, &warm_up);
  measure(settings, comparison.b, &warm_up);
  Result result;
  for (unsigned round = 0; round < settings.rounds; round++) {
    if (reversed(round)) measure(settings, comparison.b, &result.b);
    measure(settings, comparison.a, &result.a);
    if (!reversed(round)) measure(settings, comparison.b, &result.b);
  }
  result.ratio = paired_ratio(result.a.ns, result.b.ns);
  return result;
}

std::string describe(const Times& times) {
  std::string text =
      absl::StrFormat("%.1f (%.1f to %.1f)", median(times.ns),
                      quantile(times.ns, 0.25), quantile(times.ns, 0.75));
  if (!std::isnan(times.elided_share())) {
    absl::StrAppendFormat(&text, ", %.1f %% elided",
                          100 * times.elided_share());
  }
  return text;
}

void print(const Comparison& comparison, const Result& result) {
  const Bound& bound = comparison.bound;
  absl::PrintF("  A: %s ns\n  B: %s ns\n", describe(result.a),
               describe(result.b));
  absl::PrintF("  A/B %.3f, 95 %% interval %.3f to %.3f; claim: %s %g: %s\n",
               result.ratio.median, result.ratio.low, result.ratio.high,
               bound.sign(), bound.value, verdict(bound, result.ratio));
}

void write(const Side& side, const Times& times, ovstest::JsonWriter* json) {
  json->open_object()
      .member("name", side.name)
      .member("ns", median(times.ns))
      .member("ns_first_quartile", quantile(times.ns, 0.25))
      .member("ns_third_quartile", quantile(times.ns, 0.75))
      .member("elided_share", times.elided_share())
      .close_object();
}

void run(const Settings& settings) {
  SecondThread second_thread;
  ovs_elision_set_mode(OVS_ELISION_AUTO);
  std::vector<Comparison> all = comparisons();
  ovstest::JsonWriter json;
  json.open_object().key("context").open_object().member("commit",
                                                         settings.commit);
  for (const auto& [name, value] : context()) json.member(name, value);
  json.close_object()
      .member("rounds", settings.rounds)
      .member("sections", settings.sections)
      .key("comparisons")
      .open_array();
  if (!settings.json) {
    absl::PrintF(
        "%d rounds of %d sections for each thread; ns per section: median "
        "(quartiles)\n",
        settings.rounds, settings.sections);
  }
  for (const Comparison& comparison : all) {
    const std::string& skipped = comparison.skipped;
    Result result;
    if (skipped.empty()) result = compare(settings, comparison);
    if (settings.json) {
      json.open_object().key("a");
      write(comparison.a, result.a, &json);
      json.key("b");
      write(comparison.b, result.b, &json);
      json.member("ratio", result.ratio.median)
          .member("ratio_low", result.ratio.low)
          .member("ratio_high", result.ratio.high)
          .member(comparison.bound.at_most ? "at_most" : "at_least",
                  comparison.bound.value)
          .member("verdict", skipped.empty()
                                 ? verdict(comparison.bound, result.ratio)
                                 : "skipped")
          .member("skipped", skipped)
          .close_object();
    } else {
      absl::PrintF("\n%s / %s\n", comparison.a.name, comparison.b.name);
      if (skipped.empty()) {
        print(comparison, result);
      } else {
        absl::PrintF("  skipped: %s\n", skipped);
      }
    }
  }
  json.close_array().close_object();
  if (settings.json) absl::PrintF("%s\n", json.text());
}

absl::Status lock_pairs(ovstest::Words words) {
  Settings settings;
  ovstest::CommandLine line("lock-pairs",
                            "Compares the cost of locks with what is claimed "
                            "of it, about 0.4 s per round.");
  line.option("--rounds", "R", "Rounds (default 21).",
              ovstest::whole_number(&settings.rounds, 1, 10000));
  line.option("--sections", "N",
              "Critical sections of each thread per measurement "
              "(default 1000000).",
              ovstest::whole_number(&settings.sections, 1, UINT32_MAX));
  line.option("--commit", "TEXT", "What is measured, for the JSON.",
              ovstest::any_text(&settings.commit));
  line.flag("--pin", "Binds each of several threads to a hardware thread.",
            &settings.pin);
  line.flag("--json", "Prints one JSON object.", &settings.json);
  absl::Status status = line.parse(words);
  if (!status.ok() || line.help_shown()) return status;
  run(settings);
  return absl::OkStatus();
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  std::vector<absl::string_view> words(argv + (argc > 0), argv + argc);
  return ovstest::finish("lock-pairs", bench::lock_pairs(words));
}
