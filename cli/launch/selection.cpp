// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/selection.h"

#include <fmt/format.h>

namespace culprit::cli {
namespace {

constexpr const char* kOff =
    "Everything else appears as (not recorded); messages to and from it are matched.";

}  // namespace

std::vector<std::string> sentences_of(const GivenSettings& settings) {
  std::vector<std::string> sentences;
  const std::string& window = settings[Setting::window];
  const std::string& ranks = settings[Setting::ranks];
  const std::string& phase = settings[Setting::phase];
  const std::string& exclude = settings[Setting::exclude];
  if (!window.empty()) {
    sentences.push_back(
        fmt::format("Only the time window {} of each process was recorded. {}", window, kOff));
  }
  if (!ranks.empty()) {
    sentences.push_back(fmt::format("Only ranks {} were recorded. {}", ranks, kOff));
  }
  if (!phase.empty()) {
    sentences.push_back(fmt::format("Only the phase {} was recorded. {}", phase, kOff));
  }
  const Without without = settings.value<Setting::without>();
#define FREQUENT(name, what) \
  if (without.name) sentences.push_back(fmt::format("Left out on request: {}.", what));
#include "base/frequent_events.def"
#undef FREQUENT
  if (!exclude.empty()) {
    sentences.push_back(
        fmt::format("Left out on request: regions and functions named {}.", exclude));
  }
  return sentences;
}

}  // namespace culprit::cli
