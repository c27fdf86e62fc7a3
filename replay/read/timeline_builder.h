// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sink that turns one location's events into a Timeline, in one pass. The hot functions are
// enter and leave; everything else is rarer by far.
#pragma once

#include <functional>
#include <unordered_map>

#include "replay/model/probes.h"
#include "replay/model/timeline.h"
#include "replay/read/openmp_facts_builder.h"
#include "trace/definitions.h"

namespace culprit::replay {

/// The call path of the forking location below which a team's members are placed.
struct TeamOrigin {
  LocationId location;
  ForkIndex fork;
  CallPathId path;  ///< in that location's tree
  RegionId region;  ///< the innermost of that path
};

/// Finds the fork of a team that begins on a location at a time; nothing if it is not known (yet).
using FindFork = std::function<const TeamOrigin*(Time, trace::RegionInstance)>;

/// The meaning of a region's name and role for replay, looked up once for all locations.
struct RegionTraits {
  bool test = false;          ///< MPI_Test*, MPI_Request_get_status: completes without waiting
  bool never_blocks = false;  ///< MPI_Bsend, MPI_Rsend, ...
  bool omp_barrier = false;
  bool parallel = false;
  bool stage = false;         ///< a phase or iteration that the user named
  bool not_sampled = false;   ///< time of its caller, spent in who knows which function
  bool not_recorded = false;  ///< what lies in it was not seen: nobody is known to have waited
  bool waits_for_mutex = false;
  OpenmpRegion openmp = OpenmpRegion::none;
  DeviceCall device = DeviceCall::none;  ///< where the archive does not tell in events
  bool waits_for_event = false;          ///< of a device's queue; likewise
  AskingRegion asking;
};
std::vector<RegionTraits> traits_of(const trace::Definitions& definitions);
DeviceCall device_call_of(const trace::Region& region);
bool waits_for_device_event(const trace::Region& region);

/// A path of this timeline's tree that stands for one of another location.
struct Anchor {
  CallPathId own;
  TeamOrigin origin;  ///< location none: not found yet
  trace::RegionInstance instance;
  Time time;
};

class TimelineBuilder : public trace::EventSink {
 public:
  TimelineBuilder(LocationId location, const trace::Definitions& definitions,
                  const std::vector<RegionTraits>& traits, FindFork find_fork)
      : location_(location),
        traits_(traits),
        windows_(definitions.windows),
        first_window_comm_(definitions.comms.size()),
        find_fork_(std::move(find_fork)),
        counts_(definitions),
        openmp_(location) {}

  /// Reserves memory for about `events` events. Unused reserved memory costs nothing.
  void expect(uint64_t events);
  /// The finished timeline; call once, after the last event.
  Timeline take();
  std::vector<Anchor> take_anchors() { return std::move(anchors_); }

#define EVENT CULPRIT_OVERRIDES_EVENT
#include "trace/events.def"

 private:
  struct Frame {
    Frame(CallPathId p, RegionId r, Time t) : path(p), region(r), enter(t) {}
    CallPathId path;
    RegionId region;
    Time enter;
    CallIndex call;         // set once something happened in it
    uint32_t activity = 0;  // the one that its enter began
    bool barrier = false;   // of OpenMP
    uint32_t stage = 0;     // index + 1 of its visit, if it is a phase or iteration
  };

  void sampled(const PathSamples& more);
  void unanswered(Time time, uint64_t whom);
  void loop_iterations(Time time, uint64_t iterations);
  void enter_device_call(Time time, DeviceCall call);
  void enter_event_wait(Time time);
  void touch(Time time) {
    if (counts_.counting() && time > line_.last) counts_.spent_time_at(line_.tree, counted());
    if (line_.events++ == 0) begin_life(time);
    line_.last = time;
  }
  void begin_life(Time time);
  void set_path(Time time, CallPathId path) {
    Activities& all = line_.activities;
    if (all.begins().back() == time) {
      all.paths().back() = path;  // nothing lasted no time
    } else if (all.paths().back() != path) {
      all.push_back(time, path);
    }
  }
  CallPathId top() const { return stack_.empty() ? base_ : stack_.back().path; }
  /// Returns the innermost known path: time without samples belongs to the caller.
  CallPathId counted() const {
    const bool known = stack_.empty() || !traits_[stack_.back().region.index()].not_sampled;
    return known ? top() : line_.tree[top()].parent;
  }
  RegionId top_region() const { return stack_.empty() ? base_region_ : stack_.back().region; }
  void enter_barrier(CallIndex call);
  void close_call(const Frame& frame, Time leave);
  void add_collective(const trace::MpiCollective& what, CallIndex posted, CallIndex completed,
                      bool may_wait);
  void join_team(size_t index, trace::RegionInstance instance);
  template <class Event>
  void rma_act(Time time, const Event& event);
  CallPathId anchor(const TeamOrigin* origin, Time time, trace::RegionInstance instance);
  /// The innermost frame as a call.
  CallIndex current_call(Time time);
  /// Returns the traits of the innermost frame, which is the call of the current event.
  const RegionTraits& top_traits() const;
  MessageOp message_op(const trace::MpiMessage& message, CallIndex call) const;
  static void add_rare(RareMessages& rare, size_t op, const trace::MpiMessage& message);
  void foreign(ForeignRequest::Step step, trace::RequestId request, Time time, CallIndex call,
               size_t op = 0);
  LocationId location_;
  const std::vector<RegionTraits>& traits_;
  const std::vector<trace::Window>& windows_;
  size_t first_window_comm_;  // as in Run::comm
  FindFork find_fork_;
  Timeline line_;
  CountBuilder counts_;
  OpenmpFactsBuilder openmp_;
  ProbeBuilder probes_;
  std::vector<Frame> stack_;
  CallPathId base_;       // the team's origin while a worker is in a team
  RegionId base_region_;  // the innermost region of that origin
  struct OpenTeam {
    size_t span;      // index into line_.teams
    CallPathId base;  // what base_ was outside
    RegionId base_region;
    uint32_t last_barrier = BarrierVisit::kNone;
  };
  std::vector<OpenTeam> open_teams_;
  std::vector<ForkIndex> open_forks_;
  std::vector<Anchor> anchors_;
  std::unordered_map<uint64_t, CallPathId> anchor_of_;  // origin -> anchor
};

}  // namespace culprit::replay
