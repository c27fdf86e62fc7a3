// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/parameters.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/settings.h"
#include "predict/model/measurements.h"

namespace culprit::cli {

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || at != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

Result<std::map<std::string, double>> parse_parameters(std::string_view text) {
  std::map<std::string, double> all;
  std::string wrong;
  for_each_word(text, [&](std::string_view word) {
    const size_t at = word.find('=');
    const std::string name(word.substr(0, at));
    const auto value = at == word.npos ? std::nullopt : parse_number(word.substr(at + 1));
    if (name.empty() || !value) {
      wrong = fmt::format("'{}' is no parameter: say as in size=1000", word);
    } else if (!all.emplace(name, *value).second) {
      wrong = fmt::format("the parameter {} is named twice", name);
    }
    return wrong.empty();
  });
  if (!wrong.empty()) return Error{wrong};
  return all;
}

Result<std::map<std::string, double>> parse_recorded_parameters(std::string_view text) {
  auto all = parse_parameters(text);
  if (!all) return all;
  for (const char* counted : {predict::kRanks, predict::kThreads}) {
    if (!all->contains(counted)) continue;
    return Error{fmt::format("{} need not be named: culprit counts them", counted)};
  }
  return all;
}

}  // namespace culprit::cli
