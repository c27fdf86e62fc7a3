// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work that is spread evenly over those who share it. A first walk over a member's steps finds what
// it does in each visit of each part of the run, a second one by how much each step takes longer or
// shorter. Parts lie between operations that all pass, and tell for certain what belongs together.
// Without them (neighbours that exchange data) the count of visits does: the k-th of one is the
// k-th of all, if all have as many. A visit is what a member does there without communicating
// meanwhile.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "predict/rerun/steps.h"

namespace culprit::predict {

/// Where a location is among its steps: behind all that it has passed.
struct Passage {
  static constexpr uint64_t kNone = UINT64_MAX;
  uint64_t meetings = 0;           ///< signals and gates
  uint64_t timed = 0;              ///< steps that take time
  uint64_t before_signal = kNone;  ///< of these, the last before the last signal

  /// The last step that takes time.
  uint64_t last() const { return timed == 0 ? kNone : timed - 1; }
  void pass(const Step& step) {
    if (step.is_meeting()) ++meetings;
    if (step.kind() == StepKind::signal) before_signal = last();
    if (step.takes_time()) ++timed;
  }
};

/// Whether a part of the run ends here for members who are one team, or one thread each of several
/// processes.
inline bool ends_part(const Step& step, const Column<Hub>& hubs, bool of_one_process) {
  if (step.kind() != StepKind::signal) return false;
  const Hub& hub = hubs[step.what];
  return of_one_process ? hub.of_team : hub.of_world;
}

/// One member's.
class Visits {
 public:
  /// A step of the shared work.
  void add(double nanos, const Passage& before);
  /// Before the signal that ends it.
  void end_part(const Passage& before);
  /// All steps have been passed: the last part ends with the run.
  void finish(const Passage& end);
  /// Members that pass different numbers of operations have no parts in common: there is one.
  void join_parts();

  size_t parts() const { return parts_.size(); }
  /// Nanoseconds by visit of a part.
  std::span<const double> of_part(size_t part) const {
    const size_t first = part == 0 ? 0 : parts_[part - 1].end;
    return std::span(nanos_).subspan(first, parts_[part].end - first);
  }
  double sum(size_t part) const;
  /// Of a part: the step that takes longer if there was no visit and shall be one.
  uint64_t place(size_t part) const { return parts_[part].place; }

 private:
  struct Part {
    size_t end;      ///< of its visits
    uint64_t place;  ///< the last step that takes time
  };
  void close(uint64_t place) { parts_.push_back({nanos_.size(), place}); }

  std::vector<double> nanos_;
  std::vector<Part> parts_;
  uint64_t meetings_ = Passage::kNone;  ///< at the last visit
};

/// What each member gets, by part: each of its visits, where all have as many, or all together.
class Means {
 public:
  /// Joins the parts of members that have different numbers of them.
  explicit Means(std::vector<Visits>& members);
  std::span<const double> of_part(size_t part) const {
    return std::span(nanos_).subspan(first_[part], first_[part + 1] - first_[part]);
  }
  bool in_parts() const { return in_parts_; }

 private:
  bool in_parts_ = true;
  std::vector<double> nanos_;
  std::vector<size_t> first_{0};  ///< by part; one more
};

/// Nanoseconds that others take when a member has the mean.
double moved(const Visits& own, const Means& mean);

/// One member on the second walk, which passes the same steps as the first.
class Leveller {
 public:
  Leveller(const Visits& own, const Means& mean);

  /// How much longer (negative: less long) a step of the shared work takes.
  double difference(double nanos, const Passage& before);
  void end_part();
  /// The next step, of those that take time, that takes longer by its share of a part in which it
  /// does nothing there; Passage::kNone: there is none.
  uint64_t next_given() const {
    return next_ < given_.size() ? given_[next_].place : Passage::kNone;
  }
  double take_given() { return given_[next_++].nanos; }

 private:
  void begin_part();

  const Visits* own_;
  const Means* mean_;
  size_t part_ = 0, visit_ = 0;
  double had_ = 0;  ///< in the part
  uint64_t meetings_ = Passage::kNone;
  struct Given {
    uint64_t place;
    double nanos;
  };
  std::vector<Given> given_;
  size_t next_ = 0;
};

}  // namespace culprit::predict
