// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/lock-calls.c"
