// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whose progress each member may have needed, in collective operations that proceed beside the
// program (non-blocking and persistent ones, and fences that some leave early).
#pragma once

#include <span>
#include <vector>

#include "replay/detect/detection.h"
#include "replay/match/collective_shapes.h"

namespace culprit::replay {

class CollectiveHelpers {
 public:
  CollectiveHelpers(const Run& run, const CollectiveShapes& shapes, const Detection& out,
                    Outbox& box)
      : run_(run), shapes_(shapes), out_(out), box_(box) {}

  void visit(std::span<const Part> parts, const CollectiveKind& kind);
  const ProgressEvidence& evidence() const { return evidence_; }

 private:
  /// A member that was silent while its part was under way.
  struct Silent {
    const Part* part;
    Time from, until, back;
  };
  void find_silent(std::span<const Part> parts, const CollectiveKind& kind);
  void note(std::span<const Part> parts, const CollectiveKind& kind, const Part& waiter);
  bool helps(const CollectiveKind& kind, const Part& who, const Part& waiter) const;
  Assisted operation_of(std::span<const Part> parts, const Part& waiter) const;
  ProcessId process(const Part& part) const { return run_.location(part.location).process; }

  const Run& run_;
  const CollectiveShapes& shapes_;
  const Detection& out_;
  Outbox& box_;
  ProgressEvidence evidence_;
  std::vector<Silent> silent_;  ///< of the operation at hand, the latest return first
  Time last_posted_;            ///< likewise: when the last had begun it
  bool far_ = false;            ///< likewise: it is not on one node
};

}  // namespace culprit::replay
