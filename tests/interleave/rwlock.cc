// SPDX-License-Identifier: Apache-2.0
//
// The reader-writer lock (lib/rwlock-core.h, rwlock-readers.h) with real,
// elided and announced holders.
#include <cstdlib>
#include <memory>

#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/last-user.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "interleave/model-transactions.h"
#include "rwlock-core.h"
#include "rwlock-operations.h"
#include "rwlock-readers.h"

namespace {

using ovsthread::Hold;
using ovsthread::kLockElide;
using ovsthread::kLockLive;
using ovsthread::kRelaxed;
using ovsthread::kRwBias;
using ovsthread::LockResult;
using ovsthread::ModelAtomics;
using ovsthread::ModelElision;
using ovsthread::ModelEngine;
using ovsthread::ModelPlatform;

// A scenario owns one, with a line for each thread.
class RwPlatform : public ModelPlatform {
 public:
  using Readers = ovsthread::RwReaders<ModelAtomics, RwPlatform, 1>;
  using Line = Readers::Line;

  // The first N_LINES threads have lines from the beginning.
  explicit RwPlatform(unsigned n_lines) {
    current_ = this;
    for (unsigned i = 0; i < n_lines; i++) readers_.add(new_line(i));
  }

  static Readers& readers() { return current_->readers_; }
  // The calling thread's, null if it has none.
  static Line*& line() { return current_->line_of_[rl::thread_index()]; }

  // As acquire_reader_line() and the end of a thread.
  static void acquire_line() {
    line() = readers().reuse();
    if (line() == nullptr) {
      readers().add(current_->new_line(rl::thread_index()));
    }
  }
  static void give_back_line() { Readers::give_back(*line()); }

  static void sleep(ModelAtomics::Atomic<uint32_t>& word, uint32_t expected) {
    wait(word, expected, ovsthread::FutexQueue::kShared);
  }
  static uint64_t now() { return 0; }

 private:
  static constexpr unsigned kLines = 3;

  // Made when a thread needs it, so that what publishes it is needed.
  Line* new_line(unsigned thread) {
    lines_[thread] = std::make_unique<Line>();
    return line_of_[thread] = lines_[thread].get();
  }

  static inline RwPlatform* current_;
  std::unique_ptr<Line> lines_[kLines];
  Line* line_of_[kLines] = {};
  Readers readers_;
};

using Core = ovsthread::RwLockCore<ModelAtomics, RwPlatform>;

// As ReadLockRwLock and WriteLockRwLock.

struct Operation {
  using Lock = Core;
  using Engine = ModelEngine;
  [[noreturn]] static void report_relock(Core&, const char*) {
    RL_ASSERT(!"relock");
    std::abort();
  }

 protected:
  static bool done(LockResult result) {
    RL_ASSERT(result == LockResult::kDone || result == LockResult::kBusy);
    return result == LockResult::kDone;
  }
};

struct ReadLockModel : Operation {
  static inline ovsthread::elision::LockKind kKind;

  static void take(Core& core, const char* where) {
    RL_ASSERT(done(core.read_lock(ModelElision::self())));
    note(core, Hold::kCounted, where);
  }
  static void take_slowly(Core& core, const char* where) { take(core, where); }
  static void await(Core& core) { core.await(); }
  static bool try_take(Core& core, const char* where) {
    if (!done(core.try_read_lock())) return false;
    note(core, Hold::kCounted, where);
    return true;
  }
  // Announced if that may be, else counted.
  static void take_biased(Core& core, const char* where) {
    if (!core.read_biased(*RwPlatform::line())) return take(core, where);
    note(core, Hold::kBiased, where);
  }

 private:
  static void note(Core& core, Hold hold, const char* where) {
    ModelElision::thread().held.push_real(&core.word, hold, where);
  }
};

struct WriteLockModel : Operation {
  static inline ovsthread::elision::LockKind kKind;

  static void take(Core& core, const char*) {
    RL_ASSERT(done(core.write_lock(ModelElision::self())));
  }
  static void take_slowly(Core& core, const char* where) { take(core, where); }
  static void await(Core&) { RL_ASSERT(!"a writer in the queue"); }
  static bool try_take(Core& core, const char*) {
    return done(core.try_write_lock(ModelElision::self()));
  }
};

// A thread's way to use the lock.
enum class Way {
  kRead,
  kTryRead,
  kElideRead,
  kBiasedRead,
  kFirstRead,  // biased, with a line that it gets for it and then gives back
  kSetBias,    // a counted reader does
  kWrite,
  kTryWrite,
  kElideWrite,
  kChangeMode  // and then write
};

class RwLock {
 public:
  RwLock() { core.word.store(kLockLive, kRelaxed); }

