// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread earned before its crew had all of its threads (Potential::early_blame) belongs to
// no row: the time that it worked in its rows shares it.
#pragma once

#include <span>

#include "fold/potential/ledger.h"
#include "trace/raw/profile.h"

namespace culprit::fold {

/// Adds `amount` to the ledger of these rows.
void share_early(std::span<const trace::ProfileRow> rows, Wide amount, Ledger& ledger);

}  // namespace culprit::fold
