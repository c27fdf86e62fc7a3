// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of tables end in an identifier of the process, so that files can be merged. A call and what
// it hands over share the number of their events' stack. Schema version 3: later ones keep times in
// a table of their own.
#include "trace/rocpd/rocpd.h"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "trace/device_calls.h"
#include "trace/imported/table_rows.h"
#include "trace/operation_names.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRegions = "rocpd_region";
constexpr std::string_view kMoments = "rocpd_timestamp";  ///< of later versions

/// What the names of all tables of a process end in.
std::vector<std::string> identifiers(Database& database, std::string_view table) {
  std::vector<std::string> found;
  Statement names(database, "SELECT name FROM sqlite_schema WHERE type = 'table'");
  while (names.next()) {
    const std::string name = names.text();
    if (!name.starts_with(table)) continue;
    const std::string rest = name.substr(table.size());
    const bool plain = rest.find_first_not_of(
                           "0123456789abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == rest.npos;
    if (plain && (rest.empty() || rest.front() == '_')) found.push_back(rest);
  }
  return found;
}

CopyDirection direction_of(std::string_view name) {
  constexpr std::pair<std::string_view, CopyDirection> kDirections[] = {
      {"HOST_TO_DEVICE", CopyDirection::to_device},
      {"DEVICE_TO_HOST", CopyDirection::from_device},
      {"DEVICE_TO_DEVICE", CopyDirection::within_device},
      {"HOST_TO_HOST", CopyDirection::within_host},
  };
  for (const auto& [part, direction] : kDirections) {
    if (name.find(part) != name.npos) return direction;
  }
  return CopyDirection::none;
}

enum class Named : uint8_t { call, function, kernel, copy };

/// Reads the tables of one process.
class ProcessReader {
 public:
  ProcessReader(Database& database, std::string identifier)
      : database_(database), identifier_(std::move(identifier)), regions_(process_.regions) {}

  ImportedProcess read(const fs::path& file) {
    process_.file = file.string();
    read_texts("rocpd_string", "string", strings_);
    read_texts("rocpd_info_kernel_symbol", "display_name", kernels_);
    read_info();
    TableRows events(database_, table("rocpd_event"), {"id", "stack_id"});
    while (events.next()) {
      const int64_t id = events.integer();
      stacks_.emplace(id, events.number());
    }
    read_calls();
    read_kernels();
    read_copies();
    return std::move(process_);
  }

 private:
  using Texts = std::unordered_map<int64_t, std::string>;

  std::string table(const char* name) const { return name + identifier_; }

  void read_texts(const char* name, const char* column, Texts& texts) {
    TableRows rows(database_, table(name), {"id", column});
    while (rows.next()) {
      const int64_t id = rows.integer();
      texts.emplace(id, rows.text());
    }
  }

  void read_info() {
    TableRows agents(database_, table("rocpd_info_agent"), {"id", "product_name", "name"});
    while (agents.next()) {
      const uint64_t id = agents.number();
      const std::string product = agents.text();
      process_.device_names.emplace(id, product.empty() ? agents.text() : product);
    }
    TableRows nodes(database_, table("rocpd_info_node"), {"hostname"});
    if (nodes.next()) process_.node = nodes.text();
    TableRows processes(database_, table("rocpd_info_process"), {"id", "pid", "command"});
    while (processes.next()) {
      processes.integer();
      const int64_t pid = processes.integer();
      process_.program = processes.text();
      main_ = pid;
    }
    TableRows threads(database_, table("rocpd_info_thread"), {"id", "tid", "name"});
    while (threads.next()) {
      const int64_t id = threads.integer();
      if (threads.integer() == main_) process_.main_thread = id;
      process_.threads[id].name = threads.text();
    }
  }

  static const std::string& text_of(const Texts& texts, int64_t id) {
    static const std::string kNone;
    const auto found = texts.find(id);
    return found != texts.end() ? found->second : kNone;
  }
  uint64_t stack_of(int64_t event) const {
    const auto found = stacks_.find(event);
    return found != stacks_.end() ? found->second : 0;
  }

  void read_calls() {
    TableRows rows(database_, table("rocpd_region"),
                   {"tid", "start", "end", "name_id", "event_id"});
    while (rows.next()) {
      const int64_t thread = rows.integer();
      ImportedCall call;
      call.begin = rows.integer();
      call.end = rows.integer();
      const std::string_view name = without_version(text_of(strings_, rows.integer()));
      call.number = stack_of(rows.integer());
      const bool is_call = is_runtime_call(name);
      call.region =
          is_call ? regions_.of(name, static_cast<uint32_t>(Named::call), imported_device_call)
                  : regions_.of(name, static_cast<uint32_t>(Named::function),
                                [](std::string_view text) { return imported_function(text); });
      process_.threads[thread].calls.push_back(call);
    }
  }

  void add(ImportedOperation operation, uint64_t device, std::optional<int64_t> stream,
           std::optional<int64_t> queue) {
    process_.queues[{device, 0, stream ? *stream : queue.value_or(0)}].push_back(operation);
  }

  void read_kernels() {
    TableRows rows(database_, table("rocpd_kernel_dispatch"),
                   {"start", "end", "agent_id", "kernel_id", "event_id", "stream_id", "queue_id"});
    while (rows.next()) {
      ImportedOperation kernel;
      kernel.begin = rows.integer();
      kernel.end = rows.integer();
      const uint64_t device = rows.number();
      kernel.region =
          regions_.of(text_of(kernels_, rows.integer()), static_cast<uint32_t>(Named::kernel),
                      [](std::string_view name) { return imported_kernel(name, kHipParadigm); });
      kernel.correlation = stack_of(rows.integer());
      const auto stream = rows.maybe(), queue = rows.maybe();
      add(kernel, device, stream, queue);
    }
  }

  void read_copies() {
    TableRows rows(database_, table("rocpd_memory_copy"),
                   {"start", "end", "dst_agent_id", "src_agent_id", "name_id", "size", "event_id",
                    "stream_id", "queue_id"});
    while (rows.next()) {
      ImportedOperation copy;
      copy.begin = rows.integer();
      copy.end = rows.integer();
      const uint64_t target = rows.number(), source = rows.number();
      copy.kind = DeviceOpKind::copy;
      copy.direction = direction_of(text_of(strings_, rows.integer()));
      copy.bytes = rows.number();
      copy.correlation = stack_of(rows.integer());
      copy.region = regions_.of(operation_name(copy.kind, copy.direction),
                                static_cast<uint32_t>(Named::copy), [&](std::string_view) {
                                  return imported_transfer(copy.kind, copy.direction, kHipParadigm);
                                });
      const auto stream = rows.maybe(), queue = rows.maybe();
      add(copy, copy.direction == CopyDirection::from_device ? source : target, stream, queue);
    }
  }

  Database& database_;
  const std::string identifier_;
  ImportedProcess process_;
  ImportedRegions regions_;
  Texts strings_, kernels_;
  std::unordered_map<int64_t, uint64_t> stacks_;  ///< by event
  int64_t main_ = 0;
};

}  // namespace

bool is_rocpd(Database& database) {
  return !identifiers(database, kRegions).empty();
}

Result<std::vector<ImportedProcess>> read_rocpd(const fs::path& file, Database& database) {
  const auto refused = [&](std::string_view why) {
    return Error{"cannot read the trace " + file.string() + ": " + std::string(why)};
  };
  if (!identifiers(database, kMoments).empty()) {
    return refused(
        "it is of a version of rocpd that is not known yet: let rocprofv3 write "
        "`--output-format otf2`");
  }
  std::vector<ImportedProcess> processes;
  bool operations = false, calls = false;
  for (const std::string& identifier : identifiers(database, kRegions)) {
    processes.push_back(ProcessReader(database, identifier).read(file));
    operations = operations || !processes.back().queues.empty();
    calls = calls || !processes.back().threads.empty();
  }
  if (!database.ok()) return refused("it is damaged (" + database.failure() + ")");
  if (!operations || !calls) {
    return refused(
        "it does not hold both the operations of devices and the calls of the host: "
        "record with `rocprofv3 --sys-trace`");
  }
  return processes;
}

}  // namespace culprit::trace
