// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are placed in their order, in which parents come first. A worker needs rows of its master's
// log: they are placed when they are asked for, and logs that ask each other in a circle, which no
// program makes, find nothing.
#include "assemble/profile/row_places.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "assemble/openmp/ompt_names.h"
#include "assemble/records/call_names.h"
#include "trace/thread_calls.h"

namespace culprit::assemble {

namespace {

using trace::ProfileKind;
using trace::ProfilePlace;
using trace::ProfileRow;
using trace::RawKind;
using trace::RegionRole;

/// No stack is deeper; what a damaged file has below is at the caller.
constexpr size_t kDeepest = 2000;

bool is_base(Level level) {
  return level == Level::root || level == Level::parallel || level == Level::task;
}

bool is_function(Level level) {
  return level == Level::frame || level == Level::root || level == Level::function;
}

bool is_at_frame(const ProfileRow& row) {
  return trace::facts_of(row.kind).place == ProfilePlace::frame && row.place != 0;
}

RegionRole role_of(ProfileKind kind) {
  if (kind == ProfileKind::phase) return RegionRole::phase;
  return kind == ProfileKind::iteration ? RegionRole::iteration : RegionRole::code;
}

}  // namespace

/// A function's own address is not that behind a call.
std::vector<uint64_t> addresses_of(const LogProfile& profile) {
  std::vector<uint64_t> addresses;
  for (const ProfileRow& row : profile.rows) {
    if (trace::facts_of(row.kind).place != ProfilePlace::address || row.place == 0) continue;
    addresses.push_back(row.kind == ProfileKind::function ? row.place + 1 : row.place);
  }
  return addresses;
}

void add_samples(const LogProfile& profile, SampledStacks& stacks) {
  std::vector<uint32_t> paths(profile.rows.size()), depths(profile.rows.size());
  for (uint32_t i = 1; i < profile.rows.size(); ++i) {
    const ProfileRow& row = profile.rows[i];
    if (row.kind == ProfileKind::frame) {
      depths[i] = depths[row.parent] + 1;
      paths[i] =
          depths[i] < kDeepest ? stacks.child(paths[row.parent], row.place) : paths[row.parent];
    } else if (row.kind == ProfileKind::sampled) {
      stacks.add(paths[row.place], row.amount);
    }
  }
}

bool RowPlace::hides_samples() const {
  if (stack.empty()) return false;
  const Level level = stack.back().level;
  return level == Level::call || level == Level::sync || level == Level::tool ||
         level == Level::off;
}

RowPlaces& ProcessPlaces::add(const RawLog& log, const LogProfile& profile,
                              std::vector<uint64_t> definitions) {
  return logs_.try_emplace(log.thread(), *this, log, profile, std::move(definitions)).first->second;
}

RowPlaces* ProcessPlaces::find(uint64_t log) {
  const auto found = logs_.find(static_cast<uint32_t>(log));
  return found == logs_.end() ? nullptr : &found->second;
}

RowPlaces::RowPlaces(ProcessPlaces& process, const RawLog& log, const LogProfile& profile,
                     std::vector<uint64_t> definitions)
    : process_(process),
      log_(log),
      profile_(profile),
      kept_definitions_(std::move(definitions)),
      paths_(process.code_, process.regions_),
      frames_(profile.rows.size()),
      places_(profile.rows.size()) {
  std::vector<uint32_t> depths(profile.rows.size());
  for (uint32_t i = 1; i < profile.rows.size(); ++i) {
    const ProfileRow& row = profile.rows[i];
    if (row.kind == ProfileKind::frame) {
      depths[i] = depths[row.parent] + 1;
      if (depths[i] < kDeepest) paths_.define(i, row.parent, row.place);
      frames_[i] = with(frames_[row.parent], process.code_.site(row.place));
    }
    of_a_pool_ |= row.kind == ProfileKind::team && row.place != 0 && log.thread() != 0;
  }
}

void RowPlaces::define(const RawRecord& record) {
  if (record.kind == RawKind::string_def) {
    const auto text = record.as<raw::string_def>();
    strings_[static_cast<uint16_t>(text.string)] =
        text_in(record.rest_of<raw::string_def>(), text.length);
  } else if (record.kind == RawKind::path_def) {
    const auto path = record.as<raw::path_def>();
    const auto above = frame_of_path_.find(path.parent);
    const uint32_t parent = above == frame_of_path_.end() ? 0 : above->second;
    const auto row = frame_rows_.find({parent, path.address});
    frame_of_path_[path.path] = row == frame_rows_.end() ? parent : row->second;
  }
}

/// Texts, and which row each call path has become: both follow from the log's definitions.
void RowPlaces::read_definitions() {
  if (std::exchange(has_definitions_, true)) return;
  for (uint32_t i = 1; i < profile_.rows.size(); ++i) {
    const ProfileRow& row = profile_.rows[i];
    if (row.kind == ProfileKind::frame) frame_rows_.try_emplace({row.parent, row.place}, i);
  }
  auto cursor = log_.cursor();
  for (RawRecord record; cursor.next(record);) define(record);
  constexpr size_t kHeaderWords = sizeof(trace::RawHeader) / sizeof(uint64_t);
  for (size_t at = 0; at < kept_definitions_.size();) {
    trace::RawHeader header;
    std::memcpy(&header, kept_definitions_.data() + at, sizeof header);
    const uint64_t* const words = kept_definitions_.data() + at + kHeaderWords;
    const RawRecord record{header.time, header.arg, header.flags, header.words, header.kind, words};
    if (static_cast<int>(header.words) >= words_of(header.kind)) define(record);
    at += kHeaderWords + header.words;
  }
  frame_rows_ = {};
  kept_definitions_ = {};
}

std::string RowPlaces::text(uint16_t string) const {
  const auto found = strings_.find(string);
  return found == strings_.end() ? std::string() : found->second;
}

/// The outermost function of the first call path: main, or Fortran's program. Samples may find
/// earlier code: Python executes its own programs first.
RegionId RowPlaces::program_region() {
  RegionId sampled;
  for (const ProfileRow& row : profile_.rows) {
    if (!is_at_frame(row)) continue;
    const UserPath& path = frame_path(static_cast<uint32_t>(row.place));
    if (path.in_construct || path.frames.empty()) continue;
    if (trace::facts_of(row.kind).group == trace::ProfileGroup::event) return path.frames.front();
    if (!sampled.valid()) sampled = path.frames.front();
  }
  return sampled.valid() ? sampled : process_.regions_.function({"main", "", 0});
}

const UserPath& RowPlaces::frame_path(uint32_t frame) {
  const auto [known, fresh] = process_.known_.try_emplace(frames_[frame]);
  if (fresh) known->second = paths_.user_path(frame);
  return known->second;
}

void RowPlaces::enter(RegionId region, Level level, RowPlace& to) {
  if (to.stack.size() >= kDeepest) return;
  to.stack.push_back({region, level});
  to.path = process_.paths_.child(to.path, region);
  to.body = to.path;
}

/// Adds the functions of a call path that are not on the stack yet (Timeline::set_relative).
void RowPlaces::add_functions(const UserPath& path, RowPlace& to) {
  size_t begin = 0;
  if (path.in_construct) {
    for (size_t i = to.stack.size(); i-- > 0;) {
      if (!is_base(to.stack[i].level)) continue;
      begin = i + (to.stack[i].level == Level::root ? 0 : 1);
      break;
    }
  }
  auto taken = path.frames.begin();
  for (size_t i = begin; i < to.stack.size(); ++i) {
    if (!is_function(to.stack[i].level)) continue;
    const auto found = std::find(taken, path.frames.end(), to.stack[i].region);
    if (found != path.frames.end()) taken = found + 1;
  }
  for (; taken != path.frames.end(); ++taken) enter(*taken, Level::frame, to);
}

/// Of the code of a construct only the innermost functions are known (Timeline::observe_innermost).
void RowPlaces::add_code(uint64_t code, RowPlace& to) {
  if (code == 0) return;
  const Code& known = process_.code_.before(code);
  UserPath path;
  path.in_construct = true;
  bool is_named = true;
  for (const CodeFrame& frame : known.frames) {
    if (frame.kind == CodeKind::openmp_runtime) return;
    if (frame.kind == CodeKind::outlined) path.frames.clear();
    if (frame.kind == CodeKind::user && frame.region.valid()) path.frames.push_back(frame.region);
    is_named = is_named && frame.named;
  }
  if (is_named) add_functions(path, to);
}

const Symbol* RowPlaces::own_symbol(uint64_t code) const {
  if (code == 0) return nullptr;
  const Code& found = process_.code_.before(code);
  const bool own = !found.frames.empty() && (found.frames.front().kind == CodeKind::user ||
                                             found.frames.front().kind == CodeKind::outlined);
  return own ? found.symbol : nullptr;
}

/// A fork is no region of its own: the team's begin is.
RowPlace RowPlaces::place_fork(const ProfileRow& row, const RowPlace& around) {
  RowPlace place = around;
  place.team_place = nullptr;
  place.league = row.detail != 0;
  if (row.place == 0) return place;
  const ProfileRow& frame = profile_.rows[row.place];
  const UserPath& path = frame_path(static_cast<uint32_t>(row.place));
  if (frame.parent == 0) {  // the place alone is known
    add_code(frame.place, place);
  } else if (path.says_something()) {
    add_functions(path, place);
  }
  // The runtime's own frames may lie further in.
  for (uint64_t at = row.place; at != 0 && place.team_place == nullptr;) {
    place.team_place = own_symbol(profile_.rows[at].place);
    at = profile_.rows[at].parent;
  }
  return place;
}

RowPlace RowPlaces::place_team(const ProfileRow& row, const RowPlace& around) {
  RowPlace place = around;
  if (row.place != 0) {
    RowPlaces* const master = process_.find(row.place >> 32);
    const RowPlace* const fork =
        master == nullptr ? nullptr : master->fork_at(static_cast<uint32_t>(row.place));
    place = fork != nullptr ? *fork : RowPlace();
  }
  enter(process_.regions_.openmp(place.league ? "teams" : "parallel", RegionRole::parallel,
                                 place.team_place),
        Level::parallel, place);
  return place;
}

const RowPlace* RowPlaces::fork_at(uint32_t path) {
  if (placing_) return nullptr;
  read_definitions();
  place_events();
  const auto frame = frame_of_path_.find(path);
  if (frame == frame_of_path_.end()) return nullptr;
  const auto fork = fork_of_frame_.find(frame->second);
  return fork == fork_of_frame_.end() ? nullptr : &places_[fork->second];
}

/// Whether code is outside of the innermost region, where that was forked: then a barrier there is
/// the one at the region's end.
bool RowPlaces::is_at_fork(uint64_t code, const RowPlace& around) const {
  const Code& known = process_.code_.before(code);
  if (code == 0 || known.frames.empty() || known.frames.back().kind != CodeKind::user) return false;
  const RegionId function = known.frames.back().region;
  bool is_outside = false;
  for (const RowPlace::Entry& entry : around.stack) {
    if (entry.level == Level::parallel) {
      is_outside = false;
      for (const RowPlace::Entry& outer : around.stack) {
        if (&outer == &entry) break;
        is_outside |= is_function(outer.level) && outer.region == function;
      }
    } else if (entry.region == function) {
      is_outside = false;
    }
  }
  return is_outside;
}

RowPlace RowPlaces::place_construct(const ProfileRow& row, const RowPlace& around) {
  RowPlace place = around;
  Regions& regions = process_.regions_;
  const Symbol* where = own_symbol(row.place);
  const bool is_combined =
      where != nullptr && (where == around.team_place || is_at_fork(row.place, around));
  const bool is_of_team = where == nullptr || is_combined;
  if (!is_combined) add_code(row.place, place);
  const Symbol* const nearest = is_of_team ? around.team_place : where;
  switch (row.kind) {
    case ProfileKind::work: {
      const auto work = work_name(row.detail);
      if (work) {
        enter(regions.openmp(work->name, RegionRole::worksharing, nearest), Level::work, place);
      }
      return place;
    }
    case ProfileKind::masked:
      enter(regions.openmp("masked", RegionRole::function, where), Level::work, place);
      return place;
    case ProfileKind::reduction:
      enter(regions.openmp("reduction", RegionRole::function, where), Level::work, place);
      return place;
    case ProfileKind::task:
      enter(regions.openmp("task", RegionRole::task, nullptr), Level::task, place);
      return place;
    case ProfileKind::target:
      enter(regions.openmp(target_name(row.detail), RegionRole::function, where),
            target_class(row.detail) == trace::RawTarget::construct ? Level::work : Level::call,
            place);
      return place;
    case ProfileKind::mutex: {
      const MutexName mutex = mutex_name(row.detail);
      enter(mutex.is_call ? regions.openmp_call(mutex.name, RegionRole::lock)
                          : regions.openmp(mutex.name, RegionRole::critical, where),
            Level::mutex, place);
      place.body = mutex.is_call ? around.path
                                 : process_.paths_.child(
                                       place.path, regions.openmp(std::string(mutex.name) + " body",
                                                                  RegionRole::function, where));
      return place;
    }
    default:
      break;
  }
  const bool is_wait = row.kind == ProfileKind::wait;
  switch (sync_class(row.detail)) {
    case SyncClass::taskwait:
      enter(regions.openmp("taskwait", RegionRole::task_wait, where), Level::sync, place);
      break;
    case SyncClass::taskgroup:
      enter(is_wait ? regions.openmp("end taskgroup", RegionRole::task_wait, where)
                    : regions.openmp("taskgroup", RegionRole::function, where),
            is_wait ? Level::sync : Level::work, place);
      break;
    case SyncClass::barrier: {
      const bool implicit = is_region_end(row.detail) || is_implicit(row.detail) || row.place == 0;
      const RegionRole role = implicit ? RegionRole::implicit_barrier : RegionRole::barrier;
      enter(regions.openmp(implicit ? "implicit barrier" : "barrier", role, nearest), Level::sync,
            place);
      break;
    }
    case SyncClass::other:
      break;
  }
  return place;
}

/// None of a wish to sleep, which is no call.
RegionId RowPlaces::region_of_call(const ProfileRow& row) {
  const bool moves_bytes = row.kind == ProfileKind::blocked && row.amount > 0;
  const uint32_t key =
      uint32_t{row.detail} << 9 | (moves_bytes ? 256u : 0u) | static_cast<uint32_t>(row.kind);
  const auto [known, fresh] = calls_.try_emplace(key);
  if (!fresh) return known->second;
  Regions& regions = process_.regions_;
  const std::string name = text(row.detail);
  switch (row.kind) {
    case ProfileKind::mpi_call:
    case ProfileKind::mpi_tests:
      return known->second = regions.mpi(name);
    case ProfileKind::device_call:
      return known->second = regions.device_call(name);
    case ProfileKind::blocked:
      if (name.empty()) return {};
      if (moves_bytes) return known->second = regions.io_in(plain_call(name), "");
      return known->second = trace::thread_call(name) != nullptr
                                 ? regions.system_call(name)
                                 : regions.blocked_in(plain_call(name));
    default:
      return known->second = regions.user(name.empty() ? "(unnamed)" : name, role_of(row.kind));
  }
}

RowPlace RowPlaces::place_call(const ProfileRow& row, const RowPlace& around) {
  RowPlace place = around;
  if (row.place != 0) {
    const UserPath& path = frame_path(static_cast<uint32_t>(row.place));
    if (path.says_something()) add_functions(path, place);
  }
  const RegionId region = region_of_call(row);
  place.waits = !region.valid();
  const bool is_named = row.kind == ProfileKind::region || row.kind == ProfileKind::phase ||
                        row.kind == ProfileKind::iteration;
  if (region.valid()) enter(region, is_named ? Level::region : Level::call, place);
  return place;
}

void RowPlaces::place(uint32_t number) {
  const ProfileRow& row = profile_.rows[number];
  if (trace::facts_of(row.kind).group != trace::ProfileGroup::event) return;
  const RowPlace& around = places_[row.parent];
  switch (row.kind) {
    case ProfileKind::fork: {
      places_[number] = place_fork(row, around);
      const auto [known, fresh] =
          fork_of_frame_.try_emplace(static_cast<uint32_t>(row.place), number);
      const bool is_more = !fresh && profile_.rows[known->second].visits < row.visits;
      if (is_more) known->second = number;
      return;
    }
    case ProfileKind::team:
      places_[number] = place_team(row, around);
      return;
    case ProfileKind::function: {
      places_[number] = around;
      const Code& code = process_.code_.before(row.place + 1);
      if (code.frames.empty() || !code.frames.front().region.valid()) return;
      process_.regions_.is_instrumented(code.frames.front().region);
      const bool is_program = around.stack.size() == 1 &&
                              around.stack.front().level == Level::root &&
                              around.stack.front().region == code.frames.front().region;
      if (!is_program) enter(code.frames.front().region, Level::function, places_[number]);
      return;
    }
    case ProfileKind::mpi_call:
    case ProfileKind::mpi_tests:
    case ProfileKind::device_call:
    case ProfileKind::blocked:
    case ProfileKind::region:
    case ProfileKind::phase:
    case ProfileKind::iteration:
      places_[number] = place_call(row, around);
      return;
    default:
      places_[number] = place_construct(row, around);
  }
}

void RowPlaces::place_events() {
  if (placing_) return;
  placing_ = true;
  read_definitions();
  if (next_ == 0 && log_.thread() == 0) enter(program_region(), Level::root, places_[0]);
  for (next_ = std::max(next_, 1u); next_ < profile_.rows.size(); ++next_) place(next_);
  placing_ = false;
}

PathHash RowPlaces::path_at(uint32_t event, uint32_t frame) {
  RowPlace place = places_[event];
  if (frame != 0) {
    const UserPath& path = frame_path(frame);
    if (path.says_something()) add_functions(path, place);
  }
  return place.path;
}

std::vector<RegionId> RowPlaces::functions_before(uint32_t event) const {
  std::vector<RegionId> functions;
  const std::vector<RowPlace::Entry>& stack = places_[event].stack;
  const size_t around = places_[profile_.rows[event].parent].stack.size();
  for (size_t i = around; i < stack.size() && stack[i].level == Level::frame; ++i) {
    functions.push_back(stack[i].region);
  }
  return functions;
}

}  // namespace culprit::assemble
