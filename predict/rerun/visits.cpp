// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each visit is looked at once for the mean and once for the difference; where members have
// different numbers of visits in a part, its sum is asked for once, when the part begins.
#include "predict/rerun/visits.h"

#include <algorithm>
#include <numeric>

namespace culprit::predict {

void Visits::add(double nanos, const Passage& before) {
  if (before.meetings != meetings_) nanos_.push_back(0);
  meetings_ = before.meetings;
  nanos_.back() += nanos;
}

void Visits::end_part(const Passage& before) {
  close(before.last());
}

void Visits::finish(const Passage& end) {
  close(end.before_signal != Passage::kNone ? end.before_signal : end.last());
}

void Visits::join_parts() {
  parts_.erase(parts_.begin(), parts_.end() - 1);
}

double Visits::sum(size_t part) const {
  const std::span<const double> visits = of_part(part);
  return std::accumulate(visits.begin(), visits.end(), 0.0);
}

Means::Means(std::vector<Visits>& members) {
  const size_t parts = members.front().parts();
  in_parts_ = std::all_of(members.begin(), members.end(),
                          [&](const Visits& own) { return own.parts() == parts; });
  if (!in_parts_) {
    for (Visits& own : members) own.join_parts();
  }
  const auto count = static_cast<double>(members.size());
  for (size_t part = 0; part < members.front().parts(); ++part) {
    const size_t visits = members.front().of_part(part).size(), first = nanos_.size();
    const bool alike = std::all_of(members.begin(), members.end(), [&](const Visits& own) {
      return own.of_part(part).size() == visits;
    });
    nanos_.resize(first + (alike ? visits : 1));
    for (const Visits& own : members) {
      const std::span<const double> had = own.of_part(part);
      if (!alike) nanos_[first] += own.sum(part) / count;
      for (size_t v = 0; alike && v < visits; ++v) nanos_[first + v] += had[v] / count;
    }
    first_.push_back(nanos_.size());
  }
}

double moved(const Visits& own, const Means& mean) {
  double moved = 0;
  for (size_t part = 0; part < own.parts(); ++part) {
    const std::span<const double> had = own.of_part(part), gets = mean.of_part(part);
    if (had.size() != gets.size()) {
      moved += std::max(0.0, own.sum(part) - gets.front());
      continue;
    }
    for (size_t v = 0; v < had.size(); ++v) moved += std::max(0.0, had[v] - gets[v]);
  }
  return moved;
}

Leveller::Leveller(const Visits& own, const Means& mean) : own_(&own), mean_(&mean) {
  for (size_t part = 0; part < own.parts(); ++part) {
    const std::span<const double> gets = mean.of_part(part);
    if (!own.of_part(part).empty() || gets.empty() || own.place(part) == Passage::kNone) continue;
    given_.push_back({own.place(part), gets.front()});
  }
  begin_part();
}

double Leveller::difference(double nanos, const Passage& before) {
  const std::span<const double> own = own_->of_part(part_), mean = mean_->of_part(part_);
  const bool by_visit = own.size() == mean.size();
  const bool fresh = before.meetings != meetings_;
  meetings_ = before.meetings;
  if (fresh) ++visit_;
  const double had = by_visit ? own[visit_ - 1] : had_;
  const double gets = by_visit ? mean[visit_ - 1] : mean.front();
  if (had > 0) return nanos * (gets / had - 1);
  // Of what takes no time, that which comes first gets all.
  return fresh && (by_visit || visit_ == 1) ? gets - nanos : -nanos;
}

void Leveller::end_part() {
  if (!mean_->in_parts()) return;
  ++part_;
  begin_part();
}

void Leveller::begin_part() {
  visit_ = 0;
  const bool by_visit = own_->of_part(part_).size() == mean_->of_part(part_).size();
  had_ = by_visit ? 0 : own_->sum(part_);
}

}  // namespace culprit::predict
