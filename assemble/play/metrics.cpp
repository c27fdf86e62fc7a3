// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counters get one number each for the whole trace; sets of them are interned likewise, since a
// record says which set its values are of.
#include "assemble/play/metrics.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ranks/fields.h"
#include "base/result.h"

namespace culprit::trace {

template <class Way>
void fields(Way& way, Metric& metric) {
  way(metric.name, metric.unit, metric.mode);
}

}  // namespace culprit::trace

namespace culprit::assemble {
namespace {

/// The two texts of a definition, or of a refusal, each ended by a zero.
template <class Record>
std::pair<std::string, std::string> texts_of(const RawRecord& record) {
  const std::string_view text = text_in(record.rest_of<Record>(), record.as<Record>().bytes);
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
  CULPRIT_CHECK(!complete_ || known != sets_.end());
  if (known == sets_.end()) sets_.push_back(std::move(wanted));
  return MetricSetId(index);
}

void Metrics::pack(Packer& packer) const {
  std::vector<std::vector<trace::Metric>> sets;
  for (const trace::MetricSet& set : sets_) {
    auto& one = sets.emplace_back();
    for (const MetricId metric : set) one.push_back(metrics_[metric.index()]);
  }
  auto refused = refused_;
  FieldPacker way(packer);
  way(sets, refused);
}

void Metrics::join(const std::vector<Parcel>& all) {
  metrics_.clear();
  sets_.clear();
  for (const Parcel& parcel : all) {
    Unpacker unpacker(parcel);
    FieldUnpacker way(unpacker);
    std::vector<std::vector<trace::Metric>> sets;
    std::map<std::string, std::string> refused;
    way(sets, refused);
    for (const auto& one : sets) set(one);
    refused_.merge(refused);
  }
}

void Metrics::refuse(const std::string& name, const std::string& why) {
  const std::lock_guard lock(mutex_);
  refused_.emplace(name, why);
}

void Metrics::complete(trace::Definitions& definitions) {
  complete_ = true;
  definitions.metrics = metrics_;
  definitions.metric_sets = sets_;
}

void CounterRecords::define(const RawRecord& record) {
  const auto counter = record.as<raw::counter_def>();
  if (counter.counter != defined_.size()) return;  // they come in order; all else is garbage
  auto [name, unit] = texts_of<raw::counter_def>(record);
  defined_.push_back(
      {std::move(name), std::move(unit),
       (counter.height & 1) != 0 ? trace::MetricMode::level : trace::MetricMode::accumulated});
  set_.reset();
}

void CounterRecords::refuse(const RawRecord& record) {
  const auto [name, why] = texts_of<raw::counter_refused>(record);
  metrics_.refuse(name, why);
}

void CounterRecords::values(const RawRecord& record, Time time) {
  if (record.words != defined_.size() || defined_.empty()) return;
  if (!set_) set_ = metrics_.set(defined_);
  const auto others = record.rest_of<raw::counters>();
  std::vector<double> values{static_cast<double>(record.as<raw::counters>().first)};
  values.insert(values.end(), others.begin(), others.end());
  timeline_.read_counters(time, *set_, std::move(values));
}

}  // namespace culprit::assemble
