// SPDX-License-Identifier: Apache-2.0
//
// A cmap that grows or shrinks under readers, writers and a cursor.  Before a
// migration the table has two bins (growing) or four (shrinking), of two slots,
// and a chunk is one bin.
#include "interleave/cmap-model.h"

namespace ovsthread::cmap_core {
namespace {

// Three elements that stay; two of them overflow their bin once it is shared.
template <class Test, unsigned kThreads, unsigned kFromBits>
struct Base : rl::test_suite<Test, kThreads> {
  static constexpr unsigned kToBits = kFromBits == 1 ? 2 : 1;
  ModelMap map;
  Element staying[3];
  static uint64_t hash(int i) { return hash_in(i == 2 ? 6 : i * 2, i); }

  void before() {
    for (int i = 0; i < 3; i++) map.add(staying[i], hash(i), 7);
    if constexpr (kFromBits == 2) {
      map.begin_migration(2);
      map.migrate_one();
      RL_ASSERT(map.root()->bits == 2);
    }
  }
  void check_staying() const {
    for (int i = 0; i < 3; i++) RL_ASSERT(map.has(staying[i], hash(i)));
  }
  // Long enough to meet the other threads at work.
  void keep_checking() const {
    for (int i = 0; i < 5; i++) check_staying();
  }
  void finish_migration() {
    while (map.root()->bits != kToBits) map.migrate_one();
  }
  void after() {
    check_staying();
    RL_ASSERT(map.count() == 3);
    map.finish();
  }
};

// A reader looks for what stays, before, during and after a migration.
template <unsigned kBits>
struct Lookup : Base<Lookup<kBits>, 2, kBits> {
  void thread(unsigned index) {
    if (index == 0) {
      this->map.begin_migration(this->kToBits);
      this->finish_migration();
    } else {
      this->keep_checking();
    }
  }
};

// A bin with an overflow line, of both nodes of which one half gets too many.
struct LookupOverflow : Base<LookupOverflow, 2, 1> {
  Element more[2];
  void before() {
    Base::before();
    map.add(more[0], hash_in(0, 1), 1);
    map.add(more[1], hash_in(0, 2), 1);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.begin_migration(2);
      finish_migration();
    } else {
      for (int i = 0; i < 5; i++) {
        RL_ASSERT(map.has(more[0], hash_in(0, 1)) &&
                  map.has(more[1], hash_in(0, 2)) &&
                  map.has(staying[0], hash(0)));
      }
    }
  }
  void after() {
    RL_ASSERT(map.count() == 5);
    map.finish();
  }
};

// Two threads migrate, either may stall at any point; a third looks.
template <unsigned kBits>
struct TwoMigrate : Base<TwoMigrate<kBits>, 3, kBits> {
  void before() {
    Base<TwoMigrate<kBits>, 3, kBits>::before();
    this->map.begin_migration(this->kToBits);
  }
  void thread(unsigned index) {
    if (index == 2) {
      this->keep_checking();
    } else {
      // As often as it takes one thread alone, twice if the other has stalled.
      for (int i = 0; i < 3; i++) this->map.migrate_one();
    }
  }
  void after() {
    this->finish_migration();
    Base<TwoMigrate<kBits>, 3, kBits>::after();
  }
};

// One thread begins a migration, another goes on with it.
struct GoOn : Base<GoOn, 2, 1> {
  void thread(unsigned index) {
    if (index == 0) {
      map.begin_migration(2);
    } else {
      while (map.root()->bits != kToBits) {
        map.migrate_one();
        ModelAtomics::relax();
      }
    }
  }
};

// A writer removes and inserts while bins move; a chain is among them.
template <unsigned kBits>
struct Writer : Base<Writer<kBits>, 2, kBits> {
  Element old, added, chained;
  void before() {
    Base<Writer<kBits>, 2, kBits>::before();
    this->map.add(old, hash_in(2, 9), 1);
  }
  void thread(unsigned index) {
    if (index == 0) {
      this->map.begin_migration(this->kToBits);
      this->finish_migration();
    } else {
      this->map.remove(old, hash_in(2, 9));
      this->map.add(added, hash_in(1, 9), 2);
      this->map.add(chained, this->hash(1), 2);
      RL_ASSERT(!this->map.has(old, hash_in(2, 9)));
      RL_ASSERT(this->map.has(added, hash_in(1, 9)));
    }
  }
  void after() {
    this->check_staying();
    RL_ASSERT(this->map.has(added, hash_in(1, 9)) &&
              this->map.has(chained, this->hash(1)) && this->map.count() == 5);
    this->map.finish();
  }
};

// The head of a chain of three is removed while the chain moves and a reader
// stands on it.
struct RemoveHead : Base<RemoveHead, 3, 1> {
  Element second, head;
  void before() {
    Base::before();
    map.add(second, hash(1), 1);
    map.add(head, hash(1), 2);
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.begin_migration(2);
    } else if (index == 1) {
      map.remove(head, hash(1));
    } else {
      RL_ASSERT(map.has(second, hash(1)) && map.has(staying[1], hash(1)));
    }
  }
  void after() {
    check_staying();
    map.finish();
  }
};

