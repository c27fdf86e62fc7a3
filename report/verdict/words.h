// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The words of a verdict: on waiting, on cores, and the sentences after the first. All decisions
// are made in verdict.cpp.
#pragma once

#include <string>
#include <vector>

#include "blame/judge/evidence.h"
#include "report/verdict/verdict_data.h"
#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

class VerdictWords {
 public:
  /// Refers to all three.
  VerdictWords(const blame::Findings& findings, const PageNames& names, const Verdict& verdict)
      : findings_(findings),
        names_(names),
        verdict_(verdict),
        time_(findings.run.wall_s),
        evidence_(findings) {}

  /// "Disturbed: 4 ranks on 2 cores had no core for 49 % of the time; still, 31 % of the time is
  /// waiting for slow on rank 2."
  std::string disturbed() const;
  /// The same, and the first cause of waiting.
  std::string disturbed_cause() const;
  /// "31 % of the time is waiting for resolve_contacts on rank 3; balanced over 4 ranks: 0.8 s (19
  /// %) shorter."
  std::string waiting() const;
  /// "75.0 % of it caused by slow on rank 2 and 25.0 % by other on rank 1": of a cut.
  std::string caused_by() const;
  /// Returns further facts, sentence by sentence.
  std::vector<std::string> details() const;
  /// Returns the fact that could change the verdict most. `unanswered`: the part of the waiting
  /// that is reported elsewhere.
  std::string warning(blame::Amount<blame::OwnWaiting> unanswered) const;

 private:
  std::string of_waiting(blame::Amount<blame::OwnWaiting> part) const;
  std::string of_waiting(const blame::Cause& cause) const;
  std::string of_cause(const blame::Cause& cause) const;
  std::string share_of(const blame::Cause& cause) const;
  std::string estimate(const blame::Cause& cause) const;
  std::string spread() const;
  std::string through_words(CallPathId path) const;
  std::string few_samples() const;
  std::string gap() const;
  std::string first_death() const;
  std::string without_cause(blame::Amount<blame::OwnWaiting> unanswered) const;

  const blame::Findings& findings_;
  const PageNames& names_;
  const Verdict& verdict_;
  const TimeFormat time_;
  const blame::Evidence evidence_;
};

}  // namespace culprit::report
