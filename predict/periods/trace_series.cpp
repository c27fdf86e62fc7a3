// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A first walk finds the length of the run and the number of visits, a second one fills the steps.
// Each thread fills its own steps, which are added up at the end.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "base/parallel.h"
#include "predict/periods/grid.h"
#include "predict/periods/path_tree.h"
#include "predict/periods/period.h"
#include "trace/mpi_calls.h"

namespace culprit::predict {
namespace {

using blame::SeriesKind;
using trace::RegionRole;

bool is_stream(const trace::Source& source, LocationId id) {
  return source.definitions().locations[id.index()].kind == trace::LocationKind::accelerator_stream;
}

struct Span {
  Time first = Time::max(), last = Time::min();
  uint64_t enters = 0;

  void add(const Span& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    enters = std::max(enters, other.enters);
  }
};

/// Also where teams are forked, if call paths are looked for.
class SpanSink final : public trace::EventSink {
 public:
  SpanSink(const trace::Definitions& definitions, const std::string& callpath)
      : follows_(!callpath.empty()), tree_(definitions, callpath) {}

  void enter(Time time, RegionId id) override {
    see(time), ++span.enters;
    if (follows_) path_.push_back(tree_.child(here(), id));
  }
  void leave(Time time, RegionId) override {
    see(time);
    if (!path_.empty()) path_.pop_back();
  }
  void thread_fork(Time, uint32_t, trace::RegionInstance instance) override {
    if (instance == trace::RegionInstance::unknown || !follows_) return;
    const auto outer = teams_.empty() ? trace::RegionInstance::unknown : teams_.front();
    forks_[instance] = {nullptr, here(), outer};
  }
  void thread_team_begin(Time, trace::RegionInstance instance) override {
    teams_.push_back(path_.empty() ? instance : trace::RegionInstance::unknown);
  }
  void thread_team_end(Time) override {
    if (!teams_.empty()) teams_.pop_back();
  }
  /// Valid as long as this sink is not moved.
  void give_forks(ProcessId process, ForkPlaces& all) const {
    for (const auto& [instance, place] : forks_) {
      all[{process, instance}] = {&tree_, place.node, place.outer};
    }
  }
  Span span;

 private:
  size_t here() const { return path_.empty() ? PathTree::kOutside : path_.back(); }
  void see(Time time) {
    span.first = std::min(span.first, time);
    span.last = std::max(span.last, time);
  }

  const bool follows_;
  PathTree tree_;
  std::vector<size_t> path_;
  std::vector<trace::RegionInstance> teams_;  ///< the first: where its call paths hang
  std::map<trace::RegionInstance, ForkPlace> forks_;
};

/// An interval during which a condition holds; nested begins and ends are counted.
class Stretching {
 public:
  void begin(Time time) {
    if (depth_++ == 0) since_ = time;
  }
  /// Ends one nesting level. Returns the begin of the interval, if it is over now.
  std::optional<Time> end() {
    if (depth_ == 0 || --depth_ > 0) return {};
    return since_;
  }
  std::optional<Time> close() {
    depth_ = std::min<size_t>(depth_, 1);
    return end();
  }

 private:
  Time since_;
  size_t depth_ = 0;
};

struct Sums {
  std::vector<int64_t> steps;
  uint64_t pieces = 0;

  void add(const Sums& other) {
    steps.resize(std::max(steps.size(), other.steps.size()));
    for (size_t i = 0; i < other.steps.size(); ++i) steps[i] += other.steps[i];
    pieces += other.pieces;
  }
};

/// The results of one analysis thread.
struct Seen {
  std::map<SeriesKind, Sums> kinds;
  std::map<RegionId, Sums> stages;

  void add(const Seen& other) {
    for (const auto& [kind, sums] : other.kinds) kinds[kind].add(sums);
    for (const auto& [region, sums] : other.stages) stages[region].add(sums);
  }
};

/// Watches a thread of the program.
class ThreadSink final : public trace::EventSink {
 public:
  ThreadSink(const trace::Definitions& definitions, const std::string& callpath,
             const ForkPlaces& forks, ProcessId process, const Grid& grid, Seen& seen)
      : definitions_(definitions),
        follows_(!callpath.empty()),
        forks_(forks),
        process_(process),
        grid_(grid),
        seen_(seen),
        tree_(definitions, callpath) {}

