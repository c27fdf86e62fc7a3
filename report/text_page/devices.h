// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of the report about devices: how busy they were, which code of hosts let them idle,
// which operations ran while hosts waited, and habits that cost time (launches that take longer
// than the launched operation, waits for nothing, copies from pageable memory).
#pragma once

#include <string>
#include <vector>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

/// The section, with its heading; "" for runs without devices.
std::string device_section(const blame::Findings& findings, const PageNames& names,
                           const TimeFormat& time);

}  // namespace culprit::report
