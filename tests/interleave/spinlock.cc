// SPDX-License-Identifier: Apache-2.0
//
// The spin lock (lib/spinlock-core.h) with real and with elided holders.
#include "interleave/driver.h"
#include "interleave/elided.h"
#include "interleave/exclusive-lock.h"
#include "interleave/model-atomics.h"
#include "interleave/model-platform.h"
#include "spinlock-core.h"
#include "spinlock-operations.h"

namespace {

using ovsthread::Way;
using Core =
    ovsthread::SpinLockCore<ovsthread::ModelAtomics, ovsthread::ModelPlatform>;
using Spin = ovsthread::ExclusiveModel<Core, ovsthread::LockSpinLock>;

template <Way... ways>
using Count = ovsthread::Count<Spin, ways...>;
template <Way... ways>
using CountQueued = ovsthread::CountQueued<Spin, ways...>;
using ReleaseInside = ovsthread::ReleaseInside<Spin>;
template <Way way>
using Nested = ovsthread::Nested<Spin, way>;
template <Way way>
using Destroy = ovsthread::Destroy<Spin, way>;

}  // namespace

int main(int argc, char** argv) {
  using namespace ovsthread::interleave;
  constexpr int kSubscribe = ovsthread::kUnsubscribed;
  constexpr Way kReal = Way::kReal;
  constexpr Way kTry = Way::kTry;
  constexpr Way kElide = Way::kElide;
  return run(
      argc, argv,
      {full<Count<kReal, kReal>>("two real sections", {1, 2}),
       full<Count<kReal, kTry>>("a real section and a try", {1, 2}),
       full<Count<kReal, kElide>>("a real and an elided section",
                                  {1, 2, kSubscribe}),
       full<Count<kElide, kElide>>("two elided sections", {1, 2}),
       random<Count<kReal, kReal, kReal>>("three real sections", {1, 2}),
       random<Count<kReal, kElide, kReal, kTry>>("all ways at once",
                                                 {1, 2, kSubscribe}),
       random<Count<Way::kChangeMode, kReal, Way::kChangeMode, kElide>>(
           "modes change to and fro", {1, 2, kSubscribe}),
       random<CountQueued<kReal, kElide, kElide>>(
           "eliding threads that wait for a real one", {1, 2, kSubscribe}),
       full<ReleaseInside>("a real lock released in an elided section", {1, 2}),
       bounded<Nested<kElide>>("two locks in one transaction", 4,
                               {1, 2, kSubscribe}),
       bounded<Nested<Way::kTryElide>>("a try inside a transaction", 4,
                                       {1, 2, kSubscribe}),
       full<Destroy<kReal>>("destroy after a real unlock", {1, 2}),
       full<Destroy<kElide>>("destroy after an elided unlock", {kSubscribe})});
}
