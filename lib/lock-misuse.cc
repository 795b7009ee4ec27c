// SPDX-License-Identifier: Apache-2.0
#include "lock-misuse.h"

#include <cstdio>
#include <cstring>

#include "elision.h"
#include "lock-site.h"
#include "log.h"
#include "thread-id.h"

namespace ovsthread {

void report_misuse(const LockMisuse& misuse) {
  // Not left to fatal(): asking for the thread's name may be a system call, at
  // which a transaction would end as if by chance.
  elision::safe_point(OVS_SAFE_POINT_MESSAGE);
  char where[kSiteTextSize];
  char other[kSiteTextSize];
  char link[kSiteTextSize + 64] = "";
  char what[128];
  snprintf(what, sizeof what, misuse.what, misuse.kind);
  if (misuse.other != nullptr &&
      strcmp(format_site(misuse.other, other), kNeverTaken) == 0) {
    snprintf(link, sizeof link, "; never taken");
  } else if (misuse.other != nullptr) {
    snprintf(link, sizeof link, "; %s %s", misuse.relation, other);
  }
  fatal("%s: %s %p, by thread %s (id %u) at %s%s", what, misuse.kind,
        misuse.lock, thread_name().text, thread_id(),
        format_site(misuse.where, where), link);
}

}  // namespace ovsthread
