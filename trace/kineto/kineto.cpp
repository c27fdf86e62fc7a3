// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What each event of a rank's file is, by its category. Which call launched an operation is known
// by a number that both carry; that a call waits, by its name, and for what, where the profiler was
// asked to record it (enable_cuda_sync_events).
#include "trace/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/memory.h"
#include "base/parallel.h"
#include "trace/device_apis.h"
#include "trace/device_calls.h"
#include "trace/imported/source.h"
#include "trace/kineto/json.h"
#include "trace/operation_names.h"
#include "trace/python/python_module.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;

enum class Category : uint8_t { other, function, python, range, call, kernel, copy, fill, sync };

Category category_of(std::string_view spelling) {
  static const std::unordered_map<std::string_view, Category> kCategories = {
#define CATEGORY(spelling, what) {spelling, Category::what},
#include "trace/kineto/categories.def"
  };
  const auto found = kCategories.find(spelling);
  return found != kCategories.end() ? found->second : Category::other;
}

std::optional<uint64_t> number_behind(std::string_view text, char mark) {
  const size_t at = text.rfind(mark);
  uint64_t number = 0;
  if (at == text.npos) return {};
  const auto [end, code] = std::from_chars(text.data() + at + 1, text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size()) return {};
  return number;
}

/// "randn" of "<built-in method randn of type object>", "Tensor.item" of "<built-in method item of
/// Tensor object>"; of other names all.
std::string name_of_built_in(std::string_view name) {
  constexpr std::string_view kFunction = "<built-in function ", kMethod = "<built-in method ";
  constexpr std::string_view kObject = " object>";
  if (name.starts_with(kFunction) && name.ends_with('>')) {
    return std::string(name.substr(kFunction.size(), name.size() - kFunction.size() - 1));
  }
  if (!name.starts_with(kMethod) || !name.ends_with(kObject)) return std::string(name);
  std::string_view type = name.substr(0, name.size() - kObject.size());
  type.remove_prefix(kMethod.size());
  const size_t of = type.find(" of");
  if (of == 0 || of == type.npos) return std::string(name);  // it has no name
  const std::string_view method = type.substr(0, of);
  type.remove_prefix(std::min(type.size(), of + std::string_view(" of ").size()));
  type.remove_prefix(type.rfind('.') + 1);
  // What belongs to a type is called by that type's own name, which is not told.
  const bool told = !type.empty() && type != "type" && !type.starts_with("pybind11_");
  return told ? fmt::format("{}.{}", type, method) : std::string(method);
}

/// "train.py(12): step" is a function of a file; other names are those of built-in functions, and
/// of modules of neural networks, whose functions follow.
Region python_function(std::string_view name) {
  const size_t colon = name.find("): ");
  const std::string_view place = name.substr(0, colon == name.npos ? 0 : colon);
  const auto line = number_behind(place, '(');
  if (!line || *line > UINT32_MAX) {
    return imported_library_function(name_of_built_in(without_addresses(name)));
  }
  const std::string_view file = place.substr(0, place.rfind('('));
  const PythonModule module = python_module_found_as(file);
  const std::string function =
      python_function_name(without_addresses(name.substr(colon + 3)), module);
  const bool of_library = module.standard || owner_of_python(module.name) != PythonOwner::program;
  const auto describe = of_library ? imported_library_function : imported_function;
  return describe(function, file, static_cast<uint32_t>(*line));
}

CopyDirection direction_of(std::string_view name) {
  constexpr std::pair<std::string_view, CopyDirection> kDirections[] = {
      {"HtoD", CopyDirection::to_device},       {"HostToDevice", CopyDirection::to_device},
      {"DtoH", CopyDirection::from_device},     {"DeviceToHost", CopyDirection::from_device},
      {"DtoD", CopyDirection::within_device},   {"DeviceToDevice", CopyDirection::within_device},
      {"PtoP", CopyDirection::between_devices}, {"PeerToPeer", CopyDirection::between_devices},
      {"HtoH", CopyDirection::within_host},
  };
  for (const auto& [part, direction] : kDirections) {
    if (name.find(part) != name.npos) return direction;
  }
  return CopyDirection::none;
}

