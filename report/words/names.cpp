// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts that are the same everywhere are omitted: the rank in a run of one rank, the thread in one
// of single-threaded processes, the device where all are of one kind.
#include "report/words/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "blame/findings/path_meaning.h"
#include "report/words/instances.h"
#include "report/words/layout.h"
#include "report/words/short_name.h"
#include "trace/pseudo_regions.h"

namespace culprit::report {

std::string_view unit_of(const blame::Findings& findings) {
  const bool measured = !findings.processes.empty() && !findings.processes.front().program.empty();
  return measured && findings.run.mpi.empty() ? "process" : "rank";
}

namespace {

/// For the name of a library's function behind its caller's.
constexpr size_t kRoomInside = 40;

size_t width_of_region() {
  return std::min<size_t>(60, page_width() - 8);
}

/// Returns the names that may need a short form, each once.
std::vector<std::string> long_names(const std::vector<blame::FoundCallPath>& callpaths) {
  std::vector<std::string> names;
  for (const blame::FoundCallPath& path : callpaths) {
    const bool is_template = path.region.find('<') != std::string::npos;
    if (is_template || path.region.size() > width_of_region()) names.push_back(path.region);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

PageNames::PageNames(const blame::Findings& findings)
    : findings_(findings),
      instances_(short_instances(long_names(findings.callpaths), width_of_region())) {
  instances_.merge(distinct_short_names(long_names(findings.callpaths), width_of_region()));
  for (const blame::FoundLocation& location : findings.locations) {
    many_ranks_ |= location.rank != findings.locations.front().rank;
    many_threads_ |= location.thread != 0 && location.stream.empty();
  }
  for (const blame::FoundDevice& device : findings.devices) {
    device_ = " of " + device.name;
    if (device.name == findings.devices.front().name) continue;
    device_.clear();
    break;
  }
}

const blame::FoundCallPath* PageNames::find(CallPathId id) const {
  return id.valid() ? &findings_.callpaths[id.index()] : nullptr;
}

std::string PageNames::path(CallPathId id, size_t width) const {
  const blame::FoundCallPath* found = find(id);
  if (!found) return "(unknown call path)";
  if (found->name.size() <= width || instances_.empty()) return shortened(found->name, width);
  std::string name;
  for (; found; found = find(found->parent)) {
    name = std::string(name_of(*found)) + (name.empty() ? "" : "/") + name;
  }
  return shortened(name, width);
}

std::string_view PageNames::name_of(const blame::FoundCallPath& path) const {
  const auto instance = instances_.find(path.region);
  return instance != instances_.end() ? instance->second : path.region;
}

std::string PageNames::region(CallPathId id) const {
  const blame::FoundCallPath* found = find(id);
  return found ? shortened(name_of(*found), width_of_region()) : "(unknown)";
}

/// Of a path within a library, what the program called; nullptr if it is no such path.
const blame::FoundCallPath* PageNames::called_by_program(const blame::FoundCallPath& path) const {
  const blame::FoundCallPath* called = nullptr;
  for (const blame::FoundCallPath* at = &path;
       at->parent.valid() && blame::is_of(*at, trace::Paradigm::library); at = find(at->parent)) {
    called = at;
  }
  return called;
}

std::string PageNames::code(CallPathId id) const {
  const blame::FoundCallPath* found = find(id);
  const std::string name = region(id);
  if (!found) return name;
  if (found->parent.valid() && trace::pseudo_region(found->region) != nullptr) {
    return code(found->parent) + ' ' + name;
  }
  if (const auto called = called_by_program(*found)) {
    return fmt::format("{} (in {})", code(called->parent),
                       shortened(name_of(*called), kRoomInside));
  }
  // Score-P's have all of the path, and often the file's name in the region's, too.
  const std::string_view file = std::string_view(found->file).substr(found->file.rfind('/') + 1);
  if (file.empty() || name.find(file) != std::string::npos) return name;
  return name + (found->line > 0 ? fmt::format(" ({}:{})", file, found->line)
                                 : fmt::format(" ({})", file));
}

std::string PageNames::process(uint32_t rank) const {
  if (unit_of(findings_) == "process") {
    for (const blame::FoundProcess& row : findings_.processes) {
      if (row.rank == rank) return fmt::format("{} ({})", row.program, row.number);
    }
  }
  return fmt::format("rank {}", rank);
}

std::string PageNames::location(LocationId id) const {
  if (!id.valid()) return "(unknown)";
  const blame::FoundLocation& location = findings_.locations[id.index()];
  if (!location.stream.empty()) {
    std::string_view stream = location.stream;
    if (!device_.empty() && stream.ends_with(device_)) stream.remove_suffix(device_.size());
    return many_ranks_ ? fmt::format("{} {}", process(location.rank), stream) : std::string(stream);
  }
  if (!many_threads_) return process(location.rank);
  if (!many_ranks_) return fmt::format("thread {}", location.thread);
  return fmt::format("{} thread {}", process(location.rank), location.thread);
}

}  // namespace culprit::report
