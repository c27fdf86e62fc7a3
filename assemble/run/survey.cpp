// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One pass over a thread's records without keeping any of them: sets of addresses, lists of what
// was made, begins and ends of regions. What it costs is a part of all reading, so it looks at few
// words of each record.
#include "assemble/run/survey.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "assemble/names/symbol.h"
#include "assemble/run/comms/epoch_ranks.h"
#include "trace/objects.h"

namespace culprit::assemble {
namespace {

using trace::RawGroup;
using trace::RawKind;

class Surveyor {
 public:
  explicit Surveyor(uint32_t thread) : thread_(thread) {}

  ThreadSurvey take() {
    finish_comm();
    find_callers();
    find_stacks();
    return std::move(result_);
  }

  void see(const RawRecord& record) {
    if (result_.survey.records++ == 0) result_.core_use.from_ticks = record.ticks;
    ++result_.tool.records;
    const trace::RawKindFacts& facts = trace::facts_of(record.kind);
    if (facts.takes_path) ++result_.tool.paths;
    see_code(record);
    switch (facts.group) {
      case RawGroup::mpi:
        see_mpi(record);
        break;
      case RawGroup::one_sided:
      case RawGroup::files:
        see_object(record);
        break;
      case RawGroup::openmp:
      case RawGroup::tasks:
        see_openmp(record);
        break;
      case RawGroup::devices:
        see_devices(record);
        break;
      case RawGroup::definitions:
        see_definition(record);
        break;
      case RawGroup::functions:
        if (record.kind == RawKind::func_enter)
          callers_.insert(record.as<raw::func_enter>().caller);
        break;
      case RawGroup::measurement:
        see_measurement(record);
        break;
      case RawGroup::samples:
        see_sample(record);
        break;
      case RawGroup::other:
        see_other(record);
        break;
      default:
        break;
    }
    result_.acts |= is_act_of_program(facts.group);
    if (facts.group != RawGroup::definitions) {
      result_.survey.last_ticks = std::max(result_.survey.last_ticks, record.ticks);
      const bool is_act = record.kind != RawKind::cpu_time && record.kind != RawKind::spin &&
                          record.kind != RawKind::cores_had && record.kind != RawKind::task_use;
      if (is_act) result_.survey.last_act_ticks = record.ticks;
    }
  }

 private:
  /// Other threads may wait for such an act, however little time it takes.
  static bool is_act_of_program(RawGroup group) {
    return group == RawGroup::mpi || group == RawGroup::one_sided || group == RawGroup::files ||
           group == RawGroup::openmp || group == RawGroup::devices || group == RawGroup::device_log;
  }

  void add_code(uint64_t return_address) {
    if (return_address != 0) result_.survey.addresses.insert(return_address);
  }
  /// An entry is the address of an instruction, where others are one past it.
  void add_entry(uint64_t function) {
    if (function != 0) result_.survey.addresses.insert(function + 1);
  }

  /// Every address of code that the record has.
  void see_code(const RawRecord& record) {
    switch (record.kind) {
#define RECORD(kind, number, group, kept, meaning) \
  case RawKind::kind: {                            \
    [[maybe_unused]] const auto fields = record.as<raw::kind>();
#define CODE(name, meaning) add_code(fields.name);
#define ENTRY(name, meaning) add_entry(fields.name);
#define END \
  break;    \
  }
#include "trace/raw/records.def"
    }
  }

  void see_definition(const RawRecord& record) {
    if (record.kind == RawKind::python_code) see_python(record);
    if (record.kind != RawKind::path_def) return;
    const auto path = record.as<raw::path_def>();
    if (path.parent < path.path) paths_[path.path] = {path.parent, path.address};
  }

  /// Finds the frames between an instrumented function and the next one further out, from any call
  /// path that has both.
  void find_callers() {
    constexpr size_t kMost = 16;
    if (callers_.empty()) return;
    for (const auto& [id, node] : paths_) {
      if (!callers_.contains(node.address)) continue;
      std::vector<uint64_t> addresses;
      for (uint32_t at = id; at != 0;) {
        const auto frame = paths_.find(at);
        if (frame == paths_.end()) break;
        addresses.push_back(frame->second.address);
        at = frame->second.parent;
      }
      std::reverse(addresses.begin(), addresses.end());
      auto& known = result_.survey.callers[node.address];
      if (known.size() < kMost) known.insert(std::move(addresses));
    }
  }

