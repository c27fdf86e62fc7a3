// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The types of the columns of findings, from columns.def and the words, as C++ types: so the
// meaning of a column decides how it is stored, shown and read back.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/losses.h"
#include "blame/findings/words.h"

namespace culprit::blame {

/// A place in the list of devices.
using FoundDeviceId = Id<struct FoundDeviceTag>;
/// A place in the list of stuck locations.
using FoundStuckId = Id<struct FoundStuckTag>;
/// A place in the list of models.
using FoundModelId = Id<struct FoundModelTag>;

namespace column {

#define COLUMN(Type, kept_as, initial, sql, may_lack, words) \
  struct Type {                                              \
    using Value = kept_as;                                   \
    static constexpr Value first() {                         \
      return Value initial;                                  \
    }                                                        \
    static constexpr std::string_view kSql = sql;            \
    static constexpr bool kMayLack = may_lack;               \
  };
#include "blame/findings/columns.def"
#undef COLUMN

template <Word E>
struct OfWord {
  using Value = E;
  static constexpr Value first() { return Value{}; }
  static constexpr std::string_view kSql = "TEXT NOT NULL";
  static constexpr bool kMayLack = false;
};

#define WORDS(Enum, meaning) using Enum = OfWord<culprit::blame::Enum>;
#define WORD(value, spelling, meaning)
#define END
#include "blame/findings/words.def"
#undef WORDS
#define WORDS(Enum, meaning) using Enum = OfWord<culprit::Enum>;
#include "base/severities.def"
#undef WORDS
#undef WORD
#undef END

}  // namespace column
}  // namespace culprit::blame
