// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Losses: what a result does not cover. Every stage that meets damaged or missing data counts it
// here under a stable name and goes on; the report lists each with its advice. (The names live with
// the stage that counts them; this file knows only how to add up.)
// MT: externally synchronised; parallel stages fill one Losses each and merge.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/words.h"

namespace culprit {

#define WORDS(Enum, meaning) enum class Enum : uint8_t {
#define WORD(value, spelling, meaning) value,
#define END \
  }         \
  ;
#include "base/severities.def"
#undef WORDS
#undef WORD
#undef END

#define WORDS(Enum, meaning) \
  template <>                \
  struct Words<Enum> {       \
    static constexpr std::array kSpelled = {
#define WORD(value, spelling, meaning) std::string_view(spelling),
#define END \
  }         \
  ;         \
  }         \
  ;
#include "base/severities.def"
#undef WORDS
#undef WORD
#undef END

struct Loss {
  uint64_t count = 0;
  Severity severity = Severity::info;
  std::string advice;  ///< one sentence: what it means for the result and what to do
};

class Losses {
 public:
  /// Adds `count` to the loss `name` ("unmatched_receives"); the first caller's texts stay.
  void add(std::string_view name, Severity severity, std::string_view advice, uint64_t count = 1);
  void merge(const Losses& other);
  const std::map<std::string, Loss, std::less<>>& all() const { return losses_; }

 private:
  std::map<std::string, Loss, std::less<>> losses_;
};

}  // namespace culprit
