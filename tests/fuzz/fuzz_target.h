// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the fuzz targets share: an input goes through the whole analysis, and whatever it says, the
// analysis ends with findings that keep their identities, or with one sentence. Everything else
// ends the process: libFuzzer (`./dev fuzz`) keeps the input then, and the regression test fails.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/source.h"

/// libFuzzer's entry; each target defines it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace culprit::fuzz {

/// Ends the process if `sentence` is no sentence for a user.
void require_sentence(const Error& error);

/// Analyses `source` on one thread. `losses` are those of opening it.
void analyse(const trace::Source& source, const Losses& losses);

}  // namespace culprit::fuzz
