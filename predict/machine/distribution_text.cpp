// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Distributions as people write them: a name, its parameters with units in parentheses and, of
// noise, how often after an @. Spaces may stand anywhere between them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "predict/machine/distribution.h"

namespace culprit::predict {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

struct Unit {
  std::string_view name;
  double factor;
};
constexpr Unit kTimes[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
constexpr double kLargest = 1e15;   ///< ns: eleven days
constexpr double kMostOften = 1e7;  ///< in a second: more is no noise, but another machine
constexpr Unit kRates[] = {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}};

/// A number, not negative, and one of the units.
template <size_t size>
std::optional<double> quantity(std::string_view text, const Unit (&units)[size]) {
  text = trimmed(text);
  double number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit = trimmed(text.substr(static_cast<size_t>(end - text.data())));
  for (const Unit& each : units) {
    if (each.name == unit && number * each.factor <= kLargest) return number * each.factor;
  }
  return std::nullopt;
}

Error no_distribution(std::string_view text) {
  return Error{fmt::format(
      "'{}' is no distribution: write constant(10us), uniform(1us,5us), normal(10us,2us) or "
      "exponential(10us), with ns, us, ms or s",
      text)};
}

}  // namespace

Result<Duration> parse_duration(std::string_view text) {
  const auto ns = quantity(text, kTimes);
  if (ns) return Duration::from_nanos(std::llround(*ns));
  return Error{fmt::format("'{}' is no time: write 10us, with ns, us, ms or s", text)};
}

Result<Distribution> parse_distribution(std::string_view text) {
  const std::string_view whole = trimmed(text);
  const size_t open = whole.find('(');
  if (open == whole.npos || whole.back() != ')') return no_distribution(text);
  const std::string_view name = trimmed(whole.substr(0, open));
  std::string_view inside = whole.substr(open + 1, whole.size() - open - 2);
  std::vector<double> values;
  for (bool more = true; more;) {
    const size_t comma = inside.find(',');
    const auto value = quantity(inside.substr(0, comma), kTimes);
    if (!value) return no_distribution(text);
    values.push_back(*value);
    more = comma != inside.npos;
    if (more) inside.remove_prefix(comma + 1);
  }
  if (name == "constant" && values.size() == 1) return Distribution(Constant{values[0]});
  if (name == "exponential" && values.size() == 1) return Distribution(Exponential{values[0]});
  if (name == "normal" && values.size() == 2) return Distribution(Normal{values[0], values[1]});
  if (name == "uniform" && values.size() == 2) {
    if (values[0] > values[1]) return Error{fmt::format("'{}' ends before it begins", text)};
    return Distribution(Uniform{values[0], values[1]});
  }
  return no_distribution(text);
}

Result<Noise> parse_noise(std::string_view text) {
  const size_t at = text.find('@');
  if (at == text.npos) {
    return Error{
        fmt::format("'{}' does not say how often: write it as in exponential(10us)@1kHz", text)};
  }
  auto length = parse_distribution(text.substr(0, at));
  if (!length) return length.error();
  const auto rate = quantity(text.substr(at + 1), kRates);
  if (!rate || *rate <= 0 || *rate > kMostOften) {
    return Error{fmt::format("'{}' is no rate up to 10 MHz: write @1kHz, with Hz, kHz or MHz",
                             trimmed(text.substr(at + 1)))};
  }
  return Noise{std::move(length).value(), *rate};
}

namespace {

std::string time_text(double ns) {
  for (size_t i = std::size(kTimes); i-- > 0;) {
    if (ns >= kTimes[i].factor)
      return fmt::format("{:.4g}{}", ns / kTimes[i].factor, kTimes[i].name);
  }
  return fmt::format("{:.4g}ns", ns);
}

struct Writer {
  std::string operator()(const Constant& c) const {
    return "constant(" + time_text(c.value_ns) + ")";
  }
  std::string operator()(const Uniform& u) const {
    return "uniform(" + time_text(u.from_ns) + "," + time_text(u.to_ns) + ")";
  }
  std::string operator()(const Normal& n) const {
    return "normal(" + time_text(n.mean_ns) + "," + time_text(n.deviation_ns) + ")";
  }
  std::string operator()(const Exponential& e) const {
    return "exponential(" + time_text(e.mean_ns) + ")";
  }
  std::string operator()(const Empirical&) const {
    return fmt::format("{} samples, {} on average, {} at most", all.samples(),
                       time_text(all.mean_ns()), time_text(all.largest_ns()));
  }
  const Distribution& all;
};

}  // namespace

std::string to_text(const Distribution& distribution) {
  return std::visit(Writer{distribution}, distribution.shape());
}

}  // namespace culprit::predict
