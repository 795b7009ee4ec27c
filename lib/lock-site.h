// SPDX-License-Identifier: Apache-2.0
//
// The place in a program where a lock is taken, in one pointer.
//
// C callers pass a string "file:line".  The C++ guards know a file and a line,
// and what is called from std::lock_guard and its like only the address that
// it returns to.  All three travel as one `const char*`, because the lock, the
// held-list and a signature shared with C each have one word for it.  A user
// space pointer has 48 bits; the 16 above say which kind it is:
//
//   0             a string "file:line"
//   1 to 0xfffe   a string "file", at this line (0xfffe: or later)
//   0xffff        a code address
#ifndef OVSTHREAD_LIB_LOCK_SITE_H_
#define OVSTHREAD_LIB_LOCK_SITE_H_

#include <cstddef>
#include <cstdint>

namespace ovsthread {

inline constexpr unsigned kSiteShift = 48;
inline constexpr uintptr_t kSiteCode = 0xffff;

inline const char* tag_site(const void* pointer, uintptr_t tag) {
  return reinterpret_cast<const char*>(reinterpret_cast<uintptr_t>(pointer) |
                                       tag << kSiteShift);
}

inline const char* site_in_file(const char* file, unsigned line) {
  return tag_site(file, line < kSiteCode ? line : kSiteCode - 1);
}

inline const char* site_in_code(const void* address) {
  return tag_site(address, kSiteCode);
}

// Longer file names are cut.
inline constexpr size_t kSiteTextSize = 256;

// Writes SITE into TEXT as a reader of a message wants it, and returns TEXT.  A
// code address is given as addr2line wants it: the object it lies in, and its
// offset there.  Wait-free.
const char* format_site(const char* site, char (&text)[kSiteTextSize]);

}  // namespace ovsthread

#endif  // OVSTHREAD_LIB_LOCK_SITE_H_