HostMemory memory_of(std::string_view name) {
  if (name.find("Pageable") != name.npos) return HostMemory::pageable;
  if (name.find("Pinned") != name.npos) return HostMemory::pinned;
  if (name.find("Managed") != name.npos || name.find("Unified") != name.npos) {
    return HostMemory::managed;
  }
  return HostMemory::unknown;
}

Error cannot_read(const fs::path& file, std::string_view why) {
  return Error{fmt::format("cannot read the trace {}: {}", file.string(), why)};
}

/// An iteration that PyTorch's profiler marks, `ProfilerStep#12`.
constexpr std::string_view kStep = "ProfilerStep#";

/// Makes a process of a file's events.
class RankReader {
 public:
  /// `most`: of events that may be kept, as the memory allows.
  RankReader(const fs::path& file, uint64_t most) : regions_(process_.regions), most_(most) {
    process_.file = file.string();
  }

  Result<ImportedProcess> read(const fs::path& file);

 private:
  bool see(const KinetoEvent& event);
  void see_metadata(const KinetoEvent& event);
  void see_call(const KinetoEvent& event, Category category, ImportedSpan span);
  void see_operation(const KinetoEvent& event, Category category, ImportedSpan span);
  void see_sync(const KinetoEvent& event);
  RegionId region_of_call(const KinetoEvent& event, Category category);
  RegionId region_of_operation(const KinetoEvent& event, Category category,
                               CopyDirection direction);
  QueueKey queue_of(const KinetoEvent& event, int64_t stream) const;
  std::string refusal(KinetoEnd end) const;
  void finish(const KinetoFacts& facts);

  ImportedProcess process_;
  ImportedRegions regions_;
  KinetoFacts facts_;
  Paradigm runtime_ = Paradigm::unknown;  ///< of the calls
  const uint64_t most_;
  uint64_t events_ = 0, operations_ = 0, host_events_ = 0, calls_ = 0, without_times_ = 0;
};

bool RankReader::see(const KinetoEvent& event) {
  ++events_;
  const Category category = event.phase == "X" ? category_of(event.category) : Category::other;
  if (event.phase == "M") see_metadata(event);
  if (category == Category::other) return true;
  if (category == Category::sync) {
    see_sync(event);
  } else if (!event.begin || !event.duration) {
    ++without_times_;
  } else {
    const ImportedSpan span{*event.begin, *event.begin + *event.duration};
    if (category >= Category::kernel) {
      see_operation(event, category, span);
    } else {
      see_call(event, category, span);
    }
  }
  return operations_ + host_events_ + process_.syncs.size() < most_;
}

void RankReader::see_metadata(const KinetoEvent& event) {
  if (event.name == "thread_name" && event.thread && event.process == process_.main_thread) {
    process_.threads[*event.thread].name = event.label;
  }
}

RegionId RankReader::region_of_call(const KinetoEvent& event, Category category) {
  std::string_view name = event.name;
  if (category == Category::call) name = without_version(name);
  const auto kind = static_cast<uint32_t>(category);
  return regions_.of(name, kind, [&](std::string_view text) {
    switch (category) {
      case Category::call:
        return imported_device_call(text);
      case Category::python:
        return python_function(text);
      case Category::range:
        return imported_user_region(text);
      default:
        return imported_library_function(text);
    }
  });
}

void RankReader::see_call(const KinetoEvent& event, Category category, ImportedSpan span) {
  if (!event.thread) return;
  ++host_events_;
  if (process_.main_thread == 0) process_.main_thread = event.process.value_or(0);
  ImportedCall call{span, {}, 0};
  if (category == Category::range && event.name.starts_with(kStep)) {
    const std::string_view name = kStep.substr(0, kStep.size() - 1);
    call.number = number_behind(event.name, kStep.back()).value_or(0);
    call.region = regions_.of(name, static_cast<uint32_t>(Category::other), imported_iteration);
  } else {
    call.region = region_of_call(event, category);
  }
  if (category == Category::call) {
    ++calls_;
    call.number = static_cast<uint64_t>(std::max<int64_t>(event.correlation.value_or(0), 0));
    const Paradigm paradigm = process_.regions[call.region.index()].paradigm;
    if (runtime_ == Paradigm::unknown) runtime_ = paradigm;
  }
  process_.threads[*event.thread].calls.push_back(call);
}

