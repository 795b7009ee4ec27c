// SPDX-License-Identifier: Apache-2.0
//
// The C entry points of the reader-writer semaphore.
#include <cstddef>

#include "ovsthread-rwsem.h"
#include "rwsem-operations.h"

namespace ovsthread {
namespace {

// Objects of C callers are the cores themselves.
RealRwSem& core(const ovs_rwsem* sem) {
  static_assert(sizeof(RealRwSem) == sizeof(ovs_rwsem));
  static_assert(offsetof(RealRwSem, word) == offsetof(ovs_rwsem, word));
  static_assert(offsetof(RealRwSem, depth) == offsetof(ovs_rwsem, depth));
  static_assert(offsetof(RealRwSem, first) == offsetof(ovs_rwsem, first));
  static_assert(offsetof(RealRwSem, last) == offsetof(ovs_rwsem, last));
  static_assert(offsetof(RealRwSem, handed) == offsetof(ovs_rwsem, handed));
  static_assert(offsetof(RealRwSem, where) == offsetof(ovs_rwsem, where));
  return *reinterpret_cast<RealRwSem*>(const_cast<ovs_rwsem*>(sem));
}

}  // namespace
}  // namespace ovsthread

using ovsthread::core;

void ovs_rwsem_init(ovs_rwsem* sem) { *sem = OVS_RWSEM_INITIALIZER; }

void ovs_rwsem_destroy_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_destroy(core(sem), where);
}

void ovs_rwsem_down_read_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_read(core(sem), where, {});
}

void ovs_rwsem_down_write_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_write(core(sem), where, {});
}

int ovs_rwsem_down_read_trylock_at(ovs_rwsem* sem, const char* where) {
  return ovsthread::rwsem_try_read(core(sem), where);
}

int ovs_rwsem_down_write_trylock_at(ovs_rwsem* sem, const char* where) {
  return ovsthread::rwsem_try_write(core(sem), where);
}

int ovs_rwsem_down_read_timed_at(ovs_rwsem* sem, const timespec* deadline,
                                 const char* where) {
  return ovsthread::rwsem_read(core(sem), where, {deadline, false});
}

int ovs_rwsem_down_write_timed_at(ovs_rwsem* sem, const timespec* deadline,
                                  const char* where) {
  return ovsthread::rwsem_write(core(sem), where, {deadline, false});
}

int ovs_rwsem_down_read_interruptible_at(ovs_rwsem* sem, const char* where) {
  return ovsthread::rwsem_read(core(sem), where, {nullptr, true});
}

int ovs_rwsem_down_write_interruptible_at(ovs_rwsem* sem, const char* where) {
  return ovsthread::rwsem_write(core(sem), where, {nullptr, true});
}

void ovs_rwsem_up_read_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_read_unlock(core(sem), where);
}

void ovs_rwsem_up_write_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_write_unlock(core(sem), where);
}

void ovs_rwsem_downgrade_write_at(ovs_rwsem* sem, const char* where) {
  ovsthread::rwsem_downgrade(core(sem), where);
}

unsigned int ovs_rwsem_holder(const ovs_rwsem* sem) {
  return ovsthread::rwsem_holder(core(sem));
}

uint64_t ovs_rwsem_n_handed(const ovs_rwsem* sem) {
  return core(sem).handed.load(ovsthread::kRelaxed);
}