  // False: a try that failed.
  bool lock(Way way) {
    ReadLockModel::kKind =
        ovsthread::subscribed_by(ovsthread::ReadLockRwLock::kKind);
    WriteLockModel::kKind =
        ovsthread::subscribed_by(ovsthread::WriteLockRwLock::kKind);
    switch (way) {
      case Way::kElideRead:
        ovsthread::lock_by<ReadLockModel>(core, nullptr);
        return true;
      case Way::kRead:
        ReadLockModel::take(core, nullptr);
        return true;
      case Way::kTryRead:
        return ReadLockModel::try_take(core, nullptr);
      case Way::kFirstRead:
        RwPlatform::acquire_line();
        [[fallthrough]];
      case Way::kBiasedRead:
        ReadLockModel::take_biased(core, nullptr);
        return true;
      case Way::kSetBias:
        ReadLockModel::take(core, nullptr);
        core.set_bias();
        return true;
      case Way::kElideWrite:
        ovsthread::lock_by<WriteLockModel>(core, nullptr);
        return true;
      case Way::kChangeMode:
        ovsthread::change_mode(core.word);
        [[fallthrough]];
      case Way::kWrite:
        WriteLockModel::take(core, nullptr);
        return true;
      case Way::kTryWrite:
        break;
    }
    return WriteLockModel::try_take(core, nullptr);
  }

  // As rwlock_unlock().
  void unlock() {
    ovsthread::HeldLocks& held = ModelElision::thread().held;
    if (ovsthread::HeldLock* mine = held.find(&core.word)) {
      if (mine->elided()) return ModelEngine::release(mine);
      bool biased = mine->hold() == Hold::kBiased;
      held.remove(mine);
      if (biased) {
        core.read_unlock_biased(*RwPlatform::line());
      } else {
        core.read_unlock();
      }
    } else {
      RL_ASSERT(core.write_held_by(ModelElision::self()));
      core.write_unlock();
    }
    ModelEngine::released_for_real(core.word);
  }

  Core core;
};

constexpr bool writes(Way way) {
  return way == Way::kWrite || way == Way::kTryWrite ||
         way == Way::kElideWrite || way == Way::kChangeMode;
}

// Writers add 1 to two counters, readers find them equal.
// QUEUED: see ModelElision.  BIAS: kRwBias, if the lock has that at the start.
template <unsigned queued, uint32_t bias, Way... ways>
struct CountFrom
    : rl::test_suite<CountFrom<queued, bias, ways...>, sizeof...(ways)> {
  // Threads with a line come first.
  static constexpr unsigned kNLines = ((ways == Way::kBiasedRead) + ...);
  RwPlatform platform{kNLines};
  ModelElision elision{queued};
  RwLock lock;
  ModelAtomics::Var<int> first{0};
  ModelAtomics::Var<int> second{0};
  int expected = 0;

  void before() { lock.core.word.store(kLockLive | bias, kRelaxed); }

  void thread(unsigned index) {
    constexpr Way kWays[] = {ways...};
    ModelElision::Scope scope(1);
    if (!lock.lock(kWays[index])) return;
    if (writes(kWays[index])) {
      first += 1;
      second += 1;
    } else {
      int seen = first;
      RL_ASSERT(second == seen);
    }
    lock.unlock();
    expected += writes(kWays[index]);
    if (kWays[index] == Way::kFirstRead) RwPlatform::give_back_line();
  }

  void after() {
    RL_ASSERT(first == expected && second == expected);
    constexpr uint32_t kAny = ovsthread::kRwReadersWait | kLockElide | kRwBias;
    RL_ASSERT((lock.core.word.load(kRelaxed) & ~kAny) == kLockLive);
    RL_ASSERT(lock.core.waiting_writers.load(kRelaxed) == 0);
    RL_ASSERT(!RwPlatform::readers().any(&lock.core));
  }
};

template <Way... ways>
using Count = CountFrom<ovsthread::elision::kMaxQueued, 0, ways...>;

template <Way... ways>
using Biased = CountFrom<ovsthread::elision::kMaxQueued, kRwBias, ways...>;

// Who wants to elide waits in the queue once, if need be.
template <Way... ways>
using CountQueued = CountFrom<ovsthread::elision::kMaxQueued - 1, 0, ways...>;

template <Way way>
struct Destroy : rl::test_suite<Destroy<way>, 2> {
  RwPlatform platform{way == Way::kBiasedRead};
  ModelElision elision;
  ovsthread::LastUserDestroys<RwLock>* shared;

  void before() {
    shared = new ovsthread::LastUserDestroys<RwLock>;
    if (way == Way::kBiasedRead) {
      shared->lock.core.word.store(kLockLive | kRwBias, kRelaxed);
    }
  }

