// SPDX-License-Identifier: Apache-2.0
#include <ovsthread/mutex.h>

#include "lock-site.h"
#include "mutex-operations.h"

namespace ovsthread {
namespace {

// A Mutex is a core that fills a line.
RealMutex& core(const Mutex* mutex) {
  static_assert(sizeof(Mutex) == OVSTHREAD_CACHE_LINE_SIZE);
  static_assert(sizeof(RealMutex) <= sizeof(Mutex));
  return *reinterpret_cast<RealMutex*>(const_cast<Mutex*>(mutex));
}

}  // namespace

Mutex::~Mutex() {
  LockMutex::destroy(core(this), site_in_code(__builtin_return_address(0)));
}

void Mutex::lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<LockMutex>(core(this), site_in_code(__builtin_return_address(0)));
}

void Mutex::lock_at(const char* file,
                    unsigned line) OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  lock_by<LockMutex>(core(this), site_in_file(file, line));
}

bool Mutex::try_lock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  return try_lock_by<LockMutex>(core(this),
                                site_in_code(__builtin_return_address(0)));
}

void Mutex::unlock() OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  LockMutex::unlock(core(this), site_in_code(__builtin_return_address(0)));
}

void Mutex::AssertHeld() const OVSTHREAD_NO_THREAD_SAFETY_ANALYSIS {
  LockMutex::assert_held(core(this), site_in_code(__builtin_return_address(0)));
}

}  // namespace ovsthread
