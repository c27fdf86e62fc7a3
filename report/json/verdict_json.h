// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict as data (verdict.h), and what it rests on besides delays: start-up, and the cores
// that processes had. docs/findings-db.md says what the keys mean.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "blame/findings.h"

namespace culprit::report {

nlohmann::ordered_json verdict_json(const blame::Findings& findings);
nlohmann::ordered_json start_up_json(const blame::Findings& findings);
nlohmann::ordered_json processes_json(const blame::Findings& findings);

}  // namespace culprit::report
