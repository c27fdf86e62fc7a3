// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of the functions that Python's threads have been found in, the same in the whole process,
// so that each is described once. Objects come and go, and others come to lie where they lay: the
// first line and the name tell them apart.
// MT: no locks, and signal handlers may interrupt; a function that two threads enter at once may
// get two numbers.
#pragma once

#include <cstdint>

#include "collector/callpath/python_stack.h"

namespace culprit::collector::python {

/// 0: there is no room for more.
uint32_t number_of(const Frame& frame);

/// Whether some log has its description.
bool is_described(uint32_t number);
void set_described(uint32_t number);

/// Where logs that had some are gone.
void forget_descriptions();

}  // namespace culprit::collector::python
