// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Versions of Nsight Systems differ in the tables that they export and in the columns of these: a
// table or a column that is not there is empty. Rows are in no order. Threads and processes are
// numbered by 64 bits that hold the machine, the process and the thread.
#include "trace/nsight/nsight.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/device_calls.h"
#include "trace/imported/table_rows.h"
#include "trace/operation_names.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kThreadMask = 0xffffff;  ///< of a globalTid: the thread's part

/// Values of CUPTI and of Nsight Systems, by their numbers in the tables.
CopyDirection direction_of(int64_t kind) {
  constexpr CopyDirection kDirections[] = {
      CopyDirection::none,          CopyDirection::to_device,      CopyDirection::from_device,
      CopyDirection::to_device,     CopyDirection::from_device,    CopyDirection::within_device,
      CopyDirection::within_device, CopyDirection::within_device,  CopyDirection::within_device,
      CopyDirection::within_host,   CopyDirection::between_devices};
  const bool known = kind >= 0 && kind < static_cast<int64_t>(std::size(kDirections));
  return known ? kDirections[kind] : CopyDirection::none;
}

HostMemory memory_of(int64_t kind) {
  switch (kind) {
    case 0:
      return HostMemory::pageable;
    case 1:
      return HostMemory::pinned;
    case 4:
    case 6:
      return HostMemory::managed;
    default:
      return HostMemory::unknown;
  }
}

/// Categories of regions.
enum class Named : uint8_t { call, system, range, kernel, copy, fill, graph };

/// A process of the export, while it is read.
struct Draft {
  ImportedProcess process;
  ImportedRegions regions{process.regions};
  uint64_t operations = 0, calls = 0;
};

/// Makes processes of one export.
class ExportReader {
 public:
  ExportReader(const fs::path& file, Database& database) : file_(file), database_(database) {}

  Result<std::vector<ImportedProcess>> read();

 private:
  Draft& process_of(uint64_t global);
  ImportedThread& thread_of(Draft& draft, uint64_t global) {
    return draft.process.threads[static_cast<int64_t>(global & kThreadMask)];
  }
  const std::string& string(std::optional<int64_t> id) const;
  RegionId call_region(Draft& draft, int64_t name);
  void read_strings();
  void read_devices();
  void read_names();
  void read_calls();
  void read_system_calls();
  void read_ranges();
  void read_kernels();
  void read_copies();
  void read_fills();
  void read_graphs();
  void read_syncs();
  void read_recordings();
  void read_ranks();
  void add(Draft& draft, const QueueKey& queue, ImportedOperation operation);
  Error refused(std::string_view why) const {
    return Error{"cannot read the trace " + file_.string() + ": " + std::string(why)};
  }

  const fs::path& file_;
  Database& database_;
  std::unordered_map<int64_t, std::string> strings_;
  std::map<uint64_t, std::string> devices_;
  std::string host_;
  std::map<uint64_t, std::unique_ptr<Draft>> processes_;  ///< by globalPid
  struct Recording {
    uint64_t call;
    QueueKey queue;
  };
  /// By process and the event's number of synchronization.
  std::map<std::pair<uint64_t, int64_t>, Recording> recordings_;
};

Draft& ExportReader::process_of(uint64_t global) {
  std::unique_ptr<Draft>& draft = processes_[global & ~kThreadMask];
  if (!draft) {
    draft = std::make_unique<Draft>();
    draft->process.file = file_.string();
    draft->process.main_thread = static_cast<int64_t>(global >> 24 & kThreadMask);
    draft->process.node = host_;
    draft->process.device_names = devices_;
  }
  return *draft;
}

const std::string& ExportReader::string(std::optional<int64_t> id) const {
  static const std::string kNone;
  const auto found = id ? strings_.find(*id) : strings_.end();
  return found != strings_.end() ? found->second : kNone;
}

void ExportReader::read_strings() {
  TableRows rows(database_, "StringIds", {"id", "value"});
  while (rows.next()) {
    const int64_t id = rows.integer();
    strings_.emplace(id, rows.text());
  }
}

void ExportReader::read_devices() {
  TableRows rows(database_, "TARGET_INFO_GPU", {"id", "name"});
  while (rows.next()) {
    const auto id = rows.number();
    devices_.emplace(id, rows.text());
  }
  TableRows facts(database_, "TARGET_INFO_SYSTEM_ENV", {"name", "value"});
  while (facts.next()) {
    if (facts.text() == "Hostname") host_ = facts.text();
  }
}

void ExportReader::read_names() {
  TableRows rows(database_, "ThreadNames", {"globalTid", "nameId"});
  while (rows.next()) {
    const auto global = rows.number();
    const auto process = processes_.find(global & ~kThreadMask);
    if (process == processes_.end()) continue;
    const auto thread =
        process->second->process.threads.find(static_cast<int64_t>(global & kThreadMask));
    if (thread != process->second->process.threads.end())
      thread->second.name = string(rows.maybe());
  }
}

