// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parallel regions and leagues on one thread: the forks that it makes and the teams that it is in.
// They nest. LLVM's runtime reports a worker's end of a region only when the next one starts, or
// never: such ends are moved back to when the master left, and constructs without an end are closed
// with the one around them. The other constructs lie inside and are found through here.
#pragma once

#include <vector>

#include "assemble/play/thread_state.h"

namespace culprit::assemble {

/// Depth of the innermost entry that `matches`, no deeper than the team's own construct; npos if
/// none.
template <class Matches>
size_t find_in_team(const Timeline& timeline, Matches matches) {
  const auto& stack = timeline.stack();
  for (size_t i = stack.size(); i-- > 0;) {
    if (matches(stack[i])) return i;
    if (stack[i].level == Level::parallel || stack[i].level == Level::root) break;
  }
  return Timeline::npos;
}

size_t find_level(const Timeline& timeline, Level level, uint64_t id);

class OpenmpTeams {
 public:
  explicit OpenmpTeams(ThreadState& state) : state_(state) {}

  void parallel_begin(const RawRecord& record);
  void parallel_end(const RawRecord& record);
  void implicit_begin(const RawRecord& record);
  void implicit_end(const RawRecord& record);
  /// Closes everything.
  void finish(Time end);
  /// Closes the team that the thread is in as another's worker, if its master had left it by
  /// `time`.
  void leave_what_is_over(Time time);

  /// Leaves the construct at `depth` with all teams and forks inside it.
  void close(Time time, size_t depth);
  /// The real time of an end in the innermost team that was reported at `time`.
  Time due(Time time) const;
  /// Whether the runtime forked this region for itself: its helper threads, which run tasks for
  /// devices, wait in a barrier for as long as the program runs, and no thread waits for them.
  bool is_hidden(uint64_t region) const;
  /// Whether the innermost team is one that another thread forked.
  bool is_worker() const { return team() != nullptr && !team()->own; }

  /// The user's code before a return address, for names of constructs; nullptr if unknown.
  const Symbol* place(uint64_t code) const;
  const Symbol* team_place() const;

  const Symbol* last_work = nullptr;  ///< of the last worksharing construct in the innermost team

 private:
  /// A fork that this thread made, or a team that it is in.
  struct Opening {
    bool team = false;
    bool own = false;  ///< team of a fork of this thread: its end is not late
    uint64_t region = 0;
    size_t depth = 0;  ///< of the team's construct; for a fork, the stack's size then
    Time over =
        Time::max();  ///< of another thread's fork: when that left the region, if it is known
  };

  const Opening* team() const;
  Time left_by_master(uint64_t region) const;
  void close_top_opening(Time time);

  ThreadState& state_;
  std::vector<Opening> openings_;
};

}  // namespace culprit::assemble
