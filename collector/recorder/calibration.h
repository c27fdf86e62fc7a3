// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The cost of recording on this machine, measured at activation: the report multiplies it with the
// number of records to estimate its own overhead. Takes a few hundred microseconds.
#pragma once

#include "trace/raw/raw.h"

namespace culprit::collector {

/// Fills event_cost_ps and path_cost_ps.
void calibrate(trace::RawProcess& record);

}  // namespace culprit::collector