RegionId ExportReader::call_region(Draft& draft, int64_t name) {
  return draft.regions.of(without_version(string(name)), static_cast<uint32_t>(Named::call),
                          imported_device_call);
}

void ExportReader::read_calls() {
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_RUNTIME",
                 {"start", "end", "globalTid", "correlationId", "nameId"});
  while (rows.next()) {
    ImportedCall call;
    call.begin = rows.integer();
    call.end = rows.integer();
    const auto global = rows.number();
    call.number = rows.number();
    Draft& draft = process_of(global);
    call.region = call_region(draft, rows.integer());
    ++draft.calls;
    thread_of(draft, global).calls.push_back(call);
  }
}

void ExportReader::read_system_calls() {
  TableRows rows(database_, "OSRT_API", {"start", "end", "globalTid", "nameId"});
  while (rows.next()) {
    ImportedCall call;
    call.begin = rows.integer();
    call.end = rows.integer();
    const auto global = rows.number();
    const std::string& name = string(rows.maybe());
    // Threads of the tool and of the driver make calls of the system alone.
    const auto process = processes_.find(global & ~kThreadMask);
    if (process == processes_.end()) continue;
    Draft& draft = *process->second;
    const auto thread = draft.process.threads.find(static_cast<int64_t>(global & kThreadMask));
    if (thread == draft.process.threads.end()) continue;
    call.region = draft.regions.of(name, static_cast<uint32_t>(Named::system),
                                   [](std::string_view text) { return imported_function(text); });
    thread->second.calls.push_back(call);
  }
}

void ExportReader::read_ranges() {
  constexpr int64_t kPushed = 59;
  TableRows rows(database_, "NVTX_EVENTS",
                 {"start", "end", "eventType", "globalTid", "text", "textId"});
  while (rows.next()) {
    ImportedCall call;
    const auto begin = rows.maybe(), end = rows.maybe(), type = rows.maybe(), global = rows.maybe();
    const std::string text = rows.text();
    const std::string& name = text.empty() ? string(rows.maybe()) : text;
    if (!begin || !end || !global || type.value_or(kPushed) != kPushed) continue;
    call.begin = *begin;
    call.end = *end;
    Draft& draft = process_of(static_cast<uint64_t>(*global));
    call.region = draft.regions.of(name, static_cast<uint32_t>(Named::range), imported_user_region);
    thread_of(draft, static_cast<uint64_t>(*global)).calls.push_back(call);
  }
}

void ExportReader::add(Draft& draft, const QueueKey& queue, ImportedOperation operation) {
  ++draft.operations;
  draft.process.queues[queue].push_back(operation);
}

/// The columns that all tables of operations begin with here.
#define OPERATION_COLUMNS \
  "start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid"

struct OperationRow {
  ImportedOperation operation;
  QueueKey queue;
  uint64_t process;

  explicit OperationRow(TableRows& rows) {
    operation.begin = rows.integer();
    operation.end = rows.integer();
    queue.device = rows.number();
    queue.context = rows.number();
    queue.stream = rows.integer();
    operation.correlation = rows.number();
    process = rows.number();
  }
};

void ExportReader::read_kernels() {
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_KERNEL",
                 {OPERATION_COLUMNS, "demangledName", "shortName"});
  while (rows.next()) {
    OperationRow row(rows);
    Draft& draft = process_of(row.process);
    const auto full = rows.maybe(), brief = rows.maybe();
    row.operation.region = draft.regions.of(
        string(full ? full : brief), static_cast<uint32_t>(Named::kernel),
        [](std::string_view name) { return imported_kernel(name, Paradigm::cuda); });
    add(draft, row.queue, row.operation);
  }
}

void ExportReader::read_copies() {
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_MEMCPY",
                 {OPERATION_COLUMNS, "bytes", "copyKind", "srcKind", "dstKind"});
  while (rows.next()) {
    OperationRow row(rows);
    Draft& draft = process_of(row.process);
    ImportedOperation& copy = row.operation;
    copy.kind = DeviceOpKind::copy;
    copy.bytes = rows.number();
    copy.direction = direction_of(rows.integer());
    const auto source = rows.maybe(), target = rows.maybe();
    copy.memory =
        memory_of((copy.direction == CopyDirection::from_device ? target : source).value_or(-1));
    copy.region =
        draft.regions.of(operation_name(copy.kind, copy.direction),
                         static_cast<uint32_t>(Named::copy), [&](std::string_view) {
                           return imported_transfer(copy.kind, copy.direction, Paradigm::cuda);
                         });
    add(draft, row.queue, copy);
  }
}

