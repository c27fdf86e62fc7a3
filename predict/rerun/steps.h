// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run as a program that can be executed again: each location's steps in order, and the hubs and
// locks through which locations depend on each other. Work takes the time that it took, or what is
// made of it; waiting takes no time of its own: it ends when what is waited for has come.
// In the recorded run every wait ends at the moment when its cause acted, and what follows in the
// call is work (transfer, overhead). So with nothing changed every step comes out at its recorded
// time.
//
// Steps are cut from timelines, waits and marks on demand, and not stored: a step is read in some
// ten nanoseconds, and would take 16 bytes. Code that visits them in any order stores them
// (event_graph.h).
#pragma once

#include <span>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "predict/rerun/dependences.h"
#include "predict/rerun/ranks/marks.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"

namespace culprit::predict {

enum class StepKind : uint8_t {
  work,      ///< `amount` nanoseconds at call path `what`
  transfer,  ///< likewise, of a call that got data: what followed the moment when it was sent
  idle,      ///< took `amount` nanoseconds in the recorded run, and takes what it takes
  signal,    ///< of hub `what`
  gate,      ///< awaits hub `what`; `amount`: by how many nanoseconds the last other came later
  lock,      ///< holding `what`
  unlock,
};

/// 16 bytes.
struct Step {
  uint64_t kind_ : 8;
  int64_t amount : 56;
  uint32_t what;
  uint32_t delivery;  ///< of a transfer, and of the gate before it; otherwise Deliveries::kNone

  StepKind kind() const { return static_cast<StepKind>(kind_); }
  bool takes_time() const { return kind() <= StepKind::idle; }
  /// Where a location and others meet.
  bool is_meeting() const { return kind() == StepKind::signal || kind() == StepKind::gate; }
};

/// A collective operation that a process passes.
struct PassedAt {
  Time time;
  uint32_t meeting;  ///< among Dependences::meetings
};

/// What steps are cut from. Refers to the run and its waits, which must outlive it.
struct Outline {
  const replay::Run& run;
  const replay::WaitGraph& graph;
  Dependences found;               ///< its marks are sorted by location and moment
  std::vector<size_t> first_mark;  ///< by LocationId; one more at the end
  std::vector<Column<Idle>> idle;  ///< by LocationId, in order, each moment in one of them
  std::vector<uint32_t> signals;   ///< by HubId: how many come (count_elsewhere)
  Audience audience;
  /// By ProcessId: the collective operations that it passes, in order; empty where no process has
  /// several threads.
  std::vector<std::vector<PassedAt>> passed;

  std::span<const Mark> marks_of(LocationId id) const {
    const size_t first = first_mark[id.index()], last = first_mark[id.index() + 1];
    return std::span<const Mark>(found.marks).subspan(first, last - first);
  }
};

/// Of this rank's locations. Collective.
Outline outline_run(const replay::Run& run, const replay::WaitGraph& graph, Dependences found,
                    unsigned threads);

/// The steps of one location, one after the other.
class StepReader {
 public:
  StepReader(const Outline& outline, LocationId id);

  /// False: there are no more.
  bool next(Step& step);
  /// The time of polling that was taken for work.
  Duration polled() const { return polled_; }

 private:
  /// As next(), but what is alike may come in pieces.
  bool next_piece(Step& step);
  bool follow(const Mark& mark, Step& step);
  Time next_edge(Time at);
  Step spend(Time from, Time to);
  Time time_for(const Hub& hub) const;
  bool is_mpi(CallPathId path) const;
  bool is_idle(Time at) const;
  bool is_let_go() const;
  bool is_polling(Time at) const;

  const Outline* outline_;
  const replay::Activities* life_;
  const Column<replay::Wait>* waits_;
  std::span<const Mark> marks_;
  std::span<const Idle> idle_;
  LocationId id_;
  size_t activity_ = 0, next_mark_ = 0, next_wait_ = 0, next_idle_ = 0;
  Time at_, end_;
  CallPathId path_, transfer_;
  uint32_t delivery_ = Deliveries::kNone;
  Duration polled_;
  Step ahead_{};
  bool has_ahead_ = false;
};

}  // namespace culprit::predict
