// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Losses: what a result does not cover. Every stage that meets damaged or missing data counts it
// here and goes on; the report lists each with its sentence. The table is losses.def, so that a
// stage only says what it has met. Where losses are stored, their texts are stored with them: an
// experiment may come from a build that knows other losses, and says what that one said.
// MT: externally synchronised; parallel stages fill one Losses each and merge.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
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

/// The worst first.
inline constexpr std::array kSeverities = {Severity::data_loss, Severity::warning, Severity::info};

/// The one with this name. One that this build does not know is taken for the worst.
Severity severity_named(std::string_view name);

enum class LossKind : uint8_t {
#define STAGE(title, summary)
#define LOSS(id, severity, sentence) id,
#include "base/losses.def"
#undef LOSS
};

/// A row of losses.def, which explains the columns.
struct LossText {
  std::string_view id;
  Severity severity;
  std::string_view sentence;
};

inline constexpr std::array kLosses = {
#define LOSS(id, severity, sentence) LossText{#id, Severity::severity, sentence},
#include "base/losses.def"
#undef LOSS
#undef STAGE
};

/// The part of a sentence that is filled in where the loss is counted.
inline constexpr std::string_view kGap = "{}";

constexpr const LossText& text(LossKind kind) {
  return kLosses[static_cast<size_t>(kind)];
}

constexpr bool has_gap(LossKind kind) {
  return text(kind).sentence.find(kGap) != std::string_view::npos;
}

/// A loss whose sentence is complete. Another one does not compile.
struct PlainLoss {
  consteval PlainLoss(LossKind loss) : kind(loss) {
    if (has_gap(loss)) throw "the sentence in losses.def has a gap: say what fills it";
  }
  LossKind kind;
};

/// A loss whose sentence has a gap. Another one does not compile.
struct DetailedLoss {
  consteval DetailedLoss(LossKind loss) : kind(loss) {
    if (!has_gap(loss)) throw "the sentence in losses.def has no gap";
  }
  LossKind kind;
};

/// A loss as it is counted and stored.
struct Loss {
  uint64_t count = 0;
  Severity severity = Severity::info;
  std::string advice;  ///< the sentence, complete
};

class Losses {
 public:
  /// Nothing if `count` is 0.
  void add(PlainLoss loss, uint64_t count = 1);
  /// `detail` fills the gap. The first caller's stays.
  void add(DetailedLoss loss, uint64_t count, std::string_view detail);
  /// Adds a loss as it was stored. `name` may be unknown to this build.
  void restore(std::string_view name, const Loss& stored);
  void merge(const Losses& other);

  bool contains(LossKind kind) const { return losses_.contains(text(kind).id); }
  /// All losses by name: the id in losses.def, or a name of another build.
  const std::map<std::string, Loss, std::less<>>& all() const { return losses_; }

 private:
  /// Adds to a loss that is there already; false if it is not.
  bool counted(std::string_view name, uint64_t count);

  std::map<std::string, Loss, std::less<>> losses_;
};

}  // namespace culprit
