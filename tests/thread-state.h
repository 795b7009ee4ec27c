// SPDX-License-Identifier: Apache-2.0
//
// What a test does to see another thread in a certain state.
#ifndef OVSTHREAD_TESTS_THREAD_STATE_H_
#define OVSTHREAD_TESTS_THREAD_STATE_H_

#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace ovsthread {

// Keeps the thread busy until DONE, so that what others see of it is stable.
template <class F>
void wait_until(F done) {
  while (!done()) sched_yield();
}

// Whether the kernel says that thread ID of this process sleeps.
inline bool is_asleep(pid_t id) {
  std::ifstream file("/proc/self/task/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(file, text);
  // The state stands behind the name, which is in parentheses.
  size_t name_end = text.rfind(") ");
  return name_end != std::string::npos && text[name_end + 2] == 'S';
}

}  // namespace ovsthread

#endif  // OVSTHREAD_TESTS_THREAD_STATE_H_
