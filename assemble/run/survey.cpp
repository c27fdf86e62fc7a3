// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/survey.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "assemble/records/epoch_ranks.h"

namespace culprit::assemble {
namespace {

using trace::RawCommOrigin;
using trace::RawKind;

/// Appends up to `count` ranks that are packed two a word; false if there are fewer.
bool unpack_ranks(const RawRecord& record, size_t from_word, size_t count,
                  std::vector<uint32_t>& ranks) {
  const size_t there = (record.words - std::min<size_t>(from_word, record.words)) * 2;
  const size_t taken = std::min(count, there);
  const size_t begin = ranks.size();
  ranks.resize(begin + taken);
  std::memcpy(ranks.data() + begin, record.w + from_word, taken * sizeof(uint32_t));
  return taken == count;
}

class Surveyor {
 public:
  explicit Surveyor(uint32_t thread) : thread_(thread) {}

  ThreadSurvey take() {
    finish_comm();
    return std::move(result_);
  }

  void see(const RawRecord& record) {
    if (result_.survey.records++ == 0) result_.core_use.from_ticks = record.ticks;
    ++result_.tool.records;
    if (record.kind < RawKind::omp_thread_begin) {
      see_mpi(record);
    } else if (record.kind < RawKind::sample) {
      see_openmp(record);
    } else if (record.kind < RawKind::rma_win_def || record.kind >= RawKind::thread_begun) {
      see_other(record);
    } else {
      see_object(record);
    }
    if (record.kind != RawKind::path_def && record.kind != RawKind::string_def) {
      result_.survey.last_ticks = std::max(result_.survey.last_ticks, record.ticks);
      if (record.kind != RawKind::cpu_time) result_.survey.last_act_ticks = record.ticks;
    }
  }

 private:
  void see_mpi(const RawRecord& record) {
    Survey& survey = result_.survey;
    if (record.kind == RawKind::path_def) {
      survey.addresses.insert(record.w[1]);
    } else if (record.kind == RawKind::mpi_enter) {
      ++result_.tool.paths;
    } else if (record.kind == RawKind::mpi_comm_def) {
      finish_comm();
      begin_comm(record);
    } else if (record.kind == RawKind::mpi_comm_more) {
      unpack_ranks(record, 1, record.w[0], ranks_);
    } else if (record.kind == RawKind::mpi_comm_link) {
      finish_comm();
      link_comm(record);
    } else if (record.kind == RawKind::mpi_rank_set || record.kind == RawKind::mpi_rank_set_more) {
      see_rank_set(record);
    } else if (record.kind == RawKind::mpi_part_init) {
      survey.partitioned.push_back(
          {record.ticks, record.w[2], record.arg, record.w[0], record.flags == 1});
    }
  }

  /// Parts of a set follow each other; one that lacks its end is forgotten, and told by its users.
  void see_rank_set(const RawRecord& record) {
    RankBits& bits = open_sets_[record.arg];
    for (unsigned i = 1; i + 1 < record.words; i += 2) {
      bits.emplace_back(record.w[i], record.w[i + 1]);
    }
    if (bits.size() < record.w[0]) return;
    result_.survey.rank_sets[record.arg] = std::move(bits);
    open_sets_.erase(record.arg);
  }

  void see_openmp(const RawRecord& record) {
    Survey& survey = result_.survey;
    constexpr uint16_t kInitial = 1;  // ompt_thread_t
    switch (record.kind) {
      case RawKind::omp_thread_begin:
        is_initial_ = record.flags == kInitial;
        break;
      case RawKind::omp_parallel_begin: {
        ParallelRegion& region = survey.regions[record.w[0]];
        region.forked = true;
        region.code = record.w[1];
        region.league = record.flags == 1;
        region.by_new_initial = is_initial_ && thread_ != 0;
        see_code(record.w[1]);
        ++result_.tool.paths;
        break;
      }
      case RawKind::omp_parallel_end:
        survey.regions[record.w[0]].end_ticks = record.ticks;
        break;
      case RawKind::omp_implicit_begin: {
        ParallelRegion& region = survey.regions[record.w[0]];
        const uint32_t team_size = static_cast<uint32_t>(record.w[1]);
        region.team_size = std::max(region.team_size, team_size);
        if (team_size > 1 && !result_.team_number) result_.team_number = record.w[1] >> 32;
        break;
      }
      case RawKind::omp_work_begin:
      case RawKind::omp_sync_begin:
      case RawKind::omp_wait_begin:
      case RawKind::omp_masked_begin:
      case RawKind::omp_cancel:
      case RawKind::omp_reduction_begin:
      case RawKind::omp_target_begin:
        see_code(record.w[0]);
        break;
      case RawKind::omp_mutex_acquire:
      case RawKind::omp_nest_lock:
        see_code(record.w[1]);
        break;
      case RawKind::omp_task_create:
        survey.task_code[record.w[0]] = record.w[1];
        survey.task_creators[record.w[0] >> kTaskCreatorShift] = thread_;
        see_code(record.w[1]);
        break;
      default:
        break;
    }
  }

