// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the program arranged its processes, as rows of findings.
#pragma once

#include "blame/findings/findings.h"
#include "trace/definitions.h"

namespace culprit::blame {

/// `definitions`: of all processes.
void add_topologies(const trace::Definitions& definitions, Findings& found);

}  // namespace culprit::blame