  /// The call paths that samples found.
  void find_stacks() {
    std::map<uint32_t, uint32_t> numbers;  // by path, in the stacks
    std::vector<uint32_t> way;
    for (const auto& [id, count] : samples_) {
      way.clear();
      auto known = numbers.end();
      for (uint32_t at = id; at != 0 && known == numbers.end();) {
        way.push_back(at);
        const auto frame = paths_.find(at);
        at = frame == paths_.end() ? 0 : frame->second.parent;
        known = numbers.find(at);
      }
      uint32_t path = known == numbers.end() ? 0 : known->second;
      for (auto each = way.rbegin(); each != way.rend(); ++each) {
        const auto frame = paths_.find(*each);
        if (frame != paths_.end()) path = result_.survey.stacks.child(path, frame->second.address);
        numbers[*each] = path;
      }
      result_.survey.stacks.add(path, count);
    }
  }

  void see_python(const RawRecord& record) {
    const auto code = record.as<raw::python_code>();
    const auto bytes = record.rest_of<raw::python_code>();
    PythonCode& known = result_.survey.python[code.number];
    const std::string file(text_in(bytes, code.file, code.name));
    known.file = base_name(file);
    known.module = trace::python_module(file);
    const std::string_view name = text_in(bytes, code.name);
    known.name = trace::python_function_name(name, known.module);
    known.imports = trace::is_import(name, known.module);
    known.line = code.line;
  }

  void see_mpi(const RawRecord& record) {
    if (record.kind == RawKind::mpi_comm_def) {
      finish_comm();
      begin_comm(record);
    } else if (record.kind == RawKind::mpi_comm_more) {
      append_ranks(record.rest_of<raw::mpi_comm_more>(), record.as<raw::mpi_comm_more>().ranks,
                   ranks_);
    } else if (record.kind == RawKind::mpi_comm_link) {
      finish_comm();
      link_comm(record);
    } else if (record.kind == RawKind::mpi_grid) {
      see_grid(record);
    } else if (record.kind == RawKind::mpi_graph) {
      see_graph(record);
    } else if (record.kind == RawKind::mpi_rank_set || record.kind == RawKind::mpi_rank_set_more) {
      see_rank_set(record);
    } else if (record.kind == RawKind::mpi_part_init) {
      const auto made = record.as<raw::mpi_part_init>();
      result_.survey.partitioned.push_back(
          {record.ticks, made.number, made.comm, made.peer, made.tag, made.sends == 1});
    }
  }

  /// Parts of a set follow each other; one that lacks its end is dropped, and the collectives that
  /// use it report that.
  void see_rank_set(const RawRecord& record) {
    const auto part = record.as<raw::mpi_rank_set>();
    const auto words = record.rest_of<raw::mpi_rank_set>();
    RankBits& bits = open_sets_[part.set];
    for (size_t i = 0; i + 1 < words.size(); i += 2) bits.emplace_back(words[i], words[i + 1]);
    if (bits.size() < part.pairs) return;
    result_.survey.rank_sets[part.set] = std::move(bits);
    open_sets_.erase(part.set);
  }

  void see_openmp(const RawRecord& record) {
    Survey& survey = result_.survey;
    constexpr uint16_t kInitial = 1;  // ompt_thread_t
    switch (record.kind) {
      case RawKind::omp_thread_begin:
        is_initial_ = record.as<raw::omp_thread_begin>().kind == kInitial;
        break;
      case RawKind::omp_parallel_begin: {
        const auto forked = record.as<raw::omp_parallel_begin>();
        ParallelRegion& region = survey.regions[forked.region];
        region.forked = true;
        region.code = forked.code;
        region.league = forked.league == 1;
        region.by_new_initial = is_initial_ && thread_ != 0;
        break;
      }
      case RawKind::omp_parallel_end:
        survey.regions[record.as<raw::omp_parallel_end>().region].end_ticks = record.ticks;
        break;
      case RawKind::omp_implicit_begin: {
        const auto joined = record.as<raw::omp_implicit_begin>();
        ParallelRegion& region = survey.regions[joined.region];
        region.team_size = std::max(region.team_size, joined.team_size);
        if (joined.team_size > 1 && !result_.team_number) result_.team_number = joined.index;
        break;
      }
      case RawKind::omp_task_create: {
        const auto created = record.as<raw::omp_task_create>();
        survey.task_code[created.task] = created.code;
        survey.task_creators[created.task >> kTaskCreatorShift] = thread_;
        break;
      }
      default:
        break;
    }
  }

