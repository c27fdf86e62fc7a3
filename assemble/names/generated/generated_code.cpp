// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The name that stands for a file lists the sources, one a line: kernels write no line feeds into
// maps.
#include "assemble/names/generated/generated_code.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "assemble/names/address_map.h"
#include "base/fnv.h"

namespace culprit::assemble {
namespace {

constexpr std::string_view kMark = "generated code\n";
constexpr std::string_view kObject = "generated.";

bool is_younger(const std::string& path, uint64_t begin_ns) {
  constexpr uint64_t kSecond = 1'000'000'000;
  struct stat facts;
  const bool there = lstat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode);
  return there && static_cast<uint64_t>(facts.st_mtime) >= begin_ns / kSecond;
}

/// Programs map a page of the file so that its name stands in their map.
std::set<std::string> jit_dumps(uint32_t pid, const std::vector<GuardedPath>& maps) {
  const std::string name = fmt::format("/jit-{}.dump", pid);
  std::set<std::string> found;
  for (const GuardedPath& copy : maps) {
    std::istringstream lines(copy.read(kLargestMaps).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      if (line.ends_with(name)) found.insert(line.substr(std::min(line.find('/'), line.size())));
    }
  }
  return found;
}

Symbol symbol_of(const GeneratedFunctions& functions, uint64_t address) {
  Symbol symbol;
  symbol.module = "generated code";
  auto after = functions.upper_bound(address);
  if (after == functions.begin() || std::prev(after)->second.end <= address) {
    symbol.address = address;
    symbol.frames.push_back({fmt::format("generated code at {:#x}", address), "", 0});
    return symbol;
  }
  const auto& [begin, function] = *std::prev(after);
  std::string name = readable_name(function.name);
  std::replace(name.begin(), name.end(), '/', '|');  // it joins functions to call paths
  const uint32_t line = function.lines.empty() ? 0 : function.lines.begin()->second;
  symbol.frames.push_back({name, function.file, line});
  symbol.file = function.file;
  const auto behind = function.lines.upper_bound(address);
  symbol.line = behind == function.lines.begin() ? 0 : std::prev(behind)->second;
  symbol.into_function = address - begin;
  // Where it lies differs from process to process.
  symbol.address = fnv1a(function.name) + symbol.into_function;
  symbol.named = symbol.from_debug_info = true;
  return symbol;
}

}  // namespace

std::string find_generated_code(uint32_t pid, uint64_t begin_ns,
                                const std::vector<GuardedPath>& maps, const GuardedPath& folder) {
  std::string sources;
  const auto add = [&](const std::string& path) { sources += path + '\n'; };
  const std::string perf_map = fmt::format("/tmp/perf-{}.map", pid);
  if (is_younger(perf_map, begin_ns)) add(perf_map);
  for (const std::string& dump : jit_dumps(pid, maps)) {
    if (is_younger(dump, begin_ns)) add(dump);
  }
  for (const std::string& name : folder.list()) {
    if (name.starts_with(kObject)) add((folder / name).path().string());
  }
  return sources.empty() ? "" : std::string(kMark) + sources;
}

bool is_generated_code(std::string_view module) {
  return module.starts_with(kMark);
}

void read_generated_code(const std::string& module, std::span<const OpenPlace> places) {
  GeneratedFunctions functions;
  std::istringstream sources(module.substr(kMark.size()));
  for (std::string path; std::getline(sources, path);) {
    if (path.ends_with(".map")) {
      read_perf_map(path, functions);
    } else if (path.ends_with(".dump")) {
      read_jit_dump(path, functions);
    } else {
      read_generated_object(path, functions);
    }
  }
  for (const OpenPlace& place : places) *place.symbol = symbol_of(functions, place.offset);
}

}  // namespace culprit::assemble
