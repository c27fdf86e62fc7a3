// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread has begun is a stack. Types of events are independent of each other, so that one
// may end something that others were begun in: these end with it.
#include "trace/paraver/thread_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/mpi_calls.h"
#include "trace/openmp_names.h"
#include "trace/operation_names.h"
#include "trace/pseudo_regions.h"

namespace culprit::trace {
namespace {

std::optional<CollectiveOp> collective_of(std::string_view function) {
  using enum CollectiveOp;
  constexpr std::pair<std::string_view, CollectiveOp> kOperations[] = {
#define COLLECTIVE(function, op) {function, op},
#include "trace/paraver/collectives.def"
  };
  const auto* const found = std::find_if(std::begin(kOperations), std::end(kOperations),
                                         [&](const auto& row) { return row.first == function; });
  if (found == std::end(kOperations)) return {};
  return found->second;
}

bool is_operation(EventMeaning meaning) {
  return meaning == EventMeaning::kernel || meaning == EventMeaning::device_copy;
}

Region openmp_region(std::string_view construct, RegionRole role) {
  return {std::string(kConstruct).append(construct), role, Paradigm::openmp, {}, 0};
}

/// A label may go on with the function's place, in brackets.
std::string_view function_of(std::string_view label) {
  const size_t more = label.find(" [");
  return more != label.npos && more > 0 ? label.substr(0, more) : label;
}

/// `line` is the label of a place: the number of the line, then file and path in parentheses.
Region caller_region(std::string_view function, std::string_view line) {
  const auto number = take_number(line);
  const size_t begin = line.find('('), end = line.find_first_of(",)");
  const bool known = number && *number > 0 && *number <= UINT32_MAX && begin != line.npos &&
                     end != line.npos && end > begin;
  if (!known) return imported_function(function);
  return imported_function(function, line.substr(begin + 1, end - begin - 1),
                           static_cast<uint32_t>(*number));
}

}  // namespace

BuiltThread ThreadBuilder::build(const ParaverThread& thread) {
  key_ = thread.thread;
  thread_ = &process_.threads[key_];
  for (const ParaverEvent& event : thread.events) see(event);
  process_.losses.add(LossKind::regions_open_at_end, open_.size());
  while (!open_.empty()) close(thread.last);
  std::sort(built_.mpi.begin(), built_.mpi.end(),
            [](const MpiVisit& a, const MpiVisit& b) { return a.begin < b.begin; });
  if (thread.thread == 1) name_edges(thread);
  return std::move(built_);
}

void ThreadBuilder::see(const ParaverEvent& event) {
  switch (event.meaning) {
    case EventMeaning::sent_bytes:
    case EventMeaning::received_bytes:
    case EventMeaning::is_root:
    case EventMeaning::communicator:
    case EventMeaning::caller:
    case EventMeaning::caller_line:
      return describe(event);
    default:
      return event.value != 0 ? begin(event) : end(event.meaning, event.time);
  }
}

/// Of the call that has begun just now.
void ThreadBuilder::describe(const ParaverEvent& event) {
  if (open_.empty() || open_.back().meaning != EventMeaning::mpi_call) return;
  Open& open = open_.back();
  if (open.call.begin != event.time) return;
  switch (event.meaning) {
    case EventMeaning::sent_bytes:
      open.sent = event.value;
      break;
    case EventMeaning::received_bytes:
      open.received = event.value;
      break;
    case EventMeaning::is_root:
      open.is_root = event.value != 0;
      break;
    case EventMeaning::communicator:
      open.comm = event.value;
      break;
    case EventMeaning::caller:
      open.caller = function_of(labels_.value(event.type, event.value));
      break;
    default:
      open.caller_line = labels_.value(event.type, event.value);
  }
}

RegionId ThreadBuilder::region_of(const ParaverEvent& event, std::string_view name) {
  return regions_.of(name, static_cast<uint32_t>(event.meaning), [&](std::string_view text) {
    switch (event.meaning) {
      case EventMeaning::mpi_call:
        return Region{std::string(text), role_of_mpi(text), Paradigm::mpi, {}, 0};
      case EventMeaning::parallel:
        return openmp_region("parallel", RegionRole::parallel);
      case EventMeaning::barrier:
        return openmp_region("barrier", RegionRole::barrier);
      case EventMeaning::taskwait:
        return openmp_region("taskwait", RegionRole::task_wait);
      case EventMeaning::device_call:
        return imported_device_call(text);
      case EventMeaning::kernel:
        return imported_kernel(text, Paradigm::cuda);
      case EventMeaning::device_copy:
        return imported_transfer(DeviceOpKind::copy, CopyDirection::none, Paradigm::cuda);
      default:
        return imported_function(text);
    }
  });
}

void ThreadBuilder::begin(const ParaverEvent& event) {
  std::string_view name = function_of(labels_.value(event.type, event.value));
  std::string unnamed;
  if (name.empty()) name = unnamed = fmt::format("event {} of type {}", event.value, event.type);
  Open& open = open_.emplace_back();
  open.meaning = event.meaning;
  open.call.begin = event.time;
  open.call.region = region_of(event, name);
  open.call.number = ++numbers_;
  if (unnamed.empty()) open.name = name;
}

void ThreadBuilder::end(EventMeaning meaning, int64_t time) {
  const auto found = std::find_if(open_.rbegin(), open_.rend(),
                                  [&](const Open& open) { return open.meaning == meaning; });
  if (found == open_.rend()) {
    process_.losses.add(LossKind::leaves_without_enter, 1);
    return;
  }
  const auto inside = static_cast<size_t>(found - open_.rbegin());
  process_.losses.add(LossKind::regions_never_left, inside);
  for (size_t i = 0; i <= inside; ++i) close(time);
}

/// Ends what was begun last.
void ThreadBuilder::close(int64_t time) {
  Open open = open_.back();
  open_.pop_back();
  open.call.end = time;
  if (is_operation(open.meaning)) return close_operation(open, time);
  const ParallelVisit visit{{open.call.begin, time}, open.call.number};
  if (open.meaning == EventMeaning::parallel) built_.regions.push_back(visit);
  if (open.meaning == EventMeaning::parallel_function) built_.bodies.push_back(visit);
  if (open.meaning == EventMeaning::device_call) built_.device_calls.push_back(visit);
  if (open.meaning == EventMeaning::mpi_call) close_mpi(open);
  thread_->calls.push_back(open.call);
}

void ThreadBuilder::close_mpi(const Open& open) {
  const MpiCall* const call = mpi_call(open.name);
  const bool at_once =
      call != nullptr && (call->is(MpiTrait::starts) || call->is(MpiTrait::nonblocking));
  built_.mpi.push_back({{open.call.begin, open.call.end}, open.call.number, at_once});
  name_caller(open);
  const auto op = collective_of(open.name);
  if (!op) return;
  const auto comm = open.comm ? comm_of_(*open.comm) : std::optional(world_);
  if (!comm) {
    process_.losses.add(LossKind::records_of_unknown_communicators, 1);
    return;
  }
  ImportedAct act;
  act.call = open.call.number;
  act.what = ImportedAct::What::collective;
  act.op = *op;
  act.is_root = open.is_root;
  act.comm = *comm;
  act.bytes = open.sent;
  act.received = open.received;
  thread_->acts.push_back(act);
}

/// Unless the function is open anyway.
void ThreadBuilder::name_caller(const Open& open) {
  const bool known = std::any_of(open_.begin(), open_.end(), [&](const Open& other) {
    return other.meaning == EventMeaning::user_function && other.name == open.caller;
  });
  if (open.caller.empty() || known) return;
  const std::string key = fmt::format("{} at {}", open.caller, open.caller_line);
  const RegionId region =
      regions_.of(key, static_cast<uint32_t>(EventMeaning::caller),
                  [&](std::string_view) { return caller_region(open.caller, open.caller_line); });
  thread_->calls.push_back({{open.call.begin, open.call.end}, region, 0});
}

void ThreadBuilder::close_operation(const Open& open, int64_t time) {
  ImportedOperation operation{{open.call.begin, time}, open.call.region};
  if (open.meaning == EventMeaning::device_copy) operation.kind = DeviceOpKind::copy;
  process_.queues[{0, 0, key_}].push_back(operation);
}

/// What the first thread does before the first call and behind the last is known to be between them
/// and the ends of its life.
void ThreadBuilder::name_edges(const ParaverThread& thread) {
  const auto& calls = thread_->calls;
  if (calls.empty()) return;
  const auto first = std::min_element(
      calls.begin(), calls.end(),
      [](const ImportedCall& a, const ImportedCall& b) { return a.begin < b.begin; });
  const auto last =
      std::max_element(calls.begin(), calls.end(),
                       [](const ImportedCall& a, const ImportedCall& b) { return a.end < b.end; });
  const auto name_of = [&](const ImportedCall& call) {
    return process_.regions[call.region.index()].name;
  };
  const auto edge = [&](int64_t begin, int64_t end, const std::string& what) {
    if (begin >= end) return ImportedCall();
    const std::string name = std::string(pseudo::between) + what + ')';
    const RegionId region =
        regions_.of(name, static_cast<uint32_t>(EventMeaning::ignored), [](std::string_view text) {
          return Region{std::string(text), RegionRole::function, Paradigm::compiler, {}, 0};
        });
    return ImportedCall{{begin, end}, region, 0};
  };
  const ImportedCall before = edge(thread.first, first->begin, "the start and " + name_of(*first));
  const ImportedCall behind = edge(last->end, thread.last, name_of(*last) + " and the end");
  for (const ImportedCall& each : {before, behind}) {
    if (each.region.valid()) thread_->calls.push_back(each);
  }
}

}  // namespace culprit::trace
