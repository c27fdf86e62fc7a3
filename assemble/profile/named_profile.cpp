// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Processes are worked on some at a time, each on a thread: their rows are placed, and their
// samples pooled; once the pools have those of all of these, and of all before, their time is
// divided, added to the spreads over ranks, and cut down to the rows that are kept. Ticks become
// nanoseconds at the end, of each location in one sequence, so that its rows add up to its life.
#include "assemble/profile/named_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <unordered_set>
#include <utility>

#include "assemble/profile/fold_log.h"
#include "assemble/profile/fold_process.h"
#include "assemble/profile/kept_definitions.h"
#include "assemble/profile/log_sums.h"
#include "assemble/profile/profile_file.h"
#include "assemble/profile/rank_spreads.h"
#include "assemble/profile/row_places.h"
#include "assemble/run/survey.h"
#include "base/parallel.h"

namespace culprit::assemble {

namespace {

using trace::ProfileLine;

/// Processes whose rows are in memory at a time.
constexpr size_t kTogether = 32;

/// A log with a profile, and the location that it is.
struct PlacedLog {
  LocationId location;
  trace::ProfileLog head;
  bool of_a_pool = false;
  bool torn = false;
  uint64_t begin = 0;  ///< ticks
  LogSums sums;
};

struct PlacedProcess {
  size_t folder = 0;
  std::vector<PlacedLog> logs;
  std::unique_ptr<ProcessPlaces> places;
  StretchPools pools;
  std::vector<RankFigures> figures;  ///< of all its threads
  FlatMap figure_of;                 ///< by path
  size_t joined = 0;                 ///< rows that are no more
  fold::CrewSums idle;
};

/// A location's row with a path that has no number yet.
struct HashedRow {
  PathHash path;
  trace::ProfileEntry row;
};

bool has_blame(const HashedRow& row) {
  return row.row.blame + row.row.lock_blame > Duration::zero();
}

Sampling sampling_of(const ProfiledRun& run, size_t folder, const trace::ProfileLog& head) {
  const uint32_t hz = run.folders[folder].process.sampling_hz;
  const double ns_per_tick = run.clock.ns_per_tick(folder);
  Sampling sampling;
  if (hz == 0) return sampling;
  const double period_ns = head.sampling_ns != 0 ? static_cast<double>(head.sampling_ns) : 1e9 / hz;
  sampling.period_ticks = period_ns / ns_per_tick;
  if (head.on_core_ns == 0) return sampling;
  CoreUse use;
  use.on_core_ns = head.on_core_ns;
  use.without_ns = head.without_core_ns;
  sampling.core_share = use.share();
  const uint64_t life = head.until - std::min(head.until, head.begin);
  const double could =
      static_cast<double>(head.on_core_ns) + static_cast<double>(head.without_core_ns);
  sampling.off_core_ticks = std::max(0.0, static_cast<double>(life) - could / ns_per_tick);
  return sampling;
}

/// Turns ticks that follow each other into times that do.
class TickSequence {
 public:
  TickSequence(const Clock& clock, size_t folder, uint64_t begin)
      : clock_(clock), folder_(folder), at_(begin), time_(clock_.time(folder, begin)) {}

  Duration next(uint64_t ticks) {
    at_ += ticks;
    const Time before = std::exchange(time_, std::max(time_, clock_.time(folder_, at_)));
    return time_ - before;
  }
  Time time() const { return time_; }

