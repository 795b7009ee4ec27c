// SPDX-License-Identifier: Apache-2.0
#include "scripted-layer.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>
#include <vector>

#include "elision-engine.h"
#include "process-transaction.h"
#include "stack-snapshot.h"
#include "thread-id.h"

namespace ovsthread {
namespace {

[[noreturn]] void die(const char* problem) {
  std::fprintf(stderr, "scripted transactions: %s\n", problem);
  std::abort();
}

// Lives as long as its thread's Script.
thread_local Script* script;
std::atomic<unsigned> n_scripts;

// The transactions of whole suites.

// A process for each takes its time.
constexpr unsigned kMaxProcesses = 400;

ProcessTransaction process;
unsigned n_processes;
bool undo_all;

uint32_t random_number() {
  static const uint64_t seed = [] {
    const char* text = std::getenv("OVSTHREAD_TEST_SEED");
    return text ? std::strtoull(text, nullptr, 0) : 1;
  }();
  static thread_local uint64_t state = seed * 0xd1342543de82ef95 + thread_id();
  state = state * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
  return static_cast<uint32_t>(state >> 33);
}

uint32_t begin_without_script() {
  if (undo_all) return process.begin();
  bool runs = random_number() % 4 != 0;
  if (runs && n_scripts == 0 && n_processes < kMaxProcesses &&
      ProcessTransaction::possible()) {
    n_processes++;
    return process.begin();
  }
  return kAbortStatuses[random_number() % std::size(kAbortStatuses)];
}

}  // namespace

class Script::State {
 public:
  struct Step {
    enum At { kBegin, kAccess, kCommit, kNowhere } at;
    unsigned n;
    uint32_t status;
    Action other;
    Action before;
  };

  explicit State(const void* base) : base_(base) {}

  uint32_t begin() {
    if (running) die("begin inside a transaction");
    n_begins++;
    step_ = next_step_ < steps.size()
                ? steps[next_step_++]
                : Step{Step::kNowhere, 0, 0, nullptr, nullptr};
    if (step_.at == Step::kBegin) {
      note("fail", step_.status);
      run_elsewhere(step_.other);
      return step_.status;
    }
    run_elsewhere(step_.before);
    for (Region& region : regions) {
      region.copy.assign(region.data, region.data + region.size);
    }
    accessed_.clear();
    note("start");
    running = true;
    n_accesses_ = 0;
    uint32_t status = snapshot_.take(base_);
    if (status != StackSnapshot::kTaken) {
      if (undo) undo();
      run_elsewhere(step_.other);
    }
    return status;
  }

  void access(const void* address) {
    if (!running) return;
    note("access");
    accessed_.push_back(static_cast<const char*>(address));
    if (step_.at == Step::kAccess && ++n_accesses_ == step_.n) {
      fail(step_.status);
    }
  }

  void end() {
    if (!running) die("end outside of a transaction");
    if (step_.at == Step::kCommit) fail(step_.status);
    note("commit");
    running = false;
  }

  [[noreturn]] void abort(uint8_t code) {
    if (!running) die("abort outside of a transaction");
    note("abort", code);
    roll_back(uint32_t{code} << 24 | kStatusExplicit);
  }

  [[noreturn]] void abort_now(uint32_t status, Action other) {
    if (!running) die("abort outside of a transaction");
    if_aborted(std::move(other));
    fail(status);
  }

  void if_aborted(Action other) {
    if (other) step_.other = std::move(other);
  }

  void forget_steps() {
    steps.clear();
    next_step_ = 0;
  }

  bool touched(const char* object, size_t size) {
    for (const char* address : accessed_) {
      if (address >= object && address < object + size) return true;
    }
    return std::memcmp(object, copy_of(object, size), size) != 0;
  }

  void changed_elsewhere(const char* object, size_t size) {
    std::memcpy(copy_of(object, size), object, size);
  }

  std::vector<Step> steps;
  struct Region {
    char* data;
    size_t size;
    std::vector<char> copy;
  };
  std::vector<Region> regions;
  Action undo;
  std::function<void(const Action&)> others_in = [](const Action& action) {
    std::thread(action).join();
  };
  unsigned n_begins = 0;
  uint32_t last_status = 0;
  bool running = false;
  bool foreign = false;
  std::string trace;

