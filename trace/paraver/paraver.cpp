// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Tasks of all applications are the processes of the job, in their order. Each application has a
// world of its own.
#include "trace/paraver/paraver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/memory.h"
#include "trace/imported/packed_file.h"
#include "trace/imported/source.h"
#include "trace/paraver/labels.h"
#include "trace/paraver/messages.h"
#include "trace/paraver/records.h"
#include "trace/paraver/teams.h"
#include "trace/paraver/thread_builder.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

using TaskKey = std::pair<uint32_t, uint32_t>;  ///< application and task

class JobBuilder {
 public:
  JobBuilder(const fs::path& file, ParaverRecords records, const ParaverLabels& labels)
      : file_(file.string()), records_(std::move(records)), labels_(labels) {}

  void build() {
    number_processes();
    count_names();
    make_communicators();
    places_.resize(records_.threads.size());
    for (const auto& [task, process] : process_of_) build_process(task, process);
    lost_messages_ = add_messages(records_.messages, places_, processes_);
  }

  std::vector<ImportedProcess> processes() { return std::move(processes_); }
  std::vector<ImportedComm> comms() { return std::move(comms_); }
  uint64_t lost_messages() const { return lost_messages_; }

  /// Whether anybody could be seen to wait: there are calls of MPI, teams, or devices.
  bool says_who_waits() const {
    return std::any_of(places_.begin(), places_.end(),
                       [](const ThreadPlace& place) {
                         return !place.built.mpi.empty() || !place.built.regions.empty();
                       }) ||
           std::any_of(processes_.begin(), processes_.end(),
                       [](const ImportedProcess& process) { return !process.queues.empty(); });
  }

 private:
  void number_processes() {
    for (const ParaverThread& thread : records_.threads) {
      process_of_.try_emplace({thread.application, thread.task}, 0);
    }
    uint32_t next = 0;
    for (auto& [task, process] : process_of_) process = next++;
    processes_.resize(next);
    threads_of_.resize(next);
    for (uint32_t t = 0; t < records_.threads.size(); ++t) {
      const ParaverThread& thread = records_.threads[t];
      threads_of_[process_of_.at({thread.application, thread.task})].push_back(t);
    }
  }

