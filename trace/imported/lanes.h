// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls and operations of an imported process as a trace needs them: calls of a thread in order and
// nested, operations of a queue on as many lanes as they need not to overlap.
#pragma once

#include <cstdint>
#include <vector>

#include "base/losses.h"
#include "trace/imported/process.h"

namespace culprit::trace {

/// Puts calls in the order in which they are entered, callers before what they call. A call that
/// outlives its caller is cut; of calls that end before they begin none is left. Ranges that the
/// program named hold what lies between the calls that open and close them.
void make_nested(std::vector<ImportedCall>& calls, const std::vector<Region>& regions,
                 Losses& losses);

/// Ranges that libraries have named, to describe themselves, work for their callers as these do.
/// `calls` are nested; `regions` gets those of such ranges.
void set_ranges_of_libraries_apart(std::vector<ImportedCall>& calls, std::vector<Region>& regions);

/// Time between two calls that lie in no other becomes a call of its own, named by the two: that is
/// all that is known of it. `calls` are nested; `regions` gets those of the new ones.
void name_gaps(std::vector<ImportedCall>& calls, std::vector<Region>& regions);

/// Operations of one queue in order, on lanes none of which overlap.
std::vector<std::vector<ImportedOperation>> lanes_of(std::vector<ImportedOperation> operations,
                                                     Losses& losses);

}  // namespace culprit::trace