 private:
  [[noreturn]] void fail(uint32_t status) {
    note("fail", status);
    roll_back(status);
  }

  [[noreturn]] void roll_back(uint32_t status) {
    running = false;
    last_status = status;
    for (const Region& region : regions) {
      std::memcpy(region.data, region.copy.data(), region.size);
    }
    snapshot_.resume(status);
  }

  void run_elsewhere(const Action& action) const {
    if (action) others_in(action);
  }

  // Of what a region has at OBJECT.
  char* copy_of(const char* object, size_t size) {
    for (Region& region : regions) {
      if (object >= region.data && object + size <= region.data + region.size) {
        return region.copy.data() + (object - region.data);
      }
    }
    die("an object that is not restored");
  }

  void note(const char* event) {
    if (!trace.empty()) trace += ' ';
    trace += event;
  }
  void note(const char* event, uint32_t detail) {
    char text[32];
    std::snprintf(text, sizeof text, "%s(%x)", event, detail);
    note(text);
  }

  const void* base_;
  size_t next_step_ = 0;
  Step step_ = {};  // Of the last begin().
  unsigned n_accesses_ = 0;
  std::vector<const char*> accessed_;
  StackSnapshot snapshot_;
};

Script::Script(const void* base) : state_(new State(base)) {
  if (script) die("the thread has a script already");
  restore(elision::tls_elision);
  script = this;
  n_scripts++;
}

Script::~Script() {
  if (state_->running) die("a transaction outlives its script");
  n_scripts--;
  script = nullptr;
  delete state_;
}

void Script::restore(void* data, size_t size) {
  state_->regions.push_back({static_cast<char*>(data), size, {}});
}

void Script::undo_with(Action undo) { state_->undo = std::move(undo); }

void Script::abort_at_begin(uint32_t status, Action other) {
  state_->steps.push_back(
      {State::Step::kBegin, 0, status, std::move(other), nullptr});
}

void Script::abort_at_access(unsigned n, uint32_t status, Action other) {
  state_->steps.push_back(
      {State::Step::kAccess, n, status, std::move(other), nullptr});
}

void Script::abort_at_commit(uint32_t status, Action other) {
  state_->steps.push_back(
      {State::Step::kCommit, 0, status, std::move(other), nullptr});
}

void Script::run(Action other, Action before) {
  state_->steps.push_back(
      {State::Step::kNowhere, 0, 0, std::move(other), std::move(before)});
}

void Script::set_foreign(bool foreign) { state_->foreign = foreign; }

void Script::forget_steps() { state_->forget_steps(); }

void Script::run_others_in(std::function<void(const Action&)> runner) {
  state_->others_in = std::move(runner);
}

unsigned Script::n_begins() const { return state_->n_begins; }

bool Script::running() const { return state_->running; }

bool Script::touched(const void* object, size_t size) const {
  return state_->touched(static_cast<const char*>(object), size);
}

void Script::changed_elsewhere(const void* object, size_t size) {
  state_->changed_elsewhere(static_cast<const char*>(object), size);
}

void Script::abort_now(uint32_t status, Action other) {
  state_->abort_now(status, std::move(other));
}

void Script::if_aborted(Action other) { state_->if_aborted(std::move(other)); }

uint32_t Script::last_status() const { return state_->last_status; }

std::string Script::trace() { return std::exchange(state_->trace, {}); }

UndoAll::UndoAll() {
  if (n_scripts != 0 || !ProcessTransaction::possible()) {
    die("the process has a script or several threads");
  }
  undo_all = true;
}

UndoAll::~UndoAll() { undo_all = false; }

uint32_t ScriptedLayer::begin() {
  return script ? script->state_->begin() : begin_without_script();
}

void ScriptedLayer::end() {
  if (script) {
    script->state_->end();
  } else {
    process.commit();
  }
}

bool ScriptedLayer::active() {
  return script ? script->state_->running || script->state_->foreign
                : process.running();
}

void ScriptedLayer::access(const void* address) {
  if (script) script->state_->access(address);
}

uint64_t ScriptedLayer::now() {
  uint64_t scripted = time.load();
  return scripted != 0 ? scripted : cpu_clock();
}

void ScriptedLayer::abort_with(uint8_t code) {
  if (script) script->state_->abort(code);
  process.abort(uint32_t{code} << 24 | kStatusExplicit);
}

}  // namespace ovsthread
