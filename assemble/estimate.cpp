// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records of the first windows are counted by category; windows that were counted but not kept are
// assumed to have the same mix, so each count is multiplied by the number of windows per kept one.
#include "assemble/estimate.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "assemble/raw/reader.h"
#include "assemble/raw/unpacked.h"
#include "base/frequent_events.h"
#include "trace/raw/packed.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

struct CostClass {
  std::string_view what;
  std::string_view left_out = {};  ///< EstimateRow::left_out
};

CostClass cost_class_of(Frequent events) {
  return {text(events).what, text(events).name};
}

/// The category of a record; records of MPI calls have names instead.
CostClass cost_class_of(trace::RawGroup group) {
  using trace::RawGroup;
  switch (group) {
    case RawGroup::definitions:
      return {"call paths and names"};
    case RawGroup::openmp:
      return {"OpenMP regions and barriers"};
#define FREQUENT(name, what) \
  case RawGroup::name:       \
    return cost_class_of(Frequent::name);
#include "base/frequent_events.def"
#undef FREQUENT
    default:
      return {"other"};
  }
}

/// Bytes of the records at the beginning of a window.
size_t used_of(const std::string& window) {
  size_t at = 0;
  while (at + sizeof(trace::RawHeader) <= window.size()) {
    trace::RawHeader header;
    std::memcpy(&header, window.data() + at, sizeof header);
    if (header.kind == RawKind::none) break;
    at += sizeof header + header.words * 8;
  }
  return std::min(at, window.size());
}

/// What a log's records stand for.
struct Scale {
  double growth = 1;   ///< how many times as much was recorded as is there
  double on_disk = 1;  ///< bytes on disk for each of records
};

Scale scale_of(const RawProcessFolder& folder, uint32_t thread) {
  constexpr uint64_t kLargest = trace::kRawWindow + sizeof(trace::RawTail);
  const std::string name = "events." + std::to_string(thread);
  const auto file = (folder.folder / (name + trace::kRawPackedSuffix)).open();
  const auto windows =
      file ? unpack_windows(*file, folder.process.start_ticks, thread) : std::nullopt;
  if (!windows || windows->bytes == 0) return {};
  const auto kept = static_cast<double>(windows->bytes);
  Scale scale = {1, static_cast<double>(windows->file_bytes) / kept};
  std::string window = (folder.folder / (name + ".tail")).read(kLargest).value_or("");
  trace::RawTail tail{};
  if (window.size() < sizeof tail) return scale;
  std::memcpy(&tail, window.data() + window.size() - sizeof tail, sizeof tail);
  window.resize(window.size() - sizeof tail);
  const auto used = static_cast<double>(used_of(window));
  // The tail is among the records.
  if (tail.window > windows->windows) {
    const auto missing = static_cast<double>((tail.window - windows->windows) * window.size());
    scale.growth = 1 + missing / (kept + used);
  }
  return scale;
}

class Estimator {
 public:
  void add(const RawProcessFolder& folder) {
    const trace::RawProcess& process = folder.process;
    uint64_t last = process.end_ticks;
    double bytes = 0;
    for (const RawLog& log : folder.logs) {
      const Scale scale = scale_of(folder, log.thread());
      result_.all_kept = result_.all_kept && scale.growth == 1;
      bytes += add_log(log, process, scale, last);
    }
    const double life = seconds(process, last);
    result_.wall_s = std::max(result_.wall_s, life);
    result_.thread_s += life * static_cast<double>(folder.logs.size());
    result_.largest_process_bytes = std::max(result_.largest_process_bytes, bytes);
    result_.bytes += bytes;
    result_.threads += folder.logs.size();
    ++result_.processes;
  }

  Estimate take() {
    for (auto& [what, row] : rows_) result_.rows.push_back(std::move(row));
    std::stable_sort(result_.rows.begin(), result_.rows.end(),
                     [](const EstimateRow& a, const EstimateRow& b) { return a.bytes > b.bytes; });
    return std::move(result_);
  }

 private:
  /// From the process's start to `ticks`.
  static double seconds(const trace::RawProcess& process, uint64_t ticks) {
    const auto& first = process.first;
    const auto& last = process.last;
    if (last.ticks <= first.ticks || ticks <= process.start_ticks) return 0;
    const double rate = static_cast<double>(last.monotonic_ns - first.monotonic_ns) /
                        static_cast<double>(last.ticks - first.ticks);
    return static_cast<double>(ticks - process.start_ticks) * rate * 1e-9;
  }

  double add_log(const RawLog& log, const trace::RawProcess& process, const Scale& scale,
                 uint64_t& last) {
    std::unordered_map<uint16_t, std::string> names;
    std::string call = "MPI";  // whose facts come
    double bytes = 0;
    auto cursor = log.cursor();
    for (RawRecord record; cursor.next(record);) {
      if (record.kind == RawKind::string_def) {
        const auto text = record.as<raw::string_def>();
        names[static_cast<uint16_t>(text.string)] =
            text_in(record.rest_of<raw::string_def>(), text.length);
      }
      if (record.kind == RawKind::mpi_enter) call = names[record.as<raw::mpi_enter>().name];
      const trace::RawKindFacts& facts = trace::facts_of(record.kind);
      const CostClass cost = cost_class_of(facts.group);
      const bool is_call = facts.group == trace::RawGroup::mpi;
      const std::string what = is_call ? call : std::string(cost.what);
      EstimateRow& row = rows_[what];
      if (row.what.empty()) {
        row.what = what;
        row.left_out = cost.left_out;
      }
      const size_t room = record.noted ? 0 : sizeof(trace::RawHeader) + record.words * 8;
      const double size = static_cast<double>(room) * scale.growth * scale.on_disk;
      row.records += scale.growth;
      row.bytes += size;
      row.cost_s += scale.growth * 1e-12 *
                    (process.event_cost_ps + (facts.takes_path ? process.path_cost_ps : 0));
      result_.records += scale.growth;
      bytes += size;
      last = std::max(last, record.ticks);
    }
    return bytes;
  }

  std::map<std::string, EstimateRow, std::less<>> rows_;
  Estimate result_;
};

}  // namespace

Result<Estimate> estimate(const GuardedPath& raw) {
  Losses ignored;
  Estimator estimator;
  for (const RawProcessFolder& folder : read_raw(raw, ignored)) {
    if (!folder.logs.empty()) estimator.add(folder);
  }
  Estimate result = estimator.take();
  if (result.processes == 0) return Error{"there are no records to base an estimate on"};
  return result;
}

}  // namespace culprit::assemble
