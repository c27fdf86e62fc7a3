// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Analysis ranks name the code of their processes. Each object file is opened by one of them: it
// takes far longer to read a file's debug information than to look up a place in it.
#pragma once

#include <functional>

#include "assemble/names/symbols.h"
#include "base/ranks/transport.h"

namespace culprit::assemble {

/// Looks up the places that were added; false if time for it was up.
using ResolveSymbols = std::function<bool(Symbols&)>;

/// Collective: resolves the places that were added on each rank. The first rank gets those of all.
/// Returns false if `resolve` does on any.
bool name_together(Transport& ranks, Symbols& symbols, const ResolveSymbols& resolve);

}  // namespace culprit::assemble
