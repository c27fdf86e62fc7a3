// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "trace/otf2/loss_properties.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace culprit::trace {
namespace {

constexpr std::string_view kPrefix = "CULPRIT::LOSS::";
constexpr std::string_view kBeforeSentence = ": ";

/// Cuts the text before `end` off `text` and drops `end`; the whole text if there is none.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + end.size()));
  return taken;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> properties_of(const Losses& losses) {
  std::vector<std::pair<std::string, std::string>> properties;
  for (const auto& [name, loss] : losses.all()) {
    std::string value = name + " " + std::to_string(loss.count) + " ";
    value.append(to_string(loss.severity)).append(kBeforeSentence).append(loss.advice);
    properties.emplace_back(std::string(kPrefix) + std::to_string(properties.size()),
                            std::move(value));
  }
  return properties;
}

bool restore_loss(std::string_view name, std::string_view value, Losses& losses) {
  if (!name.starts_with(kPrefix)) return false;
  const std::string_view loss = take_until(value, " ");
  const std::string_view digits = take_until(value, " ");
  uint64_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const Severity severity = severity_named(take_until(value, kBeforeSentence));
  // Even of a damaged one it is true that something was lost.
  losses.restore(loss, {std::max<uint64_t>(count, 1), severity, std::string(value)});
  return true;
}

}  // namespace culprit::trace
