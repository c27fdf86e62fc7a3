// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work that is spread evenly over those who could share it. A phase lies between two operations
// that its members pass (Meeting); in it all are to be done at the same time, as far as what else
// they do and what of the work cannot be divided allow. Where a member does the work in several
// visits that communication separates, and all have as many, the k-th of one belongs to the k-th of
// all: neighbours that exchange data have no other operation in common.
//
// Two walks over each member's steps: the first measures, the second says by how much each step
// takes longer or shorter.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "predict/rerun/steps.h"

namespace culprit::predict {

/// Who could share work.
enum class Over : uint8_t {
  ranks,    ///< threads of one number in each process, between collective operations that they call
  threads,  ///< those of a process's pool, between forks and barriers
  all,      ///< threads of all processes, between collective operations that their processes call
};

/// What of work is not divided further.
enum class Indivisible : uint8_t {
  nothing,
  visit,       ///< a section
  iterations,  ///< of a loop that hands them out: Meeting::iterations
  task,        ///< Meeting::longest, Meeting::chain
  construct,   ///< single, masked: one thread does it
  exclusive,   ///< critical, ordered: one after the other
};

/// By CallPathId, as the innermost construct has it. `loops`: those that hand out their iterations.
std::vector<Indivisible> units_of(const replay::Run& run, const std::vector<CallPathId>& loops);

/// Where a location is among its steps: behind all that it has passed.
struct Passage {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t meetings = 0;           ///< signals and gates
  uint32_t timed = 0;              ///< steps that take time
  uint32_t before_signal = kNone;  ///< of these, the last before the last signal

  /// The last step that takes time.
  uint32_t last() const { return timed == 0 ? kNone : timed - 1; }
  void pass(const Step& step) {
    if (step.is_meeting()) ++meetings;
    if (step.kind() == StepKind::signal) before_signal = last();
    if (step.takes_time()) ++timed;
  }
};

/// Nanoseconds, as recorded.
struct Span {
  double begin = 0, end = 0;
  double length() const { return end - begin; }
};

/// What one location does between two operations. Times are nanoseconds.
struct BusyStretch {
  uint32_t meeting;  ///< that ends it: among Dependences::meetings; kEnd: the run's end
  uint32_t first;    ///< of its steps that take time
  uint32_t place;    ///< the last that takes longer if it gets work, but has none; Passage::kNone
  double begin;      ///< when it could begin
  double busy;       ///< without waiting
  Span longest;      ///< of the times in which it waits
  uint32_t waits;    ///< the step that is the longest
  static constexpr uint32_t kEnd = UINT32_MAX;
};

/// Cuts the steps of one location into stretches, while they are passed in order.
class BusyStretches {
 public:
  /// `of_process`: of Over::all, the operations of the location's process, in order.
  BusyStretches(const Column<Hub>& hubs, const Column<Meeting>& meetings, Over over, Time begin,
                std::span<const PassedAt> of_process);

  /// `nanos`: what the step takes.
  void pass(const Step& step, double nanos, const Passage& before);
  void finish(const Passage& end);
  /// The number of the stretch at hand.
  uint32_t now() const { return static_cast<uint32_t>(list_.size()); }
  double time() const { return time_; }
  const Column<BusyStretch>& list() const { return list_; }

 private:
  bool counts(const Meeting& meeting) const;
  void close(uint32_t meeting, uint32_t place, uint32_t next);
  void pass_barrier(const Step& step, const Passage& before);

  const Column<Hub>* hubs_;
  const Column<Meeting>* meetings_;
  Over over_;
  double time_;  ///< recorded
  std::span<const PassedAt> of_process_;
  Column<BusyStretch> list_;
  uint32_t first_ = 0;  ///< of the stretch at hand
  double begin_, busy_ = 0;
  Span longest_;  ///< wait in it
  uint32_t waits_ = Passage::kNone;
  static constexpr uint32_t kNoHub = UINT32_MAX;
  uint32_t last_hub_ = kNoHub;       ///< that ended a stretch
  uint32_t arrived_ = kNoHub;        ///< a barrier's, in which it is
  uint32_t place_ = Passage::kNone;  ///< the last step before that
};

/// What one location does of some work: how long each visit takes.
class Portion {
 public:
  /// Steps of the work, in order. `at`: when it was recorded.
  void add(double nanos, const Passage& before, const BusyStretches& at, Indivisible unit);

  /// What belongs to one stretch.
  struct Part {
    uint32_t stretch;
    uint32_t first;         ///< of its visits
    double nanos;           ///< of all of them
    Span recorded;          ///< from the first to the last
    float unit;             ///< the longest piece that cannot be divided
    float construct;        ///< what one thread does beside its other work
    float exclusive;        ///< what nobody else can do at the same time
    bool iterations, task;  ///< Indivisible
  };
  const std::vector<Part>& parts() const { return parts_; }
  std::span<const double> visits(size_t part) const {
    const size_t end = part + 1 < parts_.size() ? parts_[part + 1].first : visits_.size();
    return std::span(visits_).subspan(parts_[part].first, end - parts_[part].first);
  }
  double sum() const;

 private:
  std::vector<Part> parts_;
  std::vector<double> visits_;
  uint32_t meetings_ = Passage::kNone;  ///< at the last visit
  uint32_t timed_ = Passage::kNone;     ///< the step behind the last
  double piece_ = 0;                    ///< steps without others in between
};

/// What one location is to do instead: a factor for each visit, and what it gets where it has none.
struct Share {
  struct Given {
    uint32_t place;  ///< among the steps that take time
    double nanos;
  };
  std::vector<double> factors;
  std::vector<Given> given;
};

struct Spread {
  std::vector<Share> shares;  ///< by member of this rank
  double saves_s = 0;         ///< what phases are shorter, summed up
  /// Of this, where what cannot be divided is larger than an even share: it would have to begin
  /// earlier.
  double earlier_s = 0;
};

/// One member's measurements.
struct Member {
  const Column<BusyStretch>* stretches;
  const Portion* portion;
  uint32_t end;  ///< the phase behind its last operation: a place among some
};

/// A phase behind the last operation: of a master, which could share it with threads of its pool,
/// or of several that meet in no operation of all.
struct EndPhase {
  uint32_t pool = 0;  ///< threads, with the master; 0: of several
};

struct PhasesElsewhere;  // phases.h

/// `elsewhere`: null if all who share are members of this rank. Otherwise collective; each rank has
/// what its own members are to do, and what is saved in the phases that it owns.
Spread spread_evenly(std::span<const Member> members, const Column<Meeting>& meetings,
                     std::span<const EndPhase> ends, Over over,
                     const PhasesElsewhere* elsewhere = nullptr);

/// One member on the second walk, which passes the same steps as the first.
class Leveller {
 public:
  explicit Leveller(const Share& share) : share_(&share) {}

  /// By how much longer (negative: less long) a step of the work takes.
  double difference(double nanos, const Passage& before) {
    if (before.meetings != meetings_) ++visit_;
    meetings_ = before.meetings;
    return nanos * (share_->factors[visit_ - 1] - 1);
  }
  /// The next step, of those that take time, that takes longer by what it is given; Passage::kNone:
  /// there is none.
  uint32_t next_given() const {
    return given_ < share_->given.size() ? share_->given[given_].place : Passage::kNone;
  }
  double take_given() { return share_->given[given_++].nanos; }

 private:
  const Share* share_;
  size_t visit_ = 0, given_ = 0;
  uint32_t meetings_ = Passage::kNone;
};

}  // namespace culprit::predict