  void enter(Time time, RegionId id) override {
    const trace::Region& region = definitions_.regions[id.index()];
    if (is_mpi(region)) mpi_.begin(time);
    if (is_io(region)) io_.begin(time);
    if (region.role == RegionRole::phase || region.role == RegionRole::iteration) {
      tell_begin(time, id);
    }
    if (follows_) go_to(time, tree_.child(path_.empty() ? PathTree::kOutside : path_.back(), id));
  }
  void leave(Time time, RegionId id) override {
    const trace::Region& region = definitions_.regions[id.index()];
    if (is_mpi(region)) add(SeriesKind::mpi, mpi_.end(), time);
    if (is_io(region)) add(SeriesKind::io, io_.end(), time);
    go_back(time);
  }
  /// A member of another thread's team is at the call path of the fork.
  void thread_team_begin(Time time, trace::RegionInstance instance) override {
    const size_t place = path_.empty() ? tree_.at(forks_, process_, instance) : PathTree::kOutside;
    teams_.push_back(place != PathTree::kOutside);
    if (!teams_.back()) return;
    path_.push_back(place);
    at_fork_ = tree_.inside(place);
    if (at_fork_) there_.begin(time);
  }
  void thread_team_end(Time time) override {
    if (teams_.empty()) return;
    if (teams_.back() && !path_.empty()) {
      path_.pop_back();
      if (at_fork_) add(SeriesKind::callpath, there_.end(), time);
    }
    teams_.pop_back();
  }
  void file_operation(Time time, const trace::FileOperation& operation) override {
    under_way_[operation.id] = {time, operation.mode, !operation.nonblocking};
    if (!operation.nonblocking) io_.begin(time);
  }
  void file_operation_complete(Time time, FileId, trace::FileOpId id, uint64_t bytes) override {
    const auto known = under_way_.find(id);
    if (known == under_way_.end()) return;
    const Transfer transfer = known->second;
    under_way_.erase(known);
    if (transfer.blocking) add(SeriesKind::io, io_.end(), time);
    if (transfer.mode == trace::FileMode::flush || bytes == 0) return;
    Sums& sums = of(transfer.mode == trace::FileMode::write ? SeriesKind::bytes_written
                                                            : SeriesKind::bytes_read);
    grid_.add_amount(transfer.since, time, bytes, sums.steps);
  }
  /// Whatever is still open lasts until the end of the run.
  void close() {
    add(SeriesKind::mpi, mpi_.close(), grid_.end());
    add(SeriesKind::io, io_.close(), grid_.end());
    add(SeriesKind::callpath, there_.close(), grid_.end());
  }

 private:
  struct Transfer {
    Time since;
    trace::FileMode mode;
    bool blocking;
  };
  static bool is_mpi(const trace::Region& region) {
    return region.paradigm == trace::Paradigm::mpi;
  }
  static bool is_io(const trace::Region& region) {
    return trace::is_mpi_call(region, trace::MpiKind::file);
  }

  Sums& of(SeriesKind kind) { return with_steps(seen_.kinds[kind]); }
  Sums& with_steps(Sums& sums) {
    sums.steps.resize(grid_.steps());
    ++sums.pieces;
    return sums;
  }
  void add(SeriesKind kind, std::optional<Time> since, Time until) {
    if (since) grid_.add_time(*since, until, of(kind).steps);
  }
  void tell_begin(Time time, RegionId stage) {
    const Time until = time + Duration::from_nanos(1);
    grid_.add_amount(time, until, 1, with_steps(seen_.stages[stage]).steps);
  }
  void go_to(Time time, size_t node) {
    path_.push_back(node);
    if (tree_.fits(node)) there_.begin(time);
  }
  void go_back(Time time) {
    if (path_.empty()) return;
    if (tree_.fits(path_.back())) add(SeriesKind::callpath, there_.end(), time);
    path_.pop_back();
  }

  const trace::Definitions& definitions_;
  const bool follows_;
  const ForkPlaces& forks_;
  const ProcessId process_;
  const Grid& grid_;
  Seen& seen_;
  Stretching mpi_, io_, there_;
  PathTree tree_;
  std::vector<size_t> path_;
  std::vector<bool> teams_;  ///< that it is a member of: somebody else's
  bool at_fork_ = false;     ///< that one's fork fits, or lies below a call path that does
  std::unordered_map<trace::FileOpId, Transfer> under_way_;
};

/// What a stream executes.
class StreamSink final : public trace::EventSink {
 public:
  struct Busy {
    Time begin, end;
  };
  void enter(Time time, RegionId) override { busy_.begin(time); }
  void leave(Time time, RegionId) override { add(busy_.end(), time); }
  void close(Time end) { add(busy_.close(), end); }
  std::vector<Busy> all;

 private:
  void add(std::optional<Time> since, Time until) {
    if (since) all.push_back({*since, until});
  }
  Stretching busy_;
};

using Busy = StreamSink::Busy;

/// Where a device had no operation, from its first one to the end.
void add_idle(std::vector<Busy>& busy, const Grid& grid, Sums& sums) {
  std::sort(busy.begin(), busy.end(),
            [](const Busy& a, const Busy& b) { return a.begin < b.begin; });
  sums.steps.resize(grid.steps());
  Time until = busy.front().begin;
  const auto idle_to = [&](Time time) {
    if (time <= until) return;
    grid.add_time(until, time, sums.steps);
    ++sums.pieces;
  };
  for (const Busy& each : busy) {
    idle_to(each.begin);
    until = std::max(until, each.end);
  }
  idle_to(grid.end());
}

/// Both walks over the selected locations.
class Reader {
 public:
  Reader(const trace::Source& source, const SeriesSelection& selection, unsigned threads,
         Losses& losses)
      : source_(source), selection_(selection), threads_(threads), losses_(losses) {
    const trace::Definitions& definitions = source.definitions();
    for (size_t i = 0; i < definitions.locations.size(); ++i) {
      const ProcessId process = definitions.locations[i].process;
      const bool wanted = selection.ranks.empty() ||
                          selection.ranks.contains(definitions.processes[process.index()].rank);
      if (wanted) locations_.push_back(LocationId(i));
    }
  }

