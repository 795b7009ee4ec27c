/* SPDX-License-Identifier: Apache-2.0
 *
 * A C program that uses the installed library. */
#include <ovsthread/version.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  if (strcmp(ovsthread_version(), OVSTHREAD_VERSION) != 0) {
    return 1;
  }
  printf("C %s\n", ovsthread_version());
  return 0;
}
