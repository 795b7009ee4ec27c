// SPDX-License-Identifier: Apache-2.0
//
// Question: what must a lock cost at least?
//
// An elided lock is no cheaper than the transaction that it runs, a real one no
// cheaper than the atomic operation on its word.  "committed" is the share of
// transactions that did.
#include <benchmark/benchmark.h>

#include <atomic>
#include <cstdint>

#include "elision-rtm.h"
#include "ovsthread/elision.h"
#include "run-benchmarks.h"
#include "sections.h"

namespace bench {
namespace {

LinePair line;

void atomic_add(benchmark::State& state) {
  std::atomic_ref<uint64_t> word(line.word);
  for (auto _ : state) word.fetch_add(1);
}
BENCHMARK(atomic_add);

// A transaction that runs BODY.
template <class Body>
void transaction(benchmark::State& state, Body body) {
  using Layer = ovsthread::RtmLayer;
  ovs_elision_status status;
  ovs_elision_get_status(&status);
  if (!status.available) {
    state.SkipWithError(status.reason);
    return;
  }
  store(line.word, 0);
  int64_t committed = 0;
  for (auto _ : state) {
    if (Layer::begin() == Layer::kStarted) {
      body();
      Layer::end();
      committed++;
    }
  }
  state.counters["committed"] =
      static_cast<double>(committed) / static_cast<double>(state.iterations());
}

void transaction_empty(benchmark::State& state) {
  transaction(state, [] {});
}
BENCHMARK(transaction_empty);

void transaction_load_store(benchmark::State& state) {
  transaction(state, [] { store(line.word, load(line.word) + 1); });
}
BENCHMARK(transaction_load_store);

void transaction_abort(benchmark::State& state) {
  transaction(state, [] { ovsthread::RtmLayer::abort<1>(); });
}
BENCHMARK(transaction_abort);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  ovs_elision_set_mode(OVS_ELISION_AUTO);
  return bench::run_benchmarks(argc, argv);
}
