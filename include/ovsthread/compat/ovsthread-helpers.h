/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes visible what the headers of Open vSwitch that the library replaces make
 * visible besides their own subject: the helpers of openvswitch/util.h and what
 * it includes, util.h, compiler.h and ovs-atomic.h.
 *
 * Where Open vSwitch's own are on the include path they are taken.  util.h and
 * compiler.h are common names, so openvswitch/util.h is the proof that those of
 * Open vSwitch are meant.  Otherwise the ones in fallback/ serve, whether or
 * not that folder is the last one on the include path, as a program that
 * includes helpers itself wants it to be. */
#ifndef OVSTHREAD_HELPERS_H
#define OVSTHREAD_HELPERS_H 1

#include "openvswitch/ovsthread-util.h"

#ifdef OVSTHREAD_FALLBACK
#include "fallback/compiler.h"
#include "fallback/ovs-atomic.h"
#include "fallback/util.h"
#else
#include "compiler.h"
#include "ovs-atomic.h"
#include "util.h"
#endif

#endif /* OVSTHREAD_HELPERS_H */
