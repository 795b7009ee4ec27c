/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in for Open vSwitch's header of this name where a program has none.
 * The version is that of the interface that the headers beside this directory
 * follow. */
#ifndef OPENVSWITCH_VERSION_H
#define OPENVSWITCH_VERSION_H 1

#ifndef OVS_PACKAGE_STRING
#define OVS_PACKAGE_STRING "Open vSwitch 4.0.90"
#endif
#ifndef OVS_PACKAGE_VERSION
#define OVS_PACKAGE_VERSION "4.0.90"
#endif

#endif /* OPENVSWITCH_VERSION_H */
