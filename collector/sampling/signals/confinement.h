// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that forbid themselves system calls (seccomp). The calls that a sample or a record may
// need are checked against the filter before it takes force: if one of them would end the program,
// or be noticed by it, recording stops there.
#pragma once

#include <linux/filter.h>

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_confining_calls();

/// Whether all of our system calls go on to work, or to fail harmlessly, under this filter.
bool leaves_us_alone(const sock_fprog& filter);

}  // namespace culprit::collector::sampling