 private:
  const Clock& clock_;
  const size_t folder_;
  uint64_t at_;
  Time time_;
};

Duration scaled(double ticks, double ns_per_tick) {
  return Duration::from_nanos(static_cast<int64_t>(std::min(ticks * ns_per_tick, 9e18)));
}

trace::ProfileEntry row_of(const PathTicks& from, Duration time, double ns_per_tick) {
  const auto ticks = [&](uint64_t count) {
    return scaled(static_cast<double>(count), ns_per_tick);
  };
  trace::ProfileEntry row;
  row.visits = from.visits;
  row.time = time;
  row.waiting = std::min(ticks(from.waits), time);
  row.observed = std::min(ticks(from.observed), time);
  row.samples = from.samples;
  row.bytes = from.bytes;
  row.longest = ticks(from.longest << trace::kProfileLongestShift);
  const auto blame = [&](uint64_t units) {
    return scaled(static_cast<double>(units) / (1u << trace::kProfileBlameShift), ns_per_tick);
  };
  row.blame = blame(from.blame);
  row.lock_blame = blame(from.lock_blame);
  row.system = Duration::from_nanos(static_cast<int64_t>(from.system_ns));
  row.faulting = Duration::from_nanos(static_cast<int64_t>(from.fault_ns));
  row.page_faults = from.faults;
  return row;
}

/// The profile that a process kept; logs that have none there have all of their records, which are
/// folded.
FileOfProfile profiles_of(const RawProcessFolder& raw) {
  FileOfProfile profile =
      read_profile(raw.folder, raw.process.start_ticks).value_or(FileOfProfile());
  for (const RawLog& log : raw.logs) {
    const bool is_there =
        std::any_of(profile.logs.begin(), profile.logs.end(),
                    [&](const LogProfile& one) { return one.head.log == log.thread(); });
    if (!is_there) profile.logs.push_back(fold_log(log, raw.process.start_ticks));
  }
  return profile;
}

/// Whether each log's records make at least as much of a profile as was kept of it, and that says
/// of how many it is.
bool covers(const FoldedProcess& folded, const FileOfProfile& kept) {
  return std::all_of(kept.logs.begin(), kept.logs.end(), [&](const LogProfile& one) {
    return std::any_of(folded.logs.begin(), folded.logs.end(), [&](const LogProfile& log) {
      return log.head.log == one.head.log && one.head.records > 0 &&
             log.head.records >= one.head.records;
    });
  });
}

fold::CrewSums sums_of(const trace::ProfileBlame& blame) {
  static_assert(trace::ProfileBlame::kReasons == fold::kNobodies);
  constexpr unsigned kUnit = fold::kPotentialShift - trace::kProfileBlameShift;
  fold::CrewSums sums;
  sums.idle_ticks = blame.idle;
  for (size_t i = 0; i < fold::kNobodies; ++i) sums.nobody_ticks[i] = blame.nobody[i];
  sums.earned = fold::Wide{blame.earned} << kUnit;
  sums.handed = fold::Wide{blame.handed} << kUnit;
  return sums;
}

/// If all records are there, they tell who is to blame for idle threads, of all their time: the
/// rows are the same.
FoldedProcess with_blame(const RawProcessFolder& raw) {
  if (raw.process.whole_end == 0) {
    FoldedProcess whole = fold_process(raw);
    const FileOfProfile kept =
        read_profile(raw.folder, raw.process.start_ticks).value_or(FileOfProfile());
    if (!whole.logs.empty() && covers(whole, kept)) return whole;
  }
  FileOfProfile profile = profiles_of(raw);
  return {std::move(profile.logs), sums_of(profile.blame)};
}

/// Why nobody worked; the runtime's own share, while it handed out tasks, counts as another reason.
void add_nobody(const fold::CrewSums& idle, LocationId first, double ns_per_tick,
                trace::Profile& to) {
  using Reason = trace::ProfileNobody::Reason;
  for (size_t i = 0; i < fold::kNobodies; ++i) {
    double ticks = static_cast<double>(idle.nobody_ticks[i]);
    const auto reason = static_cast<Reason>(i);
    if (reason == Reason::other) {
      ticks += std::ldexp(static_cast<double>(idle.handed), -int{fold::kPotentialShift});
    }
    if (ticks > 0) to.nobody.push_back({first, reason, scaled(ticks, ns_per_tick)});
  }
  const fold::Wide gap = idle.gap() >> fold::kPotentialShift;
  if (gap < idle.idle_ticks) to.not_shared += scaled(static_cast<double>(gap), ns_per_tick);
}

void add_figures(std::span<const PathTicks> sums, double s_per_tick, PlacedProcess& process) {
  for (const PathTicks& sum : sums) {
    const auto fresh = static_cast<uint32_t>(process.figures.size());
    const uint32_t place = process.figure_of.at(sum.path, fresh);
    if (place == fresh) process.figures.push_back({.path = sum.path});
    RankFigures& to = process.figures[place];
    to.time_s += static_cast<double>(sum.ticks) * s_per_tick;
    to.visits += static_cast<double>(sum.visits);
    to.bytes += static_cast<double>(sum.bytes);
  }
}

void add_to_caller(const PathTicks& from, PathTicks& to) {
  to.ticks += from.ticks;
  to.waits += from.waits;
  to.observed += from.observed;
  to.samples += from.samples;
  to.bytes += from.bytes;
  to.blame += from.blame;
  to.lock_blame += from.lock_blame;
  to.system_ns += from.system_ns;
  to.fault_ns += from.fault_ns;
  to.faults += from.faults;
}

class Namer {
 public:
  Namer(const ProfiledRun& run, unsigned threads, size_t most_rows)
      : run_(run),
        threads_(threads),
        unknown_{run.regions.not_sampled(), run.regions.blocked(), run.regions.measuring(),
                 run.regions.not_recorded()},
        lanes_of_(run.folders.size()) {
    size_t logs = 0;
    for (size_t i = 0; i < run.lanes.size(); ++i) {
      const Lane& lane = run.lanes[i];
      if (lane.log == nullptr) continue;
      if (lanes_of_[lane.folder].empty()) order_.push_back(lane.folder);
      lanes_of_[lane.folder].push_back(i);
      ++logs;
    }
    rows_each_ = std::max(kLeastRows, most_rows / std::max<size_t>(logs, 1));
    profile_.lines.resize(run.lanes.size());
    rows_.resize(run.lanes.size());
  }

