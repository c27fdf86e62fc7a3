// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of the report that tells of devices: how busy they were, which code of hosts let them
// idle, what ran while hosts waited, and what habits cost time (launches that take longer than what
// they launch, waiting for nothing, copies from pageable memory).
#pragma once

#include <string>
#include <vector>

#include "report/page/layout.h"
#include "report/page/names.h"

namespace culprit::report {

/// A sentence for the verdict, of the time without start-up, where devices idle for long because
/// nothing was handed over; else
/// "".
std::string device_verdict(const blame::Findings& findings, const PageNames& names);

/// The section, with its heading; "" for runs without devices.
std::string device_section(const blame::Findings& findings, const PageNames& names,
                           const TimeFormat& time);

}  // namespace culprit::report
