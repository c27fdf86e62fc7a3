// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The programming models to which regions belong, by number. The table is paradigms.def.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace culprit::trace {

enum class Paradigm : uint8_t {
#define PARADIGM(id, otf2) id,
#include "trace/paradigms.def"
#undef PARADIGM
};

/// The spelling in the table.
constexpr std::string_view to_string(Paradigm paradigm) {
  constexpr std::array kNames = {
#define PARADIGM(id, otf2) std::string_view(#id),
#include "trace/paradigms.def"
#undef PARADIGM
  };
  return kNames[static_cast<size_t>(paradigm)];
}

}  // namespace culprit::trace
