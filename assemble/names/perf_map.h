// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Code that a program generates while it runs (Julia, Java, Node.js, Python with -X perf, LuaJIT)
// lies in no file. Such programs write, on demand, what it is called into /tmp/perf-<pid>.map, as
// Linux's perf expects it: begin and length in hexadecimal, then the name, a line each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "assemble/names/symbol.h"

namespace culprit::assemble {

/// The file of a process that began at `begin_ns` (since 1970), if there is one that is younger.
std::string find_perf_map(uint32_t pid, uint64_t begin_ns);

bool is_perf_map(std::string_view path);

/// As read_symbols, for places that are addresses in the process.
void read_perf_map(const std::string& path, std::span<const OpenPlace> places);

}  // namespace culprit::assemble
