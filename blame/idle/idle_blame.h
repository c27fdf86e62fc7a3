// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame shifting, undirected: while threads of a process are idle, the code that its other threads
// execute is to blame, because it is not parallel enough, or not evenly divided (Tallent and
// Mellor- Crummey, "Effective performance measurement and analysis of multithreaded applications",
// PPoPP 2009). There it is sampled; here it is exact and conserved.
//
// Threads that ever were in a team together are a team group; they are idle while they wait in
// OpenMP for anything but a lock. In an instant with i idle and w working threads of a group, each
// working one is charged with i/w per second, at its call path. With the potential F, dF/dt = i/w,
// an interval of work is charged with F(end) - F(begin), so that each change of a state costs O(1).
// When no thread works, the time is listed under a reason, for other explanations.
//
//     sum of earned + sum of nobody_..._s = sum of the team groups' idle_s      (identity 4)
#pragma once

#include <array>
#include <vector>

#include "blame/findings/words.h"
#include "blame/profile/path_kinds.h"
#include "replay/model/waits.h"

namespace culprit::blame {

inline constexpr size_t kNobodyReasons = Words<NobodyReason>::kSpelled.size();

/// All times are allocation time.
struct IdleBlame {
  struct BlameShare {
    LocationId location;
    CallPathId path;
    double time_s;
  };
  struct TeamGroup {
    std::vector<LocationId> members;  ///< in order
    double idle_s = 0;
    /// The part of idle time while no thread works: by reason, for threads in teams and outside of
    /// teams.
    std::array<double, kNobodyReasons> nobody_team_s{}, nobody_pool_s{};
  };
  std::vector<BlameShare> earned;  ///< by location and call path
  std::vector<TeamGroup> groups;   ///< of more than one thread, by their first members
};

IdleBlame blame_for_idleness(const replay::Run& run, const replay::WaitGraph& graph,
                             unsigned threads);

}  // namespace culprit::blame
