/* SPDX-License-Identifier: Apache-2.0
 *
 * Open vSwitch's openvswitch/util.h, or what stands in for it. */
#ifndef OVSTHREAD_UTIL_H
#define OVSTHREAD_UTIL_H 1

/* In angle brackets: a quoted name would be looked for beside this file
 * first. */
#if __has_include(<openvswitch/util.h>)
#include <openvswitch/util.h>
#else
#include "../fallback/openvswitch/util.h"
#endif

#endif /* OVSTHREAD_UTIL_H */