void ExportReader::read_fills() {
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_MEMSET", {OPERATION_COLUMNS, "bytes"});
  while (rows.next()) {
    OperationRow row(rows);
    Draft& draft = process_of(row.process);
    row.operation.kind = DeviceOpKind::fill;
    row.operation.bytes = rows.number();
    row.operation.region = draft.regions.of(
        operation_name(DeviceOpKind::fill), static_cast<uint32_t>(Named::fill),
        [](std::string_view) {
          return imported_transfer(DeviceOpKind::fill, CopyDirection::none, Paradigm::cuda);
        });
    add(draft, row.queue, row.operation);
  }
}

/// Graphs that were recorded as a whole.
void ExportReader::read_graphs() {
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", {OPERATION_COLUMNS, "graphId"});
  while (rows.next()) {
    OperationRow row(rows);
    Draft& draft = process_of(row.process);
    row.operation.kind = DeviceOpKind::graph;
    row.operation.region = draft.regions.of(
        "graph " + std::to_string(rows.integer()), static_cast<uint32_t>(Named::graph),
        [](std::string_view name) { return imported_kernel(name, Paradigm::cuda); });
    add(draft, row.queue, row.operation);
  }
}

void ExportReader::read_recordings() {
  TableRows rows(
      database_, "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
      {"deviceId", "contextId", "streamId", "correlationId", "globalPid", "eventSyncId"});
  while (rows.next()) {
    Recording recording;
    recording.queue.device = rows.number();
    recording.queue.context = rows.number();
    recording.queue.stream = rows.integer();
    recording.call = rows.number();
    const auto process = rows.number();
    if (const auto number = rows.maybe(); number && *number != 0) {
      recordings_[{process & ~kThreadMask, *number}] = recording;
    }
  }
}

/// Some records are of another kind than the call: then they tell neither a stream nor an event.
void ExportReader::read_syncs() {
  using enum ImportedSync::What;
  constexpr ImportedSync::What kKinds[] = {host_for_event, queue_for_event, host_for_queue,
                                           host_for_device};
  TableRows rows(database_, "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                 {"deviceId", "contextId", "streamId", "correlationId", "globalPid", "syncType",
                  "eventSyncId"});
  while (rows.next()) {
    ImportedSync sync;
    sync.queue.device = rows.number();
    sync.queue.context = rows.number();
    sync.queue.stream = rows.integer();
    sync.correlation = rows.number();
    const auto global = rows.number();
    const int64_t kind = rows.integer() - 1;  // CUPTI counts them from 1
    const auto number = rows.maybe();
    if (kind < 0 || kind >= static_cast<int64_t>(std::size(kKinds))) continue;
    sync.what = kKinds[kind];
    const auto recording = recordings_.find({global & ~kThreadMask, number.value_or(0)});
    if (recording != recordings_.end()) {
      sync.recorded_by = recording->second.call;
      sync.recorded_on = recording->second.queue;
    }
    process_of(global).process.syncs.push_back(sync);
  }
}

void ExportReader::read_ranks() {
  TableRows rows(database_, "MPI_RANKS", {"globalPid", "globalTid", "rank"});
  while (rows.next()) {
    const auto process = rows.maybe(), thread = rows.maybe();
    const int64_t rank = rows.integer();
    const auto found = processes_.find(
        static_cast<uint64_t>(process ? *process : thread.value_or(0)) & ~kThreadMask);
    if (found != processes_.end() && rank >= 0) {
      found->second->process.rank = static_cast<uint32_t>(rank);
    }
  }
}

Result<std::vector<ImportedProcess>> ExportReader::read() {
  read_strings();
  read_devices();
  read_calls();
  read_ranges();
  read_system_calls();
  read_kernels();
  read_copies();
  read_fills();
  read_graphs();
  read_recordings();
  read_syncs();
  read_names();
  read_ranks();
  if (!database_.ok()) return refused("it is damaged (" + database_.failure() + ")");
  std::vector<ImportedProcess> found;
  bool calls = false, operations = false;
  for (auto& [global, draft] : processes_) {
    calls = calls || draft->calls > 0;
    operations = operations || draft->operations > 0;
    if (draft->calls + draft->operations > 0) found.push_back(std::move(draft->process));
  }
  if (!operations) {
    return refused(
        "it holds no operation of a device, so nobody is seen to wait: record with "
        "`nsys profile --trace cuda,nvtx,osrt`");
  }
  if (!calls) return refused("it holds operations of devices, but not the calls that launch them");
  return found;
}

}  // namespace

Result<std::vector<ImportedProcess>> read_nsight(const fs::path& file, Database& database) {
  return ExportReader(file, database).read();
}

}  // namespace culprit::trace
