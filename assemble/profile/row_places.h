// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where the rows of a log's profile are in the tree of call paths: what the timeline of a trace
// does moment by moment (play/timeline.h), done once for each row. Events nest as they did in the
// program; between one and the next lie the functions that were seen at it and are not on the stack
// yet. A worker's rows hang below the region that it was forked for, in whichever log that is.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/play/code.h"
#include "assemble/play/regions.h"
#include "assemble/play/timeline.h"
#include "assemble/profile/path_table.h"
#include "assemble/profile/profile_file.h"
#include "assemble/run/sampled_stacks.h"

namespace culprit::assemble {

/// The stack of an event, and where that is in the tree.
struct RowPlace {
  struct Entry {
    RegionId region;
    Level level = Level::frame;
  };
  std::vector<Entry> stack;
  PathHash path = kNoPath;             ///< none: outside of everything
  PathHash body = kNoPath;             ///< of what protects code: the path of that code
  const Symbol* team_place = nullptr;  ///< of the region that was forked last
  bool league = false;                 ///< that is a league of teams
  bool waits = false;                  ///< in a call for the thread's own wish to sleep

  /// Whether samples say nothing of the time in the event itself.
  bool hides_samples() const;
};

/// The user's functions on the paths of frames, by a hash of their places in files: most processes
/// of a run have the same.
using FramePaths = std::unordered_map<uint64_t, UserPath>;

class ProcessPlaces;

/// The rows of one log.
class RowPlaces {
 public:
  /// `definitions`: records that were kept when others of the log were dropped.
  RowPlaces(ProcessPlaces& process, const RawLog& log, const LogProfile& profile,
            std::vector<uint64_t> definitions);

  /// Fills in the places of all events.
  void place_events();
  const RowPlace& event(uint32_t row) const { return places_[row]; }
  /// A sample or anything else at a frame, inside an event.
  PathHash path_at(uint32_t event, uint32_t frame);
  /// The functions of an event's own call path that are on the stack since the event around it.
  std::vector<RegionId> functions_before(uint32_t event) const;
  /// A pool's thread works in teams that other threads fork.
  bool of_a_pool() const { return of_a_pool_; }
  const LogProfile& profile() const { return profile_; }
  /// Where the master was when it forked at this call path: the fork's place.
  const RowPlace* fork_at(uint32_t path);

 private:
  friend class ProcessPlaces;
  void place(uint32_t row);
  void read_definitions();
  void define(const RawRecord& record);
  RegionId program_region();
  RowPlace place_team(const trace::ProfileRow& row, const RowPlace& around);
  RowPlace place_construct(const trace::ProfileRow& row, const RowPlace& around);
  RowPlace place_call(const trace::ProfileRow& row, const RowPlace& around);
  RowPlace place_fork(const trace::ProfileRow& row, const RowPlace& around);
  const UserPath& frame_path(uint32_t frame);
  void add_functions(const UserPath& path, RowPlace& to);
  void add_code(uint64_t code, RowPlace& to);
  void enter(RegionId region, Level level, RowPlace& to);
  const Symbol* own_symbol(uint64_t code) const;
  bool is_at_fork(uint64_t code, const RowPlace& around) const;
  std::string text(uint16_t string) const;
  RegionId region_of_call(const trace::ProfileRow& row);

  ProcessPlaces& process_;
  const RawLog& log_;
  const LogProfile& profile_;
  std::vector<uint64_t> kept_definitions_;
  Paths paths_;
  std::vector<uint64_t> frames_;  ///< by row: the key of a frame's path
  std::vector<RowPlace> places_;  ///< by row; only of events and the root
  uint32_t next_ = 0;             ///< row that is to be placed next
  std::unordered_map<uint16_t, std::string> strings_;
  std::unordered_map<uint32_t, RegionId> calls_;                  ///< by kind and string
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> frame_rows_;  ///< by parent and address
  std::unordered_map<uint32_t, uint32_t> frame_of_path_;          ///< by the number of a call path
  std::unordered_map<uint32_t, uint32_t> fork_of_frame_;          ///< the fork with most visits
  bool has_definitions_ = false;
  bool of_a_pool_ = false;
  bool placing_ = false;
};

/// All logs of a process.
class ProcessPlaces {
 public:
  /// `known`: paths of other processes' frames, which this one adds to.
  ProcessPlaces(const ProcessCode& code, Regions& regions, FramePaths& known)
      : code_(code), regions_(regions), known_(known) {}
  ProcessPlaces(const ProcessPlaces&) = delete;
  ProcessPlaces& operator=(const ProcessPlaces&) = delete;

  RowPlaces& add(const RawLog& log, const LogProfile& profile, std::vector<uint64_t> definitions);
  PathTable& paths() { return paths_; }
  void release_rows() { logs_.clear(); }

 private:
  friend class RowPlaces;
  RowPlaces* find(uint64_t log);

  const ProcessCode& code_;
  Regions& regions_;
  FramePaths& known_;
  PathTable paths_;
  std::map<uint32_t, RowPlaces> logs_;  ///< by number
};

/// The addresses of a profile that need names.
std::vector<uint64_t> addresses_of(const LogProfile& profile);

/// Adds where samples found the thread.
void add_samples(const LogProfile& profile, SampledStacks& stacks);

}  // namespace culprit::assemble
