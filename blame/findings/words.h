// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The words of findings as enums, one for each WORDS of words.def, which explains them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/words.h"

namespace culprit::blame {

using culprit::to_string;  // to be found wherever a word is at hand

#define WORDS(Enum, meaning) enum class Enum : uint8_t {
#define WORD(value, spelling, meaning) value,
#define END \
  }         \
  ;
#include "blame/findings/words.def"
#undef WORDS
#undef WORD
#undef END

}  // namespace culprit::blame

namespace culprit {

#define WORDS(Enum, meaning)  \
  template <>                 \
  struct Words<blame::Enum> { \
    static constexpr std::array kSpelled = {
#define WORD(value, spelling, meaning) std::string_view(spelling),
#define END \
  }         \
  ;         \
  }         \
  ;
#include "blame/findings/words.def"
#undef WORDS
#undef WORD
#undef END

}  // namespace culprit
