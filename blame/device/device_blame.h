// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame in both directions between devices and hosts, exact and conserved.
//
// While a device is idle because its next operation has not been launched, the code that the
// launching host executes meanwhile is to blame; each gap of a device counts once, whatever the
// number of its streams. While a host waits for a device, the operations that the process's streams
// execute share each second equally; an instant without operations is blamed on none.
//
//     sum of the blame for idle devices  = their idle time up to launches
//     sum of the blame for waiting hosts = waiting of patterns dev.host_wait and below
//
// The idea is that of Chabbi, Murthy, Fagan and Mellor-Crummey ("Effective sampling-driven
// performance tools for GPU-accelerated supercomputers", SC 2013), who sample it.
//
// Besides, each row has the time of its call path on the critical path, on all locations. That is
// no bound of the possible gain: see docs/efficiency.md.
#pragma once

#include "blame/explain/explanations.h"

namespace culprit::blame {

void explain_device_blame(const Explained& given, Findings& found);

}  // namespace culprit::blame