  void make_communicators() {
    for (const auto& [task, process] : process_of_) {
      const auto [world, fresh] =
          worlds_.try_emplace(task.first, static_cast<uint32_t>(comms_.size()));
      if (fresh) {
        const bool first = comms_.empty();
        comms_.push_back(
            {first ? "MPI_COMM_WORLD" : fmt::format("MPI_COMM_WORLD of application {}", task.first),
             first ? CommKind::mpi_world : CommKind::mpi,
             {}});
      }
      comms_[world->second].members.push_back(process);
    }
    for (const ParaverCommunicator& comm : records_.communicators) {
      ImportedComm made{fmt::format("communicator {}", comm.number), CommKind::mpi, {}};
      for (uint32_t task : comm.tasks) {
        const auto member = process_of_.find({comm.application, task});
        if (member != process_of_.end()) made.members.push_back(member->second);
      }
      if (made.members.size() != comm.tasks.size() || made.members.size() < 2) continue;
      std::vector<uint32_t> sorted = made.members;
      std::sort(sorted.begin(), sorted.end());
      if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) continue;
      const auto world = worlds_.find(comm.application);
      const bool is_world = made.members == comms_[world->second].members &&
                            worlds_named_.emplace(comm.application, comm.number).second;
      const uint32_t place = is_world ? world->second : static_cast<uint32_t>(comms_.size());
      comm_of_.try_emplace({comm.application, comm.number}, place);
      if (!is_world) comms_.push_back(std::move(made));
    }
  }

  void build_process(TaskKey task, uint32_t index) {
    ImportedProcess& process = processes_[index];
    process.file = file_;
    process.rank = index;
    process.main_thread = 1;
    process.node = node_of(task);
    ImportedRegions regions(process.regions);
    uint64_t numbers = 0;
    const uint32_t world = worlds_.at(task.first);
    const ThreadBuilder::CommOf comm_of = [&](uint64_t number) -> std::optional<uint32_t> {
      const auto known = comm_of_.find({task.first, number});
      if (known != comm_of_.end()) return known->second;
      // Traces without a list of communicators have nothing but the world.
      return comm_of_.empty() ? std::optional(world) : std::nullopt;
    };
    const auto& members = comms_[world].members;
    const auto rank = static_cast<uint32_t>(
        std::lower_bound(members.begin(), members.end(), index) - members.begin());
    std::vector<TeamThread> team;
    for (const uint32_t t : threads_of_[index]) {
      ParaverThread& thread = records_.threads[t];
      ThreadBuilder builder(labels_, process, regions, numbers, comm_of, world);
      places_[t] = {index, rank, world, thread.thread, builder.build(thread)};
      thread.events = {};
      const uint64_t name = first_name_.at(task) + thread.thread - 1;
      if (name < labels_.threads.size()) {
        process.threads[thread.thread].name = labels_.threads[name];
      }
      team.push_back({thread.thread, &places_[t].built});
    }
    add_teams(team, process, regions, numbers);
  }

  std::string node_of(TaskKey task) const {
    const uint64_t node = records_.header.applications[task.first - 1][task.second - 1].node;
    if (node == 0) return {};
    return node <= labels_.nodes.size() ? labels_.nodes[node - 1] : fmt::format("node {}", node);
  }

  /// The .row names threads in the order in which the header counts them.
  void count_names() {
    uint64_t place = 0;
    for (uint32_t a = 0; a < records_.header.applications.size(); ++a) {
      const std::vector<ParaverTask>& tasks = records_.header.applications[a];
      for (uint32_t t = 0; t < tasks.size(); ++t) {
        const TaskKey task(a + 1, t + 1);
        if (process_of_.contains(task)) first_name_[task] = place;
        // More than there are names is as good as any number.
        place += std::min<uint64_t>(tasks[t].threads, labels_.threads.size() + 1);
      }
    }
  }

  const std::string file_;
  ParaverRecords records_;
  const ParaverLabels& labels_;
  std::map<TaskKey, uint32_t> process_of_;
  std::vector<std::vector<uint32_t>> threads_of_;  ///< by process
  std::map<TaskKey, uint64_t> first_name_;         ///< of a task's threads
  std::map<uint32_t, uint32_t> worlds_;            ///< by application
  std::map<uint32_t, uint64_t> worlds_named_;      ///< the trace's number of them
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> comm_of_;
  std::vector<ImportedProcess> processes_;
  std::vector<ImportedComm> comms_;
  std::vector<ThreadPlace> places_;  ///< by thread of the trace
  uint64_t lost_messages_ = 0;
};

/// What users should know of what was left out.
void add_notes(const ParaverRecords& records, std::vector<std::string>& notes) {
  uint64_t events = 0;
  for (const auto& [type, count] : records.skipped_types) events += count;
  if (events == 0) return;
  notes.push_back(
      fmt::format("The trace holds {} events of {} types whose meaning is not known "
                  "here (the first: {}): they were left out.",
                  events, records.skipped_types.size(), records.skipped_types.begin()->first));
}

}  // namespace

Result<std::unique_ptr<Source>> open_paraver(const fs::path& file, unsigned threads, Losses& losses,
                                             std::vector<std::string>& notes) {
  const auto refused = [&](std::string_view why) {
    return Error{"cannot read the trace " + file.string() + ": " + std::string(why)};
  };
  auto packed = PackedFile::open(file);
  if (!packed) return packed.error();
  const ParaverLabels labels = read_paraver_labels(file);
  if (!labels.has_values) {
    return refused(
        "the .pcf file that Extrae writes beside it, which names its events, is missing");
  }
  auto records = read_paraver_records(*packed, available_memory() / 3 / sizeof(ImportedAct));
  if (!records) return refused(records.error().sentence);
  losses.add(LossKind::truncated_locations, records->cut);
  losses.add(LossKind::skipped_records, records->bad_lines);
  add_notes(*records, notes);
  JobBuilder builder(file, std::move(*records), labels);
  builder.build();
  if (!builder.says_who_waits()) {
    return refused(
        "it holds no calls of MPI, no parallel regions, and no operations of devices, so nobody is "
        "seen to wait");
  }
  if (builder.lost_messages() > 0) {
    notes.push_back(
        fmt::format("{} messages belong to no call of MPI in the trace: they were left "
                    "out.",
                    builder.lost_messages()));
  }
  return make_source(builder.processes(), "Extrae", threads, losses, notes, builder.comms());
}

}  // namespace culprit::trace