  void see_object(const RawRecord& record) {
    Survey& survey = result_.survey;
    if (record.kind == RawKind::rma_win_def) {
      const auto made = record.as<raw::rma_win_def>();
      survey.windows.push_back({record.ticks, made.window, made.comm});
    } else if (record.kind == RawKind::file_def) {
      const auto opened = record.as<raw::file_def>();
      survey.files.push_back(
          {record.ticks, opened.file, opened.comm,
           std::string(text_in(record.rest_of<raw::file_def>(), opened.length))});
    } else if (record.kind == RawKind::rma_epoch && epoch_.add(record) && !epoch_.ranks().empty()) {
      survey.epoch_groups.emplace(record.as<raw::rma_epoch>().window, epoch_.ranks());
    }
  }

  void see_devices(const RawRecord& record) {
    if (record.kind == RawKind::device_enter) {
      device_enter_ = record.ticks;
    } else if (record.kind == RawKind::device_launch) {
      const auto launch = record.as<raw::device_launch>();
      result_.survey.device_launches.try_emplace(launch.operation, device_enter_);
      if (launch.function == 0) return;
      add_entry(launch.function);
      result_.survey.host_functions.push_back(
          {launch.operation, launch.queue, launch.function, device_enter_, {}, 0});
    } else if (record.kind == RawKind::device_wait) {
      see_device_wait(record);
    }
  }

  void see_device_wait(const RawRecord& record) {
    auto& functions = result_.survey.host_functions;
    for (; awaited_functions_ < functions.size(); ++awaited_functions_) {
      functions[awaited_functions_].wait = record.as<raw::device_wait>();
      functions[awaited_functions_].waited_ticks = record.ticks;
    }
  }

  void see_measurement(const RawRecord& record) {
    if (record.kind == RawKind::tool_begin) {
      tool_begin_ = record.ticks;
    } else if (record.kind == RawKind::tool_end && tool_begin_ != 0) {
      result_.tool.ticks += record.ticks - std::min(tool_begin_, record.ticks);
      tool_begin_ = 0;
    } else if (record.kind == RawKind::cpu_time) {
      const auto since = record.as<raw::cpu_time>();
      result_.core_use.on_core_ns = earlier_.on_core_ns + since.on_core;
      result_.core_use.without_ns = earlier_.without_ns + since.without;
      result_.core_use.until_ticks = record.ticks;
      result_.core_use.readings.push_back(
          {record.ticks, result_.core_use.on_core_ns, result_.core_use.without_ns});
    } else if (record.kind == RawKind::cores_had) {
      const auto had = record.as<raw::cores_had>();
      result_.survey.cores_had.push_back({record.ticks, had.on_core, had.without});
    } else if (record.kind == RawKind::task_use) {
      see_task(record);
    } else if (record.kind == RawKind::thread_id) {
      result_.tid = static_cast<uint32_t>(record.as<raw::thread_id>().tid);
      result_.survey.recorders.insert(result_.tid);
    } else if (record.kind == RawKind::python_unknown) {
      result_.survey.unknown_python = record.as<raw::python_unknown>().version;
    } else if (record.kind == RawKind::clock_met) {
      const auto met = record.as<raw::clock_met>();
      result_.survey.clock_meetings.push_back({met.rank, met.ticks, met.other, met.took});
    }
  }

  void see_sample(const RawRecord& record) {
    if (record.kind != RawKind::sample) return;
    const auto sample = record.as<raw::sample>();
    samples_[sample.path] += uint64_t{1} + sample.missed;
  }

  /// Two texts, each ended by a zero.
  void see_task(const RawRecord& record) {
    const auto use = record.as<raw::task_use>();
    const std::string texts(text_in(record.rest_of<raw::task_use>(), use.bytes));
    const size_t middle = texts.find('\0');
    if (middle == std::string::npos) return;
    result_.survey.tasks[use.tid] = {texts.substr(0, middle), texts.c_str() + middle + 1,
                                     use.on_core, use.without};
  }

