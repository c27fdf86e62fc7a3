// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/records/metrics.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace culprit::assemble {
namespace {

/// The two texts from the second word on, each ended by a zero.
std::pair<std::string, std::string> texts_of(const RawRecord& record) {
  const size_t length = std::min<size_t>(record.flags, (size_t{record.words} - 1) * 8);
  const std::string_view text(reinterpret_cast<const char*>(record.w + 1), length);
  const std::string_view first = text.substr(0, text.find('\0'));
  std::string_view second = text.substr(std::min(first.size() + 1, text.size()));
  second = second.substr(0, second.find('\0'));
  return {std::string(first), std::string(second)};
}

}  // namespace

MetricId Metrics::intern(const trace::Metric& metric) {
  const auto known = std::find(metrics_.begin(), metrics_.end(), metric);
  const auto index = static_cast<size_t>(known - metrics_.begin());
  if (known == metrics_.end()) metrics_.push_back(metric);
  return MetricId(index);
}

MetricSetId Metrics::set(const std::vector<trace::Metric>& metrics) {
  const std::lock_guard lock(mutex_);
  trace::MetricSet wanted;
  for (const trace::Metric& metric : metrics) wanted.push_back(intern(metric));
  const auto known = std::find(sets_.begin(), sets_.end(), wanted);
  const auto index = static_cast<size_t>(known - sets_.begin());
  if (known == sets_.end()) sets_.push_back(std::move(wanted));
  return MetricSetId(index);
}

void Metrics::refuse(const std::string& name, const std::string& why) {
  const std::lock_guard lock(mutex_);
  refused_.emplace(name, why);
}

void Metrics::take(trace::Definitions& definitions) {
  definitions.metrics = std::move(metrics_);
  definitions.metric_sets = std::move(sets_);
}

void CounterRecords::define(const RawRecord& record) {
  if (record.arg != defined_.size()) return;  // they come in order; all else is garbage
  auto [name, unit] = texts_of(record);
  defined_.push_back(
      {std::move(name), std::move(unit),
       (record.w[0] & 1) != 0 ? trace::MetricMode::level : trace::MetricMode::accumulated});
  set_.reset();
}

void CounterRecords::refuse(const RawRecord& record) {
  const auto [name, why] = texts_of(record);
  metrics_.refuse(name, why);
}

void CounterRecords::values(const RawRecord& record, Time time) {
  if (record.words != defined_.size() || defined_.empty()) return;
  if (!set_) set_ = metrics_.set(defined_);
  std::vector<double> values(record.w, record.w + record.words);
  timeline_.read_counters(time, *set_, std::move(values));
}

}  // namespace culprit::assemble
