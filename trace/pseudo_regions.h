// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Regions that are nowhere in the program (pseudo_regions.def has their names and what they mean).
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/definitions.h"

namespace culprit::trace {

enum class Pseudo : uint8_t {
  none,  ///< a region of the program
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning) id,
#define CULPRIT_PSEUDO_FAMILY(id, beginning, words, meaning) id,
#include "trace/pseudo_regions.def"
};

struct PseudoRegion {
  Pseudo kind;
  bool is_family;  ///< stands for all whose names begin like its own: what follows says more
  std::string_view name;
  std::string_view words;    ///< in a sentence; empty where it is named like a function
  std::string_view meaning;  ///< whole sentences, or empty
};

inline constexpr PseudoRegion kPseudoRegions[] = {
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning) {Pseudo::id, false, name, words, meaning},
#define CULPRIT_PSEUDO_FAMILY(id, name, words, meaning) {Pseudo::id, true, name, words, meaning},
#include "trace/pseudo_regions.def"
};

/// The pseudo-regions by name, for the code that makes them.
namespace pseudo {
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning) inline constexpr std::string_view id = name;
#define CULPRIT_PSEUDO_FAMILY(id, beginning, words, meaning) \
  inline constexpr std::string_view id = beginning;
#include "trace/pseudo_regions.def"
}  // namespace pseudo

static_assert(pseudo::not_recorded == kNotRecorded && pseudo::not_sampled == kNotSampled);

/// nullptr for a region of the program.
constexpr const PseudoRegion* pseudo_region(std::string_view name) {
  if (!name.starts_with('(')) return nullptr;
  for (const PseudoRegion& each : kPseudoRegions) {
    if (each.is_family ? name.starts_with(each.name) : name == each.name) return &each;
  }
  return nullptr;
}

constexpr Pseudo pseudo_of(std::string_view name) {
  const PseudoRegion* const found = pseudo_region(name);
  return found != nullptr ? found->kind : Pseudo::none;
}

/// "poll" of "(blocked in poll)": what the name of a region of a family says more.
constexpr std::string_view rest_of_family(std::string_view name) {
  const PseudoRegion* const found = pseudo_region(name);
  if (found == nullptr || !found->is_family) return {};
  name.remove_prefix(found->name.size());
  return name.substr(0, name.rfind(')'));
}

/// Whether the region is the part of its caller's time that went by in a call of a library or of
/// the system: its caller answers for it.
constexpr bool is_part_of_caller(std::string_view name) {
  const Pseudo kind = pseudo_of(name);
  return kind == Pseudo::blocked_in || kind == Pseudo::io_in || kind == Pseudo::in_library ||
         kind == Pseudo::importing || kind == Pseudo::spinning;
}

}  // namespace culprit::trace
