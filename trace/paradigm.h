// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The programming models to which regions belong, by number. The table is paradigms.def.
#pragma once

#include <cstdint>

namespace culprit::trace {

enum class Paradigm : uint8_t {
#define PARADIGM(id, otf2) id,
#include "trace/paradigms.def"
#undef PARADIGM
};

}  // namespace culprit::trace
