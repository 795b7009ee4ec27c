// SPDX-License-Identifier: Apache-2.0
#include "tests/compat/rcu-calls.c"
