// SPDX-License-Identifier: Apache-2.0
//
// A C++ program that uses the installed library.
#include <ovsthread/version.h>

#include <iostream>

int main() { std::cout << "C++ " << ovsthread_version() << '\n'; }