  void see_object(const RawRecord& record) {
    Survey& survey = result_.survey;
    if (record.kind == RawKind::rma_win_def) {
      survey.windows.push_back({record.ticks, record.arg, static_cast<uint32_t>(record.w[0])});
    } else if (record.kind == RawKind::file_def) {
      const size_t length =
          std::min<size_t>(record.w[0] >> 32, (size_t{record.words} - 1) * sizeof(uint64_t));
      survey.files.push_back({record.ticks,
                              record.arg,
                              static_cast<uint32_t>(record.w[0]),
                              {reinterpret_cast<const char*>(record.w + 1), length}});
    } else if (record.kind == RawKind::rma_epoch && epoch_.add(record) && !epoch_.ranks().empty()) {
      survey.epoch_groups.emplace(record.arg, epoch_.ranks());
    }
  }

  void see_other(const RawRecord& record) {
    if (record.kind == RawKind::sample) {
      ++result_.tool.paths;
    } else if (record.kind == RawKind::user_enter) {
      ++result_.tool.paths;
    } else if (record.kind == RawKind::func_enter) {
      if (record.w[0] != 0)
        see_code(record.w[0] + 1);  // an entry, where others are return addresses
      see_code(record.w[1]);
    } else if (record.kind == RawKind::recording_off || record.kind == RawKind::recording_on) {
      result_.survey.switches.push_back({record.w[0], record.kind == RawKind::recording_on});
    } else if (record.kind == RawKind::tool_begin) {
      tool_begin_ = record.ticks;
    } else if (record.kind == RawKind::tool_end && tool_begin_ != 0) {
      result_.tool.ticks += record.ticks - std::min(tool_begin_, record.ticks);
      tool_begin_ = 0;
    } else if (record.kind == RawKind::device_enter) {
      ++result_.tool.paths;
      device_enter_ = record.ticks;
    } else if (record.kind == RawKind::device_launch) {
      result_.survey.device_launches.try_emplace(record.w[0], device_enter_);
    } else if (record.kind == RawKind::cpu_time) {
      result_.core_use.on_core_ns = earlier_.on_core_ns + record.w[0];
      result_.core_use.without_ns = earlier_.without_ns + record.w[1];
      result_.core_use.until_ticks = record.ticks;
    } else if (record.kind == RawKind::thread_ended) {
      ended_ = record.ticks;
    } else if (record.kind == RawKind::thread_begun) {
      if (ended_ != 0) begin_next_thread(record.ticks);
      see_code(record.w[0] + 1);  // an entry, where others are return addresses
    } else if (record.kind == RawKind::blocked) {
      ++result_.tool.paths;
      result_.core_use.blocked_ticks += record.w[0] - std::min(began_to_block(record), record.w[0]);
    } else if (record.kind == RawKind::woke) {
      ++result_.tool.paths;
    } else if (record.kind == RawKind::clock_met) {
      result_.survey.clock_meetings.push_back({record.arg, record.w[0], record.w[1], record.w[2]});
    }
  }

  /// What the kernel tells of a thread begins anew with the next one of the log; in between there
  /// was none that could have had a core.
  void begin_next_thread(uint64_t ticks) {
    earlier_ = result_.core_use;
    result_.core_use.blocked_ticks += ticks - std::min(ticks, ended_);
    ended_ = 0;
  }

  void see_code(uint64_t address) {
    if (address != 0) result_.survey.addresses.insert(address);
  }

  void begin_comm(const RawRecord& record) {
    CommDefinition comm;
    comm.ticks = record.ticks;
    comm.comm = record.arg;
    comm.parent = static_cast<uint32_t>(record.w[0]);
    comm.origin = static_cast<RawCommOrigin>(record.flags);
    local_ = record.w[0] >> 32;
    remote_ = record.w[1];
    unpack_ranks(record, 2, local_ + remote_, ranks_);
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

  void link_comm(const RawRecord& record) {
    auto& comms = result_.survey.comms;
    if (comms.empty() || comms.back().comm != record.arg || record.words < 3) return;
    CommDefinition& comm = comms.back();
    comm.link = static_cast<trace::RawCommLink>(record.flags);
    comm.key = record.w[0];
    comm.entered = record.w[1];
    if (record.w[2] < comm.members.size()) comm.root = static_cast<uint32_t>(record.w[2]);
  }

  ThreadSurvey result_;
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
  merge_by_time(windows, other.windows);
  merge_by_time(files, other.files);
  epoch_groups.merge(other.epoch_groups);
  for (const auto& [number, region] : other.regions) {
    ParallelRegion& mine = regions[number];
    if (region.code != 0) mine.code = region.code;
    if (region.end_ticks != 0) mine.end_ticks = region.end_ticks;
    mine.team_size = std::max(mine.team_size, region.team_size);
    mine.league = mine.league || region.league;
    mine.by_new_initial = mine.by_new_initial || region.by_new_initial;
    mine.forked = mine.forked || region.forked;
  }
  task_code.merge(other.task_code);
  std::move(other.clock_meetings.begin(), other.clock_meetings.end(),
            std::back_inserter(clock_meetings));
  task_creators.merge(other.task_creators);
  switches.insert(switches.end(), other.switches.begin(), other.switches.end());
  std::stable_sort(switches.begin(), switches.end(),
                   [](const Switch& a, const Switch& b) { return a.ticks < b.ticks; });
  rank_sets.merge(other.rank_sets);
  device_launches.merge(other.device_launches);
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
  std::map<std::tuple<uint32_t, uint64_t, bool>, uint32_t> seen;
  std::unordered_map<uint64_t, uint32_t> pairs;
  for (const PartitionedInit& one : partitioned) {
    pairs[one.number] = ++seen[{one.comm, one.peer_and_tag, one.sends}];
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
