// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings of runs that are drawn by who delays whom, for tests of what is said of them.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "blame/findings/path_meaning.h"
#include "blame/judge/diagnose.h"
#include "report/verdict/verdict.h"

namespace culprit::report {

/// A run drawn by its delays: call paths are made from their names, locations are ranks of one
/// thread each. Sums agree with the rows.
class Drawing {
 public:
  explicit Drawing(size_t ranks, double wall_s = 100) {
    found_.run.mpi = "MPI";
    found_.run.ranks = static_cast<uint32_t>(ranks);
    found_.run.locations = static_cast<uint32_t>(ranks);
    found_.run.wall_s = wall_s;
    found_.run.allocation_s = wall_s * static_cast<double>(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      found_.locations.push_back({std::to_string(rank) + ".0", rank, 0, "n1", wall_s, 0, ""});
    }
  }

  CallPathId path(const std::string& name) {
    const auto known = paths_.find(name);
    if (known != paths_.end()) return known->second;
    // What stands for something other than a function may contain one: "(I/O in read)".
    const size_t bracket = name.ends_with(')') ? name.rfind("/(") : name.npos;
    const size_t slash = bracket != name.npos ? bracket : name.rfind('/');
    const bool root = slash == name.npos;
    const CallPathId parent = root ? CallPathId() : path(name.substr(0, slash));
    const std::string region = root ? name : name.substr(slash + 1);
    const bool start_up = region == "MPI_Init" || region == "MPI_Finalize";
    found_.callpaths.push_back({name, region, "", 0, parent, start_up});
    set_model_by_name(found_.callpaths.back());
    return paths_[name] = CallPathId(found_.callpaths.size() - 1);
  }
  void delay(const std::string& name, size_t rank, double cost_s) {
    const CallPathId id = path(name);
    found_.delays.push_back({"mpi.late_sender", id, LocationId(rank), cost_s, 0});
    found_.identities.waiting_s += cost_s;
    found_.identities.delay_costs_s += cost_s;
    if (found_.callpaths[id.index()].start_up) found_.start_up.waiting_s += cost_s;
  }
  void spread_delay(const std::string& name, double cost_s) {
    for (size_t rank = 0; rank < found_.run.ranks; ++rank) {
      delay(name, rank, cost_s / static_cast<double>(found_.run.ranks));
    }
  }
  /// A call that takes `time_s`, of which it waits `waiting_s`.
  void call(const std::string& name, size_t rank, double time_s, double waiting_s) {
    found_.profile.push_back({path(name), LocationId(rank), 1, time_s});
    found_.waits.push_back(
        {"mpi.late_sender", path(name), LocationId(rank), 1, waiting_s, 0, waiting_s});
  }
  void victim(const std::string& delay, size_t late, const std::string& wait, size_t rank,
              double time_s) {
    found_.victims.push_back(
        {path(delay), LocationId(late), "mpi.late_sender", path(wait), LocationId(rank), time_s});
  }
  void critical(const std::string& name, double time_s) {
    blame::FoundCriticalCallPath row{};
    row.callpath = path(name);
    row.time_s = time_s;
    found_.critical_callpaths.push_back(row);
    if (found_.callpaths[row.callpath.index()].start_up) found_.start_up.wall_s += time_s;
  }
  blame::Findings& findings() { return found_; }
  Verdict judge() const {
    blame::Findings all = found_;
    blame::diagnose(all);
    return report::judge(all, PageNames(all));
  }

 private:
  blame::Findings found_;
  std::map<std::string, CallPathId> paths_;
};

/// Whether one of the further sentences has these words.
inline bool adds(const Verdict& verdict, std::string_view words) {
  return std::any_of(verdict.more.begin(), verdict.more.end(), [&](const std::string& sentence) {
    return sentence.find(words) != sentence.npos;
  });
}

}  // namespace culprit::report
