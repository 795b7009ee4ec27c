/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none:
 * fixed-width integers, and those in network byte order. */
#ifndef OPENVSWITCH_TYPES_H
#define OPENVSWITCH_TYPES_H 1

#include <stdint.h>
#include <sys/types.h>

typedef uint16_t ovs_be16;
typedef uint32_t ovs_be32;
typedef uint64_t ovs_be64;

#endif /* OPENVSWITCH_TYPES_H */
