// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The use of devices, over the whole run and over time (device_time_series.h), with the operations
// of their streams and the calls that waited for them.
//
// Efficiencies of devices follow TALP (DLB's), with n devices, run time T, and of a device d the
// time in which it executes kernels k(d), and operations of any kind b(d):
//
//     device                 sum k / (n T)        = the product of the three below
//     device.load_balance    mean k / max k
//     device.communication   max k / max b        copies that no kernel runs beside
//     device.orchestration   max b / T            the rest: the device has nothing to do
#pragma once

#include "blame/explain/explanations.h"

namespace culprit::blame {

void explain_devices(const Explained& given, Findings& found);

}  // namespace culprit::blame
