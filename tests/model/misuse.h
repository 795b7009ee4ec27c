// SPDX-License-Identifier: Apache-2.0
//
// Misuse without the end of the process: its message is caught, and the call
// that it was in is left.
#ifndef OVSTHREAD_TESTS_MODEL_MISUSE_H_
#define OVSTHREAD_TESTS_MODEL_MISUSE_H_

#include <csetjmp>

#include "model/lock-model.h"

namespace ovsthread::model {

// From now on.
void catch_misuse();

// Whether F() was left because of a misuse; BUFFER must live as long as F may
// run, also where it runs again after an abort.
bool reports_misuse(jmp_buf& buffer, void (*f)(void*), void* aux);
template <class F>
bool reports_misuse(jmp_buf& buffer, F f) {
  return reports_misuse(
      buffer, [](void* call) { (*static_cast<F*>(call))(); }, &f);
}

// The last message that was caught.
struct Caught {
  char text[1024];
  bool in_transaction;
};
const Caught& caught();

// In words; of a misuse, those that its message must hold.
const char* name_of(Answer answer);

}  // namespace ovsthread::model

#endif  // OVSTHREAD_TESTS_MODEL_MISUSE_H_
