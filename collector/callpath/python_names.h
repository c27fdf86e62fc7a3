// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of the functions in which Python's threads have been found. They are the same in the
// whole process, so that each function is described once. A new object may take the address of one
// that is gone: the first line and the name distinguish them. MT: no locks, and signal handlers may
// interrupt; a function that two threads enter at once may get two numbers.
#pragma once

#include <cstdint>

#include "collector/callpath/python_stack.h"

namespace culprit::collector::python {

/// The function's number; 0 if there is no room for more.
uint32_t number_of(const Frame& frame);

/// Whether some log has the function's description.
bool is_described(uint32_t number);
void set_described(uint32_t number);

/// Called where logs with descriptions are gone.
void forget_descriptions();

}  // namespace culprit::collector::python
