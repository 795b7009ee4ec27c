// SPDX-License-Identifier: Apache-2.0
//
// RCU through the C and the C++ face.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "in-process.h"
#include "ovs-rcu.h"
#include "ovsthread/rcu.h"

namespace ovsthread {
namespace {

struct Counted {
  explicit Counted(std::atomic<int>& counter) : live(counter) { ++live; }
  ~Counted() { --live; }
  std::atomic<int>& live;
};

TEST(RcuDomain, IsLockable) {
  in_process([] {
    rcu_domain& domain = rcu_default_domain();
    std::mutex mutex;
    EXPECT_TRUE(ovsrcu_is_quiescent());
    {
      std::scoped_lock both(domain, mutex);
      EXPECT_FALSE(ovsrcu_is_quiescent());
      std::unique_lock inner(domain, std::try_to_lock);
      EXPECT_TRUE(inner.owns_lock());
      inner.unlock();
      EXPECT_FALSE(ovsrcu_is_quiescent());
    }
    EXPECT_TRUE(ovsrcu_is_quiescent());
  });
}

TEST(RcuDomain, RetiresWhenNoRegionIsOpen) {
  in_process([] {
    rcu_domain& domain = rcu_default_domain();
    std::atomic<int> live{0};
    std::unique_lock region(domain);
    rcu_retire(new Counted(live));
    rcu_retire(new const Counted(live));
    std::thread([&domain] {
      std::scoped_lock other(domain);
      EXPECT_TRUE(ovsrcu_is_quiescent() == false);
    }).join();
    EXPECT_EQ(live, 2);
    region.unlock();
    rcu_barrier();
    EXPECT_EQ(live, 0);
    EXPECT_TRUE(ovsrcu_is_quiescent());
  });
}

TEST(RcuDomain, SynchronizeWaitsForOpenRegions) {
  in_process([] {
    std::atomic<bool> open{false}, closing{false}, synchronized{false};
    std::thread reader([&] {
      std::scoped_lock region(rcu_default_domain());
      open = true;
      for (int i = 0; i < 20; i++) {
        EXPECT_FALSE(synchronized);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      closing = true;
    });
    while (!open) std::this_thread::yield();
    rcu_synchronize();
    EXPECT_TRUE(closing);
    synchronized = true;
    EXPECT_TRUE(ovsrcu_is_quiescent());
    reader.join();
  });
}

TEST(RcuRetire, TakesDeletersWithState) {
  in_process([] {
    std::atomic<int> live{0};
    int deleted = 0;
    rcu_retire(new Counted(live), [&deleted](Counted* object) {
      delete object;
      deleted++;
    });
    rcu_retire(new Counted(live),
               [token = std::make_unique<int>(1), &deleted](Counted* object) {
                 delete object;
                 deleted += *token;
               });
    EXPECT_EQ(live, 2);
    rcu_barrier();
    EXPECT_EQ(live, 0);
    EXPECT_EQ(deleted, 2);
  });
}

TEST(RcuObjBase, RetiresItself) {
  in_process([] {
    struct Node : Counted, rcu_obj_base<Node> {
      using Counted::Counted;
    };
    struct Pooled;
    using PoolDeleter = std::function<void(Pooled*)>;
    struct Pooled : Counted, rcu_obj_base<Pooled, PoolDeleter> {
      using Counted::Counted;
    };
    std::atomic<int> live{0};
    int pooled = 0;
    (new Node(live))->retire();
    (new Pooled(live))->retire([&pooled](Pooled* object) {
      delete object;
      pooled++;
    });
    EXPECT_EQ(live, 2);
    rcu_barrier();
    EXPECT_EQ(live, 0);
    EXPECT_EQ(pooled, 1);
  });
}

TEST(RcuDomain, MisuseIsDiagnosed) {
  EXPECT_DEATH(rcu_default_domain().unlock(), "which does not hold it");
  EXPECT_DEATH(
      {
        std::scoped_lock region(rcu_default_domain());
        rcu_synchronize();
      },
      "synchronize called inside a read-side guard");
  EXPECT_DEATH(
      {
        rcu_retire(new int, [](int* object) {
          delete object;
          rcu_barrier();
        });
        rcu_barrier();
      },
      "barrier called from an RCU callback");
}

}  // namespace
}  // namespace ovsthread