/// NCCL's own names of operations, as PyTorch spells them.
std::string_view operation_of(std::string_view collective) {
  constexpr std::pair<std::string_view, std::string_view> kOperations[] = {
      {"reduce_scatter", "ReduceScatter"}, {"allreduce", "AllReduce"},  {"all_reduce", "AllReduce"},
      {"allgather", "AllGather"},          {"all_gather", "AllGather"},
  };
  for (const auto& [part, operation] : kOperations) {
    if (collective.find(part) != collective.npos) return operation;
  }
  return collective;
}

/// "ranks 0 and 1" of "[0, 1]".
std::string ranks_in_words(std::string_view ranks) {
  if (ranks.starts_with('[')) ranks.remove_prefix(1);
  if (ranks.ends_with(']')) ranks.remove_suffix(1);
  if (ranks.empty()) return {};
  const size_t last = ranks.rfind(", ");
  if (last == ranks.npos) return fmt::format("rank {}", ranks);
  if (ranks.find("...") != ranks.npos) return fmt::format("ranks {}", ranks);
  return fmt::format("ranks {} and {}", ranks.substr(0, last), ranks.substr(last + 2));
}

/// A kernel that communicates is one of its group: those of other groups wait for others. "tp,
/// ranks 0 and 1" of PyTorch's description; "group 3" of a group that has no description.
std::string kernel_name(const KinetoEvent& event) {
  if (event.group.empty() && event.group_ranks.empty()) return event.name;
  const bool described = !event.group_meaning.empty() && event.group_meaning != "undefined";
  std::string group = described ? event.group_meaning : "group " + event.group;
  const std::string ranks = ranks_in_words(event.group_ranks);
  // Of many ranks only some are listed, which several groups may have in common.
  if (described && ranks.find("...") != ranks.npos) group += fmt::format(", group {}", event.group);
  if (!ranks.empty()) group += ", " + ranks;
  return fmt::format("{} ({} of {})", event.name.substr(0, event.name.find('(')),
                     operation_of(event.collective), group);
}

RegionId RankReader::region_of_operation(const KinetoEvent& event, Category category,
                                         CopyDirection direction) {
  const auto kind = static_cast<uint32_t>(category);
  if (category == Category::kernel) {
    return regions_.of(kernel_name(event), kind,
                       [](std::string_view text) { return imported_kernel(text, Paradigm::cuda); });
  }
  const DeviceOpKind what = category == Category::copy ? DeviceOpKind::copy : DeviceOpKind::fill;
  return regions_.of(operation_name(what, direction), kind, [&](std::string_view) {
    return imported_transfer(what, direction, Paradigm::cuda);
  });
}

QueueKey RankReader::queue_of(const KinetoEvent& event, int64_t stream) const {
  const auto part = [](std::optional<int64_t> number) {
    return static_cast<uint64_t>(std::max<int64_t>(number.value_or(0), 0));
  };
  return {part(event.device), part(event.context), stream};
}

void RankReader::see_operation(const KinetoEvent& event, Category category, ImportedSpan span) {
  ++operations_;
  ImportedOperation operation{span, {}};
  operation.correlation =
      static_cast<uint64_t>(std::max<int64_t>(event.correlation.value_or(0), 0));
  operation.bytes = static_cast<uint64_t>(std::max<int64_t>(event.bytes.value_or(0), 0));
  if (category == Category::copy) {
    operation.kind = DeviceOpKind::copy;
    operation.direction = direction_of(event.name);
    operation.memory = memory_of(event.name);
  } else if (category == Category::fill) {
    operation.kind = DeviceOpKind::fill;
  }
  operation.region = region_of_operation(event, category, operation.direction);
  const int64_t stream = event.stream.value_or(event.thread.value_or(0));
  process_.queues[queue_of(event, stream)].push_back(operation);
}

