#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Runs tests/ovstest-stats.sh over the library with scripted transactions, so
# that what is published has elided sections and aborts in it.
OVSTEST=tests/scripted/ovstest
export OVSTEST
. "${srcdir-.}/tests/ovstest-stats.sh"
