// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict as data (verdict.h). docs/findings-db.md explains the keys.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "blame/findings/findings.h"

namespace culprit::report {

nlohmann::ordered_json verdict_json(const blame::Findings& findings);

}  // namespace culprit::report
