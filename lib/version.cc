// SPDX-License-Identifier: Apache-2.0
#include <ovsthread/version.h>

const char* ovsthread_version() { return OVSTHREAD_VERSION; }
