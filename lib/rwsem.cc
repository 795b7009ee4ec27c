// SPDX-License-Identifier: Apache-2.0
#include <ovsthread/rwsem.h>

#include "lock-site.h"
#include "rwsem-operations.h"

namespace ovsthread {
namespace {

// An RwSemaphore is a core that fills a line.
RealRwSem& core(const RwSemaphore* sem) {
  static_assert(sizeof(RwSemaphore) == OVSTHREAD_CACHE_LINE_SIZE);
  static_assert(sizeof(RealRwSem) <= sizeof(RwSemaphore));
  return *reinterpret_cast<RealRwSem*>(const_cast<RwSemaphore*>(sem));
}

// Nanoseconds of steady_clock, which is CLOCK_MONOTONIC.  The kernel takes no
// time before its start.
timespec to_timespec(int64_t ns) {
  if (ns < 0) ns = 0;
  return {static_cast<time_t>(ns / 1000000000), ns % 1000000000};
}

}  // namespace

RwSemaphore::~RwSemaphore() {
  rwsem_destroy(core(this), site_in_code(__builtin_return_address(0)));
}

void RwSemaphore::lock() {
  rwsem_write(core(this), site_in_code(__builtin_return_address(0)), {});
}

void RwSemaphore::lock_shared() {
  rwsem_read(core(this), site_in_code(__builtin_return_address(0)), {});
}

bool RwSemaphore::try_lock() {
  return rwsem_try_write(core(this), site_in_code(__builtin_return_address(0)));
}

bool RwSemaphore::try_lock_shared() {
  return rwsem_try_read(core(this), site_in_code(__builtin_return_address(0)));
}

bool RwSemaphore::lock_before(int64_t deadline) {
  timespec time = to_timespec(deadline);
  return rwsem_write(core(this), site_in_code(__builtin_return_address(0)),
                     {&time, false}) == 0;
}

bool RwSemaphore::lock_shared_before(int64_t deadline) {
  timespec time = to_timespec(deadline);
  return rwsem_read(core(this), site_in_code(__builtin_return_address(0)),
                    {&time, false}) == 0;
}

bool RwSemaphore::lock_interruptible() {
  return rwsem_write(core(this), site_in_code(__builtin_return_address(0)),
                     {nullptr, true}) == 0;
}

bool RwSemaphore::lock_shared_interruptible() {
  return rwsem_read(core(this), site_in_code(__builtin_return_address(0)),
                    {nullptr, true}) == 0;
}

void RwSemaphore::unlock() {
  rwsem_write_unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void RwSemaphore::unlock_shared() {
  rwsem_read_unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void RwSemaphore::downgrade() {
  rwsem_downgrade(core(this), site_in_code(__builtin_return_address(0)));
}

uint32_t RwSemaphore::holder() const { return rwsem_holder(core(this)); }

uint64_t RwSemaphore::handed() const {
  return core(this).handed.load(kRelaxed);
}

}  // namespace ovsthread
