// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that forbid themselves system calls (seccomp). What a sample or a record may need is
// looked up in the filter before it takes force: if a call of ours would end the program, or be
// noticed by it, recording stops there.
#pragma once

#include <linux/filter.h>

namespace culprit::collector::sampling {

/// At load: where the system's own calls are.
void find_confining_calls();

/// Whether all of our system calls go on to work, or to fail, under this filter.
bool leaves_us_alone(const sock_fprog& filter);

}  // namespace culprit::collector::sampling
