// SPDX-License-Identifier: Apache-2.0
//
// Fences that cost one side of a handshake nothing (asymmetric fences).
//
// Where one side of a store-load handshake runs often and the other seldom, the
// seldom one can order both: the membarrier system call makes every thread of
// the process that runs just then pass a full barrier, and one that does not
// run has passed one when it was put aside.  The often one then has to keep the
// compiler from reordering, no more.
//
// Where the kernel has no such call, or a filter forbids it, both sides are
// plain fences.  That is decided before main(), or before dlopen() returns, so
// that no thread takes the light way while another holds it for a full fence.
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "atomics.h"
#include "log.h"

namespace ovsthread {
namespace {

long membarrier(int command) {
  int saved_errno = errno;
  long result = syscall(SYS_membarrier, command, 0, 0);
  errno = saved_errno;
  return result;
}

}  // namespace

constinit bool RealAtomics::asymmetric = false;

void RealAtomics::expedite() {
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) return;
  // A process that was made without the registration of its parent.
  if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
      membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0) {
    return;
  }
  fatal("the kernel has ceased to run membarrier(2)");
}

}  // namespace ovsthread

__attribute__((constructor)) static void choose() {
  using ovsthread::membarrier;
  ovsthread::RealAtomics::asymmetric =
      membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
}