  trace::Profile name() {
    for (size_t begin = 0; begin < order_.size(); begin += kTogether) {
      const size_t count = std::min(kTogether, order_.size() - begin);
      work_on(std::span(order_).subspan(begin, count));
    }
    number_paths();
    return std::move(profile_);
  }

 private:
  static constexpr size_t kLeastRows = 64;

  void work_on(std::span<const size_t> folders) {
    std::vector<PlacedProcess> processes(folders.size());
    parallel_for(
        folders.size(), threads_, [] { return FramePaths(); },
        [&](size_t i, FramePaths& known) { place(folders[i], known, processes[i]); });
    for (PlacedProcess& process : processes) {
      pools_.merge(process.pools);
      process.pools = {};
    }
    parallel_for(processes.size(), threads_, [&](size_t i) { finish(processes[i]); });
    for (PlacedProcess& process : processes) {
      if (process.places == nullptr) continue;
      profile_.joined_rows += process.joined;
      for (const PathTable::Entry& entry : process.places->paths().entries()) paths_.add(entry);
      const Lane& first = run_.lanes[lanes_of_[process.folder].front()];
      spreads_.add_rank(static_cast<uint32_t>(first.process.index()), process.figures);
      add_nobody(process.idle, process.logs.front().location,
                 run_.clock.ns_per_tick(process.folder), profile_);
      for (const PlacedLog& log : process.logs) {
        const std::vector<HashedRow>& rows = rows_[log.location.index()];
        profile_.has_blame |= std::any_of(rows.begin(), rows.end(), has_blame);
      }
    }
  }

