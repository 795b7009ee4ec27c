// SPDX-License-Identifier: Apache-2.0
#include "thread-id.h"

#include "atomics.h"

namespace ovsthread {

thread_local uint32_t tls_thread_id = kThreadIdUnset;

namespace {
RealAtomics::Atomic<uint32_t> next_id{0};
}  // namespace

uint32_t thread_id_assign() {
  // Relaxed: only the uniqueness of the number matters.
  return tls_thread_id = next_id.fetch_add(1, kRelaxed);
}

}  // namespace ovsthread
