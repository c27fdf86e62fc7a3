// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lists of fields say what is known by all.
#include "assemble/ranks/known_by_all.h"

#include <utility>

#include "base/ranks/fields.h"

namespace culprit::assemble {

template <class Way>
void fields(Way& way, CommDefinition& comm) {
  way(comm.ticks, comm.comm, comm.parent, comm.origin, comm.members, comm.remote, comm.link,
      comm.key, comm.entered, comm.root);
}

template <class Way>
void fields(Way& way, GridDefinition& grid) {
  way(grid.comm, grid.dimensions, grid.coordinates);
}

template <class Way>
void fields(Way& way, GraphDefinition& graph) {
  way(graph.comm, graph.neighbors, graph.all);
}

template <class Way>
void fields(Way& way, FileDefinition& file) {
  way(file.ticks, file.file, file.comm, file.name);
}

template <class Way>
void fields(Way& way, TaskUse& use) {
  way(use.library, use.name, use.on_core_ns, use.without_ns);
}

template <class Way>
void fields(Way& way, Survey& survey) {
  way(survey.comms, survey.grids, survey.graphs, survey.windows, survey.files, survey.epoch_groups);
  way(survey.clock_meetings, survey.node_wakes, survey.node_awaited);
  way(survey.cores_had, survey.tasks, survey.recorders);
  way(survey.last_ticks, survey.last_act_ticks, survey.records, survey.skipped, survey.damaged_logs,
      survey.truncated_comms, survey.unknown_python);
}

template <class Way>
void fields(Way& way, ProcessAccount& account) {
  way(account.survey, account.threads, account.made_tasks);
}

template <class Way>
void fields(Way& way, RecordedDevice& device) {
  way(device.api, device.name, device.identity);
}

template <class Way>
void fields(Way& way, DeviceLane& lane) {
  way(lane.queue, lane.place);
}

template <class Way>
void fields(Way& way, ProcessDevices& devices) {
  way(devices.begun_ticks, devices.left_ticks, devices.devices, devices.queues, devices.lanes,
      devices.overhead_ns, devices.refusals);
}

namespace {

std::vector<uint32_t> numbers_of(const std::vector<RawLog>& logs) {
  std::vector<uint32_t> numbers;
  for (const RawLog& log : logs) numbers.push_back(log.thread());
  return numbers;
}

std::vector<RawLog> empty_logs(const std::vector<uint32_t>& numbers) {
  std::vector<RawLog> logs;
  for (const uint32_t thread : numbers) logs.push_back(RawLog::of(thread, {}));
  return logs;
}

Parcel pack_own(const std::vector<size_t>& owners, size_t rank, const ProcessTables& tables) {
  Packer packer;
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] != rank) continue;
    std::vector<uint32_t> threads = numbers_of(tables.folders[i].logs);
    std::vector<uint32_t> of_devices = numbers_of(tables.folders[i].device_logs);
    FieldPacker way(packer);
    way(i, threads, of_devices, tables.accounts[i], tables.devices[i]);
  }
  return packer.take();
}

}  // namespace

void make_known(Transport& ranks, const std::vector<size_t>& owners, const ProcessTables& tables) {
  const auto parcels = gather_everywhere(ranks, pack_own(owners, ranks.rank(), tables));
  for (size_t rank = 0; rank < parcels.size(); ++rank) {
    if (rank == ranks.rank()) continue;
    for (Unpacker unpacker(parcels[rank]); !unpacker.done();) {
      FieldUnpacker way(unpacker);
      size_t i = 0;
      std::vector<uint32_t> threads, of_devices;
      way(i, threads, of_devices);
      way(tables.accounts[i], tables.devices[i]);
      tables.folders[i].logs = empty_logs(threads);
      tables.folders[i].device_logs = empty_logs(of_devices);
    }
  }
}

}  // namespace culprit::assemble
