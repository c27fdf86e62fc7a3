// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The counters of the trace under construction, and the records of each thread's counters:
// definitions first, then values that belong to the record behind them.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "assemble/play/timeline.h"
#include "assemble/raw/reader.h"
#include "base/ranks/exchange.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// Equal metrics, and equal sets of them, get one id. MT: internally synchronised.
class Metrics {
 public:
  MetricSetId set(const std::vector<trace::Metric>& metrics);
  /// A counter that was asked for, and why it is not there.
  void refuse(const std::string& name, const std::string& why);

  /// Puts those of several tables in place of these, so that all who do it have the same ids.
  void pack(Packer& packer) const;
  void join(const std::vector<Parcel>& all);
  /// All of them by id. From now on there are no others: to ask for one is a bug.
  void complete(trace::Definitions& definitions);
  const std::map<std::string, std::string>& refused() const { return refused_; }

 private:
  MetricId intern(const trace::Metric& metric);

  std::mutex mutex_;
  bool complete_ = false;
  std::vector<trace::Metric> metrics_;
  std::vector<trace::MetricSet> sets_;
  std::map<std::string, std::string> refused_;
};

/// One thread's records of counters.
class CounterRecords {
 public:
  CounterRecords(Metrics& metrics, Timeline& timeline) : metrics_(metrics), timeline_(timeline) {}

  void define(const RawRecord& record);
  void refuse(const RawRecord& record);
  void values(const RawRecord& record, Time time);

 private:
  Metrics& metrics_;
  Timeline& timeline_;
  std::vector<trace::Metric> defined_;  ///< by number in this file
  std::optional<MetricSetId> set_;      ///< of all that are defined
};

}  // namespace culprit::assemble