  void thread(unsigned index) {
    ModelElision::Scope scope(1);
    shared->use(index == 0 ? way : Way::kWrite, Way::kWrite);
  }
};

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  constexpr int kSubscribe = ovsthread::kUnsubscribed;
  constexpr int kBarrier = ModelPlatform::kNoKernelBarrier;
  constexpr Way kRead = Way::kRead;
  constexpr Way kTryRead = Way::kTryRead;
  constexpr Way kElideRead = Way::kElideRead;
  constexpr Way kWrite = Way::kWrite;
  constexpr Way kTryWrite = Way::kTryWrite;
  constexpr Way kElideWrite = Way::kElideWrite;
  constexpr Way kChange = Way::kChangeMode;
  constexpr Way kBiased = Way::kBiasedRead;
  constexpr Way kFirst = Way::kFirstRead;
  constexpr Way kSetBias = Way::kSetBias;
  return run(
      argc, argv,
      {full<Count<kRead, kTryWrite>>("a reader and a try to write", {2, 3}),
       full<Count<kTryRead, kTryWrite>>("tries alone", {2, 3}),
       full<Count<kRead, kWrite>>("a reader and a writer", {1, 2, 3, 4}),
       full<Count<kElideRead, kTryWrite>>("an elided reader and a writer",
                                          {kSubscribe}),
       full<Count<kRead, kElideWrite>>("a reader and an elided writer",
                                       {kSubscribe}),
       full<Count<kElideRead, kElideWrite>>("an elided reader and writer",
                                            {1, 2, 3, 4}),
       random<Count<kElideRead, kRead, kElideWrite>>(
           "an elided reader beside a real one", {kSubscribe}),
       random<Count<kWrite, kWrite, kWrite>>("three writers",
                                             {2, 4, 5, kBarrier}),
       random<Count<kWrite, kWrite, kRead, kRead>>("two writers, two readers",
                                                   {1, 2, 3, 4, 5, kBarrier}),
       random<Count<kElideWrite, kWrite, kElideRead, kRead>>(
           "the same, one of each elided", {1, 2, 3, 4, kSubscribe}),
       random<Count<kWrite, kTryWrite, kRead, kTryRead>>("tries among them",
                                                         {1, 2, 3, 4}),
       full<CountQueued<kElideRead, kTryWrite>>("an eliding reader that queues",
                                                {kSubscribe}),
       full<CountQueued<kRead, kElideWrite>>("an eliding writer that queues",
                                             {kSubscribe}),
       random<CountQueued<kElideRead, kWrite, kElideWrite>>(
           "eliding readers and writers in the queues", {kSubscribe}),
       random<CountQueued<kElideRead, kWrite, kElideRead, kElideWrite>>(
           "four threads, three of them eliding", {kSubscribe}),
       random<Count<kChange, kWrite, kRead, kElideRead>>(
           "the mode changes meanwhile", {1, 2, 3, 4, kSubscribe}),
       bounded<Biased<kBiased, kTryWrite>>(
           "an announced reader and a try to write", 4, {6, 7, 12, 13}),
       bounded<Biased<kBiased, kWrite>>("an announced reader and a writer", 4,
                                        {6, 7, 12, 13, 14, 15, 17}),
       bounded<Biased<kBiased, kElideWrite>>(
           "an announced reader and an elided writer", 3, {6, 7, 12, 13}),
       random<Biased<kBiased, kRead, kWrite>>(
           "readers of both kinds and a writer", {3, 6, 7, 12, 13}),
       random<Biased<kBiased, kElideRead, kElideWrite>>(
           "readers of other kinds and an elided writer", {6, 7, 12, 13}),
       random<Biased<kBiased, kTryWrite, kTryWrite>>("two tries to write",
                                                     {2, 4, 6, 7, 12, 13}),
       random<Biased<kBiased, kWrite, kWrite>>(
           "an announced reader and two writers", {2, 4, 6, 7, 12, 13}),
       random<Count<kBiased, kWrite, kSetBias>>(
           "a reader who is announced after a writer", {1, 4, 6, 7, 12, 13}),
       random<Biased<kFirst, kFirst, kWrite>>("lines that come and go",
                                              {6, 7, 8, 9, 12, 13}),
       full<Destroy<kWrite>>("destroy after a writer's unlock", {}),
       full<Destroy<kRead>>("destroy after a reader's unlock", {}),
       full<Destroy<kElideRead>>("destroy after an elided reader's unlock", {}),
       bounded<Destroy<kBiased>>("destroy after an announced reader's unlock",
                                 4, {})});
}
