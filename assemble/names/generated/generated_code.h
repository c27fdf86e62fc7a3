// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Code that a program generates while it runs (Julia, Java, Node.js, Python with -X perf, LuaJIT,
// what LLVM compiles at run time) lies in no file. Such programs tell what it is called in one of
// three ways, all of which are read:
//   /tmp/perf-<pid>.map   a line each: begin and length in hexadecimal, then the name
//   jit-<pid>.dump        records with names, files and lines, for Linux's perf
//   generated.<n>         object files that were registered for debuggers, as the collector kept
//   them
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assemble/names/symbol.h"
#include "base/files/guarded_path.h"

namespace culprit::assemble {

/// A function that was generated, by where it begins.
struct GeneratedFunction {
  uint64_t end = 0;
  std::string name;
  std::string file;                    ///< base name; empty if unknown
  std::map<uint64_t, uint32_t> lines;  ///< by address; the first is where the function begins
};
using GeneratedFunctions = std::map<uint64_t, GeneratedFunction>;

/// The sources of names for the generated code of a process that began at `begin_ns` (since 1970),
/// as one name that is used in place of a file (CodePlace::module); empty if there are none. `maps`
/// are copies of its map.
std::string find_generated_code(uint32_t pid, uint64_t begin_ns,
                                const std::vector<GuardedPath>& maps, const GuardedPath& folder);

bool is_generated_code(std::string_view module);

/// As read_symbols, for places that are addresses in the process. Where code was generated anew at
/// an address, the later name counts.
void read_generated_code(const std::string& module, std::span<const OpenPlace> places);

// Each adds to `functions`, or replaces what was at the same address; files that are damaged, or
// not what they seem, add what can be read.
void read_perf_map(const std::string& path, GeneratedFunctions& functions);
void read_jit_dump(const std::string& path, GeneratedFunctions& functions);
void read_generated_object(const std::string& path, GeneratedFunctions& functions);

}  // namespace culprit::assemble
