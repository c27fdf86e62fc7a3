// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict's words on devices.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/names.h"

namespace culprit::report {

/// A sentence for the verdict, of the time without start-up, where devices idle for long because
/// nothing was handed over; else
/// "".
std::string device_verdict(const blame::Findings& findings, const PageNames& names);

}  // namespace culprit::report
