// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Regions that are nowhere in the program (pseudo_regions.def has their names and what they mean).
#pragma once

#include <string_view>

#include "trace/definitions.h"

namespace culprit::trace {

struct PseudoRegion {
  std::string_view name;
  std::string_view words;    ///< in a sentence; empty where it is named like a function
  std::string_view meaning;  ///< whole sentences, or empty
};

inline constexpr PseudoRegion kPseudoRegions[] = {
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning) {name, words, meaning},
#define CULPRIT_PSEUDO_FAMILY(id, beginning, words, meaning)
#include "trace/pseudo_regions.def"
};

/// Each stands for all whose names begin like this: what follows says more.
inline constexpr PseudoRegion kPseudoFamilies[] = {
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning)
#define CULPRIT_PSEUDO_FAMILY(id, beginning, words, meaning) {beginning, words, meaning},
#include "trace/pseudo_regions.def"
};

/// By their names, for the code that makes them.
namespace pseudo {
#define CULPRIT_PSEUDO_REGION(id, name, words, meaning) inline constexpr std::string_view id = name;
#define CULPRIT_PSEUDO_FAMILY(id, beginning, words, meaning) \
  inline constexpr std::string_view id = beginning;
#include "trace/pseudo_regions.def"
}  // namespace pseudo

static_assert(pseudo::not_recorded == kNotRecorded && pseudo::not_sampled == kNotSampled);

/// nullptr for a region of the program.
constexpr const PseudoRegion* pseudo_region(std::string_view name) {
  for (const PseudoRegion& each : kPseudoRegions) {
    if (each.name == name) return &each;
  }
  for (const PseudoRegion& each : kPseudoFamilies) {
    if (name.starts_with(each.name)) return &each;
  }
  return nullptr;
}

}  // namespace culprit::trace