// A cursor visits each staying node once while the table under it migrates and
// migrates back.
template <unsigned kBits>
struct Iterate : Base<Iterate<kBits>, 2, kBits> {
  void thread(unsigned index) {
    if (index == 0) {
      this->map.begin_migration(this->kToBits);
      this->finish_migration();
      this->map.begin_migration(kBits);
      this->map.migrate_one();
    } else {
      int seen[3] = {};
      for (auto at = Iteration<MP>::start(this->map); at.node;
           Iteration<MP>::advance(at)) {
        for (int i = 0; i < 3; i++)
          seen[i] += at.node == &this->staying[i].node;
      }
      RL_ASSERT(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    }
  }
};

// Halves of the bin that the cursor comes to next have merged again, but only
// the first one: what it finds moved at one hop says nothing about the other
// half.
struct IterateHalfMerged : Base<IterateHalfMerged, 2, 1> {
  Cursor<MP> at;
  void before() {
    Base::before();
    at = Iteration<MP>::start(map);
    map.begin_migration(2);
    finish_migration();
    map.begin_migration(1);
    map.migrate_one();
    map.migrate_one();  // Three of the four bins have moved.
  }
  void thread(unsigned index) {
    if (index == 0) {
      map.migrate_one();
    } else {
      int seen[3] = {};
      for (; at.node; Iteration<MP>::advance(at)) {
        for (int i = 0; i < 3; i++) seen[i] += at.node == &staying[i].node;
      }
      RL_ASSERT(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    }
  }
};

}  // namespace
}  // namespace ovsthread::cmap_core

int main(int argc, char** argv) {
  using namespace ovsthread::cmap_core;
  using namespace ovsthread::interleave;
  return run(
      argc, argv,
      {random<Lookup<1>>("a growing table hides no node", {5, 6, 18}),
       random<Lookup<2>>("a shrinking table hides no node", {5, 6, 18}),
       random<LookupOverflow>("an overflowing bin that splits hides no node",
                              {5, 6}),
       random<TwoMigrate<1>>("two threads grow a table", {}),
       random<TwoMigrate<2>>("two threads shrink a table", {16}),
       random<GoOn>("one thread goes on with the other's migration", {17, 19}),
       random<Writer<1>>("a writer follows bins that split", {7}),
       random<Writer<2>>("a writer follows bins that merge", {7}),
       random<RemoveHead>("a chain moves while its head is removed", {}),
       random<Iterate<1>>("a cursor sees each node of a growing table once",
                          {}),
       random<IterateHalfMerged>("a cursor cuts its interval at every hop", {}),
       random<Iterate<2>>("a cursor sees each node of a shrinking table once",
                          {})});
}
