// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first of the two walks (share/spread.h): what each location does of the work that is to be
// spread evenly, for all alterations at once.
#pragma once

#include <array>
#include <vector>

#include "predict/rerun/alterations.h"

namespace culprit::predict {

/// What is known of where locations meet. Refers to it.
struct MeetingFacts {
  const Column<Hub>& hubs;
  const Column<Meeting>& meetings;
  const std::vector<uint32_t>& pools;                ///< as in Dependences
  const std::vector<std::vector<PassedAt>>& passed;  ///< by ProcessId, as in Outline
  const std::vector<Elsewhere>& elsewhere;           ///< Dependences::meetings_elsewhere
};

/// What one location does. MT: one for each location.
class LocationWork {
 public:
  /// Steps in order, with what they take.
  void pass(const Step& step, double nanos);
  void finish();

 private:
  friend class WorkMeasure;
  struct Own {
    uint32_t alteration;
    Over over;
    Portion* portion;
  };
  LocationWork(const Alterations& all, const std::vector<Indivisible>& units)
      : all_(&all), units_(&units) {}

  const Alterations* all_;
  const std::vector<Indivisible>* units_;
  std::vector<Own> own_;
  std::array<BusyStretches*, 3> stretches_{};  ///< by Over; null where nothing is shared so
  Passage at_;
};

class WorkMeasure {
 public:
  WorkMeasure(const replay::Run& run, const MeetingFacts& facts,
              const std::vector<CallPathId>& loops, const Alterations& all);

  LocationWork begin(LocationId id);
  /// Once all of its members have been passed. Collective.
  Spread spread(uint32_t alteration) const;

 private:
  const replay::Run& run_;
  const MeetingFacts facts_;
  const Alterations& all_;
  const std::vector<Indivisible> units_;
  std::vector<std::array<std::vector<BusyStretches>, 3>> stretches_;  ///< by LocationId, Over: one
  std::vector<std::vector<Portion>> portions_;                        ///< by alteration, member
};

/// Walks over all who share work, once for all: fills Alteration::spread. Throws BudgetSpent, on
/// all ranks if on one. Collective.
void measure(const Outline& outline, unsigned threads, Budget& budget, Alterations& all);

}  // namespace culprit::predict