  void see_other(const RawRecord& record) {
    if (record.kind == RawKind::recording_off || record.kind == RawKind::recording_on) {
      result_.survey.switches.push_back(
          {record.as<raw::recording_off>().from, record.kind == RawKind::recording_on});
    } else if (record.kind == RawKind::woke) {
      const uint64_t object = record.as<raw::woke>().object;
      result_.acts = true;
      if (trace::is_of_node(object)) {
        result_.survey.node_wakes.push_back({record.ticks, object, thread_});
      }
    } else if (record.kind == RawKind::thread_ended) {
      ended_ = record.ticks;
    } else if (record.kind == RawKind::thread_begun) {
      if (ended_ != 0) begin_next_thread(record.ticks);
    } else if (record.kind == RawKind::blocked) {
      const auto blocked = record.as<raw::blocked>();
      const uint64_t begun = began_to_block(blocked, record.ticks);
      if (trace::is_of_node(blocked.object)) result_.survey.node_awaited.insert(blocked.object);
      result_.core_use.blocked_ticks += blocked.until - std::min(begun, blocked.until);
    }
  }

  /// The kernel's figures of a thread begin anew with the next one of the log; in between there
  /// was none that could have had a core.
  void begin_next_thread(uint64_t ticks) {
    earlier_ = result_.core_use;
    result_.core_use.blocked_ticks += ticks - std::min(ticks, ended_);
    ended_ = 0;
  }

  void begin_comm(const RawRecord& record) {
    const auto made = record.as<raw::mpi_comm_def>();
    CommDefinition comm;
    comm.ticks = record.ticks;
    comm.comm = made.comm;
    comm.parent = made.parent;
    comm.origin = made.origin;
    local_ = made.members;
    remote_ = made.remote;
    append_ranks(record.rest_of<raw::mpi_comm_def>(), local_ + remote_, ranks_);
    result_.survey.comms.push_back(std::move(comm));
    open_comm_ = true;
  }

  /// A long list of ranks goes on in further records, so it is divided only when all are there.
  void finish_comm() {
    if (!open_comm_) return;
    open_comm_ = false;
    CommDefinition& comm = result_.survey.comms.back();
    if (ranks_.size() < local_ + remote_) {
      result_.survey.truncated_comms = true;
      result_.survey.comms.pop_back();
    } else {
      const auto middle = ranks_.begin() + static_cast<ptrdiff_t>(local_);
      comm.members.assign(ranks_.begin(), middle);
      comm.remote.assign(middle, middle + static_cast<ptrdiff_t>(remote_));
    }
    ranks_.clear();
  }

  void see_grid(const RawRecord& record) {
    const auto grid = record.as<raw::mpi_grid>();
    const auto words = record.rest_of<raw::mpi_grid>();
    if (grid.dimensions > trace::kMostDimensions || words.size() < grid.dimensions) return;
    GridDefinition& found = result_.survey.grids.emplace_back();
    found.comm = grid.comm;
    for (size_t d = 0; d < grid.dimensions; ++d) {
      const uint64_t word = words[d];
      found.dimensions.push_back({static_cast<uint32_t>(word), word >> 63 != 0});
      found.coordinates.push_back(static_cast<uint32_t>(word >> 32) & 0x7fffffffu);
    }
  }

  void see_graph(const RawRecord& record) {
    const auto graph = record.as<raw::mpi_graph>();
    GraphDefinition found{.comm = graph.comm, .neighbors = {}, .all = graph.neighbors};
    const uint64_t told = std::min<uint64_t>(graph.neighbors, trace::kMostNeighbors);
    append_ranks(record.rest_of<raw::mpi_graph>(), told, found.neighbors);
    if (found.neighbors.size() == told) result_.survey.graphs.push_back(std::move(found));
  }

  void link_comm(const RawRecord& record) {
    auto& comms = result_.survey.comms;
    const auto link = record.as<raw::mpi_comm_link>();
    if (comms.empty() || comms.back().comm != link.comm) return;
    CommDefinition& comm = comms.back();
    comm.link = link.how;
    comm.key = link.mark;
    comm.entered = link.entered;
    if (link.root < comm.members.size()) comm.root = static_cast<uint32_t>(link.root);
  }

  struct PathNode {
    uint32_t parent;
    uint64_t address;
  };

