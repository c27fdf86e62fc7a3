// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings as a page may show them. Names come from programs and from other people's traces: one
// with a line feed would forge lines of the report, one with an escape sequence would command the
// terminal. They are made harmless here, all of them and before anything is laid out, so that no
// section has to handle it. Output for programs (JSON, SQL) keeps them unchanged.
#pragma once

#include "blame/findings/findings.h"

namespace culprit::report {

/// `findings` with all texts printable (base/printable.h), on one line each.
blame::Findings displayed(const blame::Findings& findings);

}  // namespace culprit::report