  /// Reads a process, and places its rows.
  void place(size_t folder, FramePaths& known, PlacedProcess& process) {
    const RawProcessFolder& raw = run_.folders[folder];
    process.folder = folder;
    const FoldedProcess folded = with_blame(raw);
    const std::vector<LogProfile>& profiles = folded.logs;
    if (profiles.empty()) return;
    process.idle = folded.idle;
    process.places = std::make_unique<ProcessPlaces>(run_.code[folder], run_.regions, known);
    std::vector<std::pair<size_t, RowPlaces*>> logs;
    for (size_t lane : lanes_of_[folder]) {
      for (const LogProfile& profile : profiles) {
        if (profile.head.log != run_.lanes[lane].log->thread()) continue;
        std::vector<uint64_t> definitions =
            read_definitions(raw.folder, profile.head.log, raw.process.start_ticks);
        logs.emplace_back(
            lane, &process.places->add(*run_.lanes[lane].log, profile, std::move(definitions)));
      }
    }
    for (const auto& [lane, rows] : logs) rows->place_events();
    for (const auto& [lane, rows] : logs) {
      PlacedLog& log = process.logs.emplace_back();
      log.location = LocationId(lane);
      log.head = rows->profile().head;
      log.torn = rows->profile().torn;
      log.of_a_pool = rows->of_a_pool();
      log.sums = sum_log(*rows, sampling_of(run_, folder, log.head), process.places->paths(),
                         unknown_, process.pools);
      live_with_process(raw.process, *rows, log);
    }
    process.places->release_rows();
  }

  /// The first thread is in main from the process's begin to its end, before anything of it was
  /// recorded, and after.
  static void live_with_process(const trace::RawProcess& process, const RowPlaces& rows,
                                PlacedLog& log) {
    log.begin = log.head.begin;
    if (log.head.log != 0) return;
    uint64_t& ticks = log.sums.line.at(rows.event(0).path).ticks;
    if (log.head.begin > process.start_ticks) {
      ticks += log.head.begin - process.start_ticks;
      log.begin = process.start_ticks;
    }
    if (process.end_ticks > log.head.until) ticks += process.end_ticks - log.head.until;
  }

  /// Divides what is open, and makes the process's lines.
  void finish(PlacedProcess& process) {
    if (process.places == nullptr) return;
    for (PlacedLog& log : process.logs) {
      divide_open(log.sums, pools_, unknown_, process.places->paths());
      make_line(process, log);
    }
  }

  void make_line(PlacedProcess& process, PlacedLog& log) {
    const double ns_per_tick = run_.clock.ns_per_tick(process.folder);
    std::vector<PathTicks>& sums = log.sums.line.sums();
    add_figures(sums, ns_per_tick * 1e-9, process);
    process.joined += join_small(sums, process.places->paths());
    TickSequence sequence(run_.clock, process.folder, log.begin);
    ProfileLine& line = profile_.lines[log.location.index()];
    line.begin = sequence.time();
    line.of_a_pool = log.of_a_pool;
    line.complete = !log.torn;
    line.records = log.head.records;
    std::vector<HashedRow>& rows = rows_[log.location.index()];
    for (const PathTicks& sum : sums) {
      if (sum.ticks == 0 && sum.visits == 0 && sum.samples == 0) continue;
      rows.push_back({sum.path, row_of(sum, sequence.next(sum.ticks), ns_per_tick)});
    }
    line.idle = sequence.next(log.sums.line.idle);
    line.waking = sequence.next(log.sums.line.waking);
    line.end = sequence.time();
    log.sums = {};
  }

  /// Leaves the rows with most time; the others' figures become those of the nearest caller that is
  /// left. Returns how many are no more.
  size_t join_small(std::vector<PathTicks>& sums, const PathTable& paths) const {
    if (sums.size() <= rows_each_) return 0;
    std::nth_element(sums.begin(), sums.begin() + static_cast<std::ptrdiff_t>(rows_each_),
                     sums.end(), [](const PathTicks& a, const PathTicks& b) {
                       return std::pair(a.ticks, a.path) > std::pair(b.ticks, b.path);
                     });
    LineTicks kept;
    for (size_t i = 0; i < rows_each_; ++i) kept.at(sums[i].path) = sums[i];
    for (size_t i = rows_each_; i < sums.size(); ++i) {
      PathHash to = sums[i].path;
      while (paths.parent_of(to) != kNoPath && !kept.has(to)) to = paths.parent_of(to);
      add_to_caller(sums[i], kept.at(to));
    }
    const size_t joined = sums.size() - kept.sums().size();
    sums = std::move(kept.sums());
    return joined;
  }

