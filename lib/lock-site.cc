// SPDX-License-Identifier: Apache-2.0
#include "lock-site.h"

#include <dlfcn.h>

#include <cstdio>

namespace ovsthread {

const char* format_site(const char* site, char (&text)[kSiteTextSize]) {
  uintptr_t bits = reinterpret_cast<uintptr_t>(site);
  uintptr_t tag = bits >> kSiteShift;
  uintptr_t address = bits & ((uintptr_t{1} << kSiteShift) - 1);
  const char* string = reinterpret_cast<const char*>(address);
  Dl_info info;
  if (site == nullptr) {
    snprintf(text, sizeof text, "an unknown place");
  } else if (tag == 0) {
    snprintf(text, sizeof text, "%s", string);
  } else if (tag != kSiteCode) {
    snprintf(text, sizeof text, "%s:%u", string, static_cast<unsigned>(tag));
  } else if (dladdr(string, &info) == 0) {
    snprintf(text, sizeof text, "%#zx", static_cast<size_t>(address));
  } else if (info.dli_sname != nullptr) {
    snprintf(text, sizeof text, "%s+%#tx", info.dli_sname,
             string - static_cast<const char*>(info.dli_saddr));
  } else {
    snprintf(text, sizeof text, "%s+%#tx", info.dli_fname,
             string - static_cast<const char*>(info.dli_fbase));
  }
  return text;
}

}  // namespace ovsthread