  ThreadSurvey result_;
  std::unordered_map<uint32_t, PathNode> paths_;
  std::unordered_map<uint32_t, uint64_t> samples_;  ///< by path
  std::unordered_set<uint64_t> callers_;            ///< of instrumented functions
  uint32_t thread_;
  bool is_initial_ = false;
  std::vector<uint32_t> ranks_;
  EpochRanks epoch_;
  std::unordered_map<uint32_t, RankBits> open_sets_;
  uint64_t local_ = 0;
  uint64_t remote_ = 0;
  uint64_t tool_begin_ = 0;
  CoreUse earlier_;     ///< of the threads that this log had before
  uint64_t ended_ = 0;  ///< ticks, of the last of them; 0: there is none
  uint64_t device_enter_ = 0;
  size_t awaited_functions_ = 0;  ///< so many have their wait
  bool open_comm_ = false;
};

}  // namespace

namespace {

template <class Definition>
void merge_by_time(std::vector<Definition>& mine, std::vector<Definition>& others) {
  std::move(others.begin(), others.end(), std::back_inserter(mine));
  std::stable_sort(mine.begin(), mine.end(),
                   [](const Definition& a, const Definition& b) { return a.ticks < b.ticks; });
}

}  // namespace

void Survey::merge(Survey&& other) {
  addresses.merge(other.addresses);
  merge_by_time(comms, other.comms);
  std::move(other.grids.begin(), other.grids.end(), std::back_inserter(grids));
  std::move(other.graphs.begin(), other.graphs.end(), std::back_inserter(graphs));
  merge_by_time(windows, other.windows);
  merge_by_time(files, other.files);
  epoch_groups.merge(other.epoch_groups);
  stacks.merge(other.stacks);
  for (const auto& [number, region] : other.regions) {
    ParallelRegion& mine = regions[number];
    if (region.code != 0) mine.code = region.code;
    if (region.end_ticks != 0) mine.end_ticks = region.end_ticks;
    mine.team_size = std::max(mine.team_size, region.team_size);
    mine.league = mine.league || region.league;
    mine.by_new_initial = mine.by_new_initial || region.by_new_initial;
    mine.forked = mine.forked || region.forked;
  }
  python.merge(other.python);
  for (auto& [caller, paths] : other.callers) callers[caller].merge(paths);
  unknown_python = std::max(unknown_python, other.unknown_python);
  task_code.merge(other.task_code);
  std::move(other.clock_meetings.begin(), other.clock_meetings.end(),
            std::back_inserter(clock_meetings));
  task_creators.merge(other.task_creators);
  switches.insert(switches.end(), other.switches.begin(), other.switches.end());
  std::stable_sort(switches.begin(), switches.end(),
                   [](const Switch& a, const Switch& b) { return a.ticks < b.ticks; });
  rank_sets.merge(other.rank_sets);
  cores_had.insert(cores_had.end(), other.cores_had.begin(), other.cores_had.end());
  std::stable_sort(cores_had.begin(), cores_had.end(),
                   [](const CoreReading& a, const CoreReading& b) { return a.ticks < b.ticks; });
  // The last look saw the most.
  for (auto& [number, use] : other.tasks) {
    TaskUse& mine = tasks[number];
    if (use.on_core_ns + use.without_ns >= mine.on_core_ns + mine.without_ns) mine = use;
  }
  recorders.merge(other.recorders);
  device_launches.merge(other.device_launches);
  host_functions.insert(host_functions.end(), other.host_functions.begin(),
                        other.host_functions.end());
  std::stable_sort(
      host_functions.begin(), host_functions.end(),
      [](const HostFunctionLaunch& a, const HostFunctionLaunch& b) { return a.number < b.number; });
  node_wakes.insert(node_wakes.end(), other.node_wakes.begin(), other.node_wakes.end());
  node_awaited.merge(other.node_awaited);
  partitioned.insert(partitioned.end(), other.partitioned.begin(), other.partitioned.end());
  std::stable_sort(
      partitioned.begin(), partitioned.end(),
      [](const PartitionedInit& a, const PartitionedInit& b) { return a.ticks < b.ticks; });
  last_ticks = std::max(last_ticks, other.last_ticks);
  last_act_ticks = std::max(last_act_ticks, other.last_act_ticks);
  records += other.records;
  skipped += other.skipped;
  damaged_logs += other.damaged_logs;
  truncated_comms = truncated_comms || other.truncated_comms;
}

std::unordered_map<uint64_t, uint32_t> Survey::partitioned_pairs() const {
  std::map<std::tuple<uint32_t, int32_t, int32_t, bool>, uint32_t> seen;
  std::unordered_map<uint64_t, uint32_t> pairs;
  for (const PartitionedInit& one : partitioned) {
    pairs[one.number] = ++seen[{one.comm, one.peer, one.tag, one.sends}];
  }
  return pairs;
}

ThreadSurvey survey_log(const RawLog& log) {
  Surveyor surveyor(log.thread());
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) surveyor.see(record);
  ThreadSurvey result = surveyor.take();
  result.survey.skipped = cursor.skipped();
  result.survey.damaged_logs = cursor.damaged() ? 1 : 0;
  return result;
}

}  // namespace culprit::assemble
