// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/findings/findings.h"

namespace culprit::blame {

Findings::Findings() = default;
Findings::~Findings() = default;
Findings::Findings(const Findings&) = default;
Findings::Findings(Findings&&) noexcept = default;
Findings& Findings::operator=(const Findings&) = default;
Findings& Findings::operator=(Findings&&) noexcept = default;

}  // namespace culprit::blame
