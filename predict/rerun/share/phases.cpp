// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A rank sends owners what its members do; owners answer with the sums, in the same order.
#include "predict/rerun/share/phases.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/ranks/exchange.h"

namespace culprit::predict {

namespace {

constexpr uint32_t kBehindTheLast = UINT32_MAX;

void put(const Phase& phase, const std::vector<double>& sums, Packer& packer) {
  packer.put(phase);
  if (phase.visits == Phase::kDiffer || phase.visits < 2) return;
  packer.put_list(std::span<const double>(sums).subspan(phase.first, phase.visits));
}

/// Its sums become the last.
Phase get(Unpacker& unpacker, std::vector<double>& sums) {
  auto phase = unpacker.get<Phase>();
  if (phase.visits == Phase::kDiffer || phase.visits < 2) return phase;
  phase.first = static_cast<uint32_t>(sums.size());
  unpacker.get_list<double>([&](double sum) { sums.push_back(sum); });
  return phase;
}

void add(const Phase& other, const std::vector<double>& others, Phase& phase,
         std::vector<double>& sums) {
  phase.begin = std::min(phase.begin, other.begin);
  phase.ready += other.ready;
  phase.earliest = std::min(phase.earliest, other.earliest);
  phase.latest = std::max(phase.latest, other.latest);
  phase.recorded = std::max(phase.recorded, other.recorded);
  phase.worked_from = std::min(phase.worked_from, other.worked_from);
  phase.worked_to = std::max(phase.worked_to, other.worked_to);
  phase.work += other.work;
  phase.exclusive += other.exclusive;
  phase.most_work = std::max(phase.most_work, other.most_work);
  phase.unit = std::max(phase.unit, other.unit);
  phase.construct = std::max(phase.construct, other.construct);
  phase.most_visits = std::max(phase.most_visits, other.most_visits);
  phase.members += other.members;
  phase.all_have_visits &= other.all_have_visits;
  phase.iterations |= other.iterations;
  phase.task |= other.task;
  if (other.visits == 0) return;  // no member has any
  phase.see_visits(other.visits, sums);
  if (phase.visits == Phase::kDiffer || phase.visits < 2) return;
  for (size_t v = 0; v < phase.visits; ++v) sums[phase.first + v] += others[other.first + v];
}

class Join {
 public:
  Join(const PhasesElsewhere& elsewhere, size_t meetings, std::vector<Phase>& phases,
       std::vector<double>& sums)
      : elsewhere_(elsewhere), meetings_(meetings), phases_(phases), sums_(sums) {}

  std::vector<bool> run() {
    const std::vector<Parcel> parcels = exchange(elsewhere_.ranks, to_owners());
    std::vector<std::vector<size_t>> places(parcels.size());  // by rank, of what it sent
    for (size_t r = 0; r < parcels.size(); ++r) places[r] = take(parcels[r]);
    std::vector<Packer> answers(parcels.size());
    for (size_t r = 0; r < parcels.size(); ++r) {
      for (size_t place : places[r]) put(phases_[place], sums_, answers[r]);
    }
    const std::vector<Parcel> all = exchange(elsewhere_.ranks, std::move(answers));
    std::vector<Unpacker> unpackers(all.begin(), all.end());
    for (const auto& [rank, place] : asked_) phases_[place] = get(unpackers[rank], sums_);
    std::vector<bool> owned(phases_.size(), true);
    for (const Elsewhere& one : elsewhere_.meetings) owned[one.here] = false;
    if (elsewhere_.ranks.rank() != 0 && phases_.size() > meetings_) owned[meetings_] = false;
    return owned;
  }

 private:
  std::vector<Packer> to_owners() {
    std::vector<Packer> to(elsewhere_.ranks.size());
    const auto send = [&](size_t rank, size_t place, uint32_t there) {
      if (phases_[place].members == 0) return;
      to[rank].put(there);
      put(phases_[place], sums_, to[rank]);
      asked_.emplace_back(rank, place);
    };
    for (const Elsewhere& one : elsewhere_.meetings) send(one.rank, one.here, one.there);
    if (elsewhere_.ranks.rank() != 0) send(0, meetings_, kBehindTheLast);
    return to;
  }

  std::vector<size_t> take(const Parcel& parcel) {
    std::vector<size_t> places;
    std::vector<double> others;
    for (Unpacker unpacker(parcel); !unpacker.done();) {
      const auto there = unpacker.get<uint32_t>();
      places.push_back(there == kBehindTheLast ? meetings_ : there);
      others.clear();
      const Phase phase = get(unpacker, others);
      add(phase, others, phases_[places.back()], sums_);
    }
    return places;
  }

  const PhasesElsewhere& elsewhere_;
  const size_t meetings_;
  std::vector<Phase>& phases_;
  std::vector<double>& sums_;
  std::vector<std::pair<size_t, size_t>> asked_;  ///< rank, place
};

}  // namespace

std::vector<bool> join_phases(const PhasesElsewhere& elsewhere, size_t meetings,
                              std::vector<Phase>& phases, std::vector<double>& sums) {
  return Join(elsewhere, meetings, phases, sums).run();
}

}  // namespace culprit::predict
