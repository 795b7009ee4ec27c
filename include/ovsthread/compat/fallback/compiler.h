/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none. */
#ifndef OVSTHREAD_FALLBACK_COMPILER_H
#define OVSTHREAD_FALLBACK_COMPILER_H 1

#include "openvswitch/compiler.h"

#endif /* OVSTHREAD_FALLBACK_COMPILER_H */