void RankReader::see_sync(const KinetoEvent& event) {
  if (event.correlation.value_or(0) <= 0) return;
  ImportedSync sync;
  sync.correlation = static_cast<uint64_t>(*event.correlation);
  using enum ImportedSync::What;
  if (event.name == "Stream Sync") {
    sync.what = host_for_queue;
  } else if (event.name == "Context Sync") {
    sync.what = host_for_device;
  } else if (event.name == "Event Sync") {
    sync.what = host_for_event;
  } else if (event.name == "Stream Wait Event") {
    sync.what = queue_for_event;
  } else {
    return;
  }
  sync.queue = queue_of(event, event.stream.value_or(0));
  sync.recorded_by = static_cast<uint64_t>(std::max<int64_t>(event.recorded_by.value_or(0), 0));
  sync.recorded_on = queue_of(event, event.awaited_stream.value_or(0));
  process_.syncs.push_back(sync);
}

/// Why there is nothing to find in the file; empty: there is.
std::string RankReader::refusal(KinetoEnd end) const {
  const bool nothing = operations_ + calls_ == 0;
  if (end == KinetoEnd::absurd && nothing) return "it is no JSON that a profiler writes";
  if (end == KinetoEnd::damaged && events_ == 0) return "it is damaged, or no JSON";
  if (end == KinetoEnd::no_trace || events_ == 0) {
    return "it is JSON, but holds no events of PyTorch's profiler (\"traceEvents\")";
  }
  if (calls_ == 0 && operations_ > 0) {
    return "it holds operations of devices, but not the calls that launch them, so nobody is seen "
           "to wait: profile with ProfilerActivity.CPU and CUDA";
  }
  return "";
}

void RankReader::finish(const KinetoFacts& facts) {
  if (facts.rank && *facts.rank >= 0 && *facts.rank < UINT32_MAX) {
    process_.rank = static_cast<uint32_t>(*facts.rank);
  }
  process_.node = facts.host;
  process_.device_names = facts.devices;
  for (Region& region : process_.regions) {
    const bool of_device =
        region.role == RegionRole::kernel || region.role == RegionRole::data_transfer;
    if (of_device && is_device_api(runtime_)) region.paradigm = runtime_;
  }
  constexpr int64_t kFarthest = int64_t{1} << 61;
  const int64_t base = facts.base_ns.value_or(0);
  if (base <= 0 || base > kFarthest) return;
  const auto shift = [base](ImportedSpan& span) {
    span.begin += base;
    span.end += base;
  };
  for (auto& [key, thread] : process_.threads) {
    for (ImportedCall& call : thread.calls) shift(call);
  }
  for (auto& [key, operations] : process_.queues) {
    for (ImportedOperation& operation : operations) shift(operation);
  }
}

Result<ImportedProcess> RankReader::read(const fs::path& file) {
  auto packed = PackedFile::open(file);
  if (!packed) return packed.error();
  const KinetoEnd end =
      read_kineto_json(*packed, facts_, [this](const KinetoEvent& event) { return see(event); });
  if (end == KinetoEnd::stopped) {
    return cannot_read(file, "it holds more events than fit into the free memory");
  }
  if (const std::string why = refusal(end); !why.empty()) {
    return cannot_read(file, why);
  }
  process_.losses.add(LossKind::truncated_locations, end != KinetoEnd::complete);
  process_.losses.add(LossKind::device_times_missing, without_times_);
  finish(facts_);
  return std::move(process_);
}

}  // namespace

Result<std::unique_ptr<Source>> open_kineto(const std::vector<fs::path>& files, unsigned threads,
                                            Losses& losses, std::vector<std::string>& notes) {
  std::vector<std::optional<Result<ImportedProcess>>> read(files.size());
  const uint64_t most = available_memory() / 2 / sizeof(ImportedOperation) / files.size();
  parallel_for(files.size(), threads,
               [&](size_t i) { read[i] = RankReader(files[i], most).read(files[i]); });
  std::vector<ImportedProcess> processes;
  bool operations = false;
  for (auto& each : read) {
    if (!*each) return each->error();
    operations = operations || !(*each)->queues.empty();
    processes.push_back(std::move(**each));
  }
  if (!operations) {
    return cannot_read(files.front(),
                       "it holds no operation of a device, so nobody is seen to wait: profile with "
                       "ProfilerActivity.CUDA");
  }
  return make_source(std::move(processes), "PyTorch's profiler", threads, losses, notes);
}

}  // namespace culprit::trace
