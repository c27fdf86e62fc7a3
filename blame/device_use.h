// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What devices did, and blame in both directions between them and hosts, exact and conserved.
//
// While a device is idle because its next operation has not been handed over, what the host that
// hands it over executes meanwhile is to blame; each gap of a device counts once, whatever the
// number of its streams. While a host waits for a device, the operations that the process's streams
// execute share each second equally; in an instant in which there are none, nobody earns it.
//
//     sum of the blame for idle devices  = their idle time up to launches
//     sum of the blame for waiting hosts = waiting of patterns dev.host_wait and below
//
// The idea is that of Chabbi, Murthy, Fagan and Mellor-Crummey ("Effective sampling-driven
// performance tools for GPU-accelerated supercomputers", SC 2013), who sample it.
//
// Efficiencies of devices follow TALP (DLB's), with n devices, run time T, and of a device d the
// time in which it executes kernels k(d), and operations of any kind b(d):
//
//     device                 sum k / (n T)        = the product of the three below
//     device.load_balance    mean k / max k
//     device.communication   max k / max b        copies that no kernel runs beside
//     device.orchestration   max b / T            the rest: the device has nothing to do
#pragma once

#include "blame/explanations.h"

namespace culprit::blame {

void explain_devices(const Explained& given, Findings& found);

}  // namespace culprit::blame
