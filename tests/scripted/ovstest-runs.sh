#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs tests/ovstest-runs.sh over the library with scripted transactions, so
# that its elided columns run on a machine without transactions, too.
OVSTEST=tests/scripted/ovstest
export OVSTEST
. "${srcdir-.}/tests/ovstest-runs.sh"