  Result<TraceSeries> read() {
    std::set<uint32_t> ranks;
    for (const trace::Process& each : source_.definitions().processes) ranks.insert(each.rank);
    if (auto known = check_ranks(selection_, ranks); !known) return known.error();
    const auto span = find_span();
    if (!span) return span.error();
    TraceSeries found;
    found.begin = span->first;
    found.wall_s = (span->last - span->first).seconds();
    const auto grid = make_grid(span->first, span->last, span->enters, selection_);
    if (!grid) return grid.error();
    if (auto walked = walk(*grid); !walked) return walked.error();
    const double begin_s = std::max(selection_.from_s, 0.0);
    for (const auto& [kind, sums] : seen_.kinds) {
      const bool bytes = kind == SeriesKind::bytes_written || kind == SeriesKind::bytes_read;
      take(grid->series(kind, sums.steps, bytes ? 1 : 1e9, begin_s), sums, found);
      if (kind == SeriesKind::callpath) found.all.back().part = selection_.callpath;
    }
    for (const auto& [region, sums] : seen_.stages) {
      take(grid->series(SeriesKind::stage, sums.steps, 1, begin_s), sums, found);
      found.all.back().part = source_.definitions().regions[region.index()].name;
    }
    return found;
  }

 private:
  static void take(Series series, const Sums& sums, TraceSeries& into) {
    series.pieces = sums.pieces;
    into.all.push_back(std::move(series));
  }

  /// Of all locations, so that second 0 is the same for each selection.
  Result<Span> find_span() {
    const size_t count = source_.definitions().locations.size();
    spans_ = std::vector<SpanSink>(count, SpanSink(source_.definitions(), selection_.callpath));
    std::vector<Result<void>> read(count);
    parallel_for(count, threads_, [&](size_t i) {
      Losses again;  // the second walk counts the same again
      read[i] = source_.read(LocationId(i), spans_[i], again);
    });
    Span all;
    for (size_t i = 0; i < count; ++i) {
      if (!read[i]) return read[i].error();
      all.add(spans_[i].span);
      spans_[i].give_forks(source_.definitions().locations[i].process, forks_);
    }
    if (all.first >= all.last) return Error{"nothing has happened in this run yet"};
    return all;
  }

  Result<void> walk(const Grid& grid) {
    std::vector<std::unique_ptr<Seen>> by_thread;
    std::vector<std::vector<Busy>> busy(locations_.size());
    std::vector<Result<void>> read(locations_.size());
    std::vector<Losses> lost(locations_.size());
    std::mutex mutex;
    const auto own = [&] {
      const std::lock_guard lock(mutex);
      return by_thread.emplace_back(std::make_unique<Seen>()).get();
    };
    parallel_for(locations_.size(), threads_, own, [&](size_t i, Seen* seen) {
      if (is_stream(source_, locations_[i])) {
        StreamSink sink;
        read[i] = source_.read(locations_[i], sink, lost[i]);
        sink.close(grid.end());
        busy[i] = std::move(sink.all);
      } else {
        const ProcessId process = source_.definitions().locations[locations_[i].index()].process;
        ThreadSink sink(source_.definitions(), selection_.callpath, forks_, process, grid, *seen);
        read[i] = source_.read(locations_[i], sink, lost[i]);
        sink.close();
      }
    });
    for (size_t i = 0; i < read.size(); ++i) {
      if (!read[i]) return read[i];
      losses_.merge(lost[i]);
    }
    for (const auto& seen : by_thread) seen_.add(*seen);
    add_devices(grid, busy);
    return {};
  }

  /// Streams without a device are one with those of their process.
  void add_devices(const Grid& grid, std::vector<std::vector<Busy>>& busy) {
    std::map<std::pair<DeviceId, ProcessId>, std::vector<Busy>> devices;
    for (size_t i = 0; i < busy.size(); ++i) {
      const trace::Location& stream = source_.definitions().locations[locations_[i].index()];
      const bool known = stream.device.valid();
      auto& all = devices[{stream.device, known ? ProcessId::none() : stream.process}];
      all.insert(all.end(), busy[i].begin(), busy[i].end());
    }
    for (auto& [device, all] : devices) {
      if (!all.empty()) add_idle(all, grid, seen_.kinds[SeriesKind::device_idle]);
    }
  }

  const trace::Source& source_;
  const SeriesSelection& selection_;
  unsigned threads_;
  Losses& losses_;
  std::vector<LocationId> locations_;
  std::vector<SpanSink> spans_;
  ForkPlaces forks_;  ///< refer to those
  Seen seen_;
};

}  // namespace

Result<TraceSeries> read_series(const trace::Source& source, const SeriesSelection& selection,
                                unsigned threads, Losses& losses) {
  return Reader(source, selection, thread_count(threads), losses).read();
}

}  // namespace culprit::predict
