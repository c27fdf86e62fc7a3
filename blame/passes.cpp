// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of passes, and sentences about those that are left out.
#include "blame/passes.h"

namespace culprit::blame {
namespace {

constexpr std::string_view kDetect = "detect.";

std::string name_of(const replay::DetectorText& row) {
  return std::string(kDetect).append(row.id);
}

}  // namespace

std::vector<PassText> optional_passes() {
  std::vector<PassText> passes;
  for (const replay::DetectorText& row : replay::kDetectors) {
    passes.push_back({name_of(row), row.what});
  }
  for (const ExplanationText& row : kExplanations) {
    passes.push_back({std::string(row.id), row.what});
  }
  return passes;
}

bool disable(DisabledPasses& passes, std::string_view name) {
  for (size_t i = 0; i < replay::kDetectors.size(); ++i) {
    if (name == name_of(replay::kDetectors[i])) return passes.detectors.set(i).any();
  }
  for (size_t i = 0; i < kExplanations.size(); ++i) {
    if (name == kExplanations[i].id) return passes.explanations.set(i).any();
  }
  return false;
}

std::string names_of(const DisabledPasses& passes) {
  std::string names;
  const auto add = [&](std::string_view name) {
    names.append(names.empty() ? "" : ", ").append(name);
  };
  for (size_t i = 0; i < replay::kDetectors.size(); ++i) {
    if (passes.detectors[i]) add(name_of(replay::kDetectors[i]));
  }
  for (size_t i = 0; i < kExplanations.size(); ++i) {
    if (passes.explanations[i]) add(kExplanations[i].id);
  }
  return names;
}

std::string given_up_note(const std::vector<std::string_view>& what) {
  std::string list;
  for (size_t i = 0; i < what.size(); ++i) {
    list.append(i == 0 ? "" : i + 1 == what.size() ? " and " : ", ").append(what[i]);
  }
  return "Some of the analysis was given up, since it would have taken much longer than reading "
         "the "
         "trace, or too much memory: " +
         list + ". All else is complete.";
}

}  // namespace culprit::blame