  CallPathId number_of(PathHash path) {
    const uint32_t known = numbers_.find(path);
    if (known != FlatMap::kNone) return CallPathId(known);
    const PathTable::Entry* const entry = paths_.find(path);
    if (entry == nullptr) return CallPathId::none();
    const CallPathId parent =
        entry->parent == kNoPath ? CallPathId::none() : number_of(entry->parent);
    const CallPathId number(profile_.paths.size());
    numbers_.set(path, static_cast<uint32_t>(number.index()));
    profile_.paths.push_back({parent, entry->region});
    profile_.spreads.push_back(spreads_.of(path));
    return number;
  }

  /// Only paths that rows need get numbers, with their callers.
  void number_paths() {
    profile_.ranks = spreads_.ranks();
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::vector<trace::ProfileEntry>& rows = profile_.lines[i].rows;
      for (HashedRow& row : rows_[i]) {
        row.row.path = number_of(row.path);
        if (row.row.path.valid()) rows.push_back(row.row);
      }
      rows_[i] = {};
      std::sort(rows.begin(), rows.end(),
                [](const auto& a, const auto& b) { return a.path < b.path; });
    }
  }

  const ProfiledRun& run_;
  const unsigned threads_;
  const UnknownRegions unknown_;
  std::vector<std::vector<size_t>> lanes_of_;  ///< by folder
  std::vector<size_t> order_;                  ///< of folders: that of processes
  size_t rows_each_ = 0;                       ///< at most, of a location
  StretchPools pools_;
  PathTable paths_;
  RankSpreads spreads_;
  FlatMap numbers_;                           ///< by path
  std::vector<std::vector<HashedRow>> rows_;  ///< by location
  trace::Profile profile_;
};

}  // namespace

std::vector<ProfiledCode> profiled_code(const std::vector<RawProcessFolder>& folders,
                                        ProfileDamage& damage, unsigned threads) {
  std::vector<ProfiledCode> code(folders.size());
  std::vector<ProfileDamage> found(folders.size());
  parallel_for(folders.size(), threads, [&](size_t i) {
    const FileOfProfile profile = profiles_of(folders[i]);
    found[i].cut = profile.cut ? 1 : 0;
    std::unordered_set<uint64_t> all;
    for (const LogProfile& log : profile.logs) {
      const std::vector<uint64_t> some = addresses_of(log);
      all.insert(some.begin(), some.end());
      add_samples(log, code[i].stacks);
      found[i].senseless += log.senseless;
      found[i].torn += log.torn ? 1 : 0;
      found[i].no_room += log.head.cut_paths + log.head.cut_rows;
    }
    code[i].addresses.assign(all.begin(), all.end());
  });
  for (const ProfileDamage& one : found) {
    damage.cut += one.cut;
    damage.torn += one.torn;
    damage.senseless += one.senseless;
    damage.no_room += one.no_room;
  }
  return code;
}

std::vector<std::string> sentences_of(const ProfileDamage& damage) {
  std::vector<std::string> sentences;
  const auto add = [&](uint64_t count, std::string_view sentence) {
    if (count > 0) sentences.push_back(fmt::format("{} ({})", sentence, count));
  };
  add(damage.cut, "Files of profiles are shorter than they should be: threads are missing.");
  add(damage.senseless, "Rows of profiles make no sense and are left out: the files are damaged.");
  add(damage.torn,
      "Processes died while threads brought their profiles up to date: the last milliseconds of "
      "these threads are uncertain.");
  add(damage.no_room,
      "Call paths found no room in the profile: what happened there counts at their callers.");
  return sentences;
}

trace::Profile name_profile(const ProfiledRun& run, unsigned threads, size_t most_rows) {
  return Namer(run, threads, most_rows).name();
}

}  // namespace culprit::assemble
