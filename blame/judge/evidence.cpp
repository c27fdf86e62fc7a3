// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/judge/evidence.h"

#include <fmt/format.h>

namespace culprit::blame {
Evidence::Evidence(const Findings& findings) : known_(findings.callpaths.size()) {
  for (const FoundProfile& row : findings.profile) {
    if (!row.callpath.valid() || row.callpath.index() >= known_.size()) continue;
    Known& known = known_[row.callpath.index()];
    known.time_s += row.time_s;
    known.sampled_s += row.sampled_s;
    known.samples += row.samples;
  }
}

std::optional<uint64_t> Evidence::samples(CallPathId path) const {
  if (!path.valid() || path.index() >= known_.size()) return std::nullopt;
  const Known& known = known_[path.index()];
  const bool mostly_sampled = known.sampled_s > 0 && 2 * known.sampled_s >= known.time_s;
  return mostly_sampled ? std::optional(known.samples) : std::nullopt;
}

std::string Evidence::sentence(CallPathId path) const {
  const std::optional<uint64_t> count = samples(path);
  if (!count) return "";
  if (*count >= kHandful) return fmt::format("Based on {} samples.", *count);
  if (*count == 0) return "Uncertain: no sample was taken there.";
  return fmt::format("Uncertain: based on only {} sample{}.", *count, *count == 1 ? "" : "s");
}

}  // namespace culprit::blame
