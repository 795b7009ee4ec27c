// SPDX-License-Identifier: Apache-2.0
#include "lock-site.h"

#include <dlfcn.h>
#include <link.h>

#include <cerrno>
#include <cstdio>

namespace ovsthread {

const char* format_site(const char* site, char (&text)[kSiteTextSize]) {
  uintptr_t bits = reinterpret_cast<uintptr_t>(site);
  uintptr_t tag = bits >> kSiteShift;
  uintptr_t address = bits & ((uintptr_t{1} << kSiteShift) - 1);
  const char* string = reinterpret_cast<const char*>(address);
  // Not dladdr(), which waits for the dynamic linker's lock: who has that, in a
  // constructor for one, may be waiting for a lock that the caller holds.
  dl_find_object object;
  if (site == nullptr) {
    snprintf(text, sizeof text, "an unknown place");
  } else if (tag == 0) {
    snprintf(text, sizeof text, "%s", string);
  } else if (tag != kSiteCode) {
    snprintf(text, sizeof text, "%s:%u", string, static_cast<unsigned>(tag));
  } else if (_dl_find_object(const_cast<char*>(string), &object) != 0) {
    snprintf(text, sizeof text, "%#zx", static_cast<size_t>(address));
  } else {
    const char* name = object.dlfo_link_map->l_name;
    snprintf(text, sizeof text, "%s+%#zx",
             name[0] == '\0' ? program_invocation_name : name,
             static_cast<size_t>(address - object.dlfo_link_map->l_addr));
  }
  return text;
}

}  // namespace ovsthread
