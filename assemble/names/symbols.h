// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names for places in code: function, file and line from DWARF where there is debug information,
// with the inlined functions on the way; else the function from the symbol table; else its
// beginning from the unwind table ("cp2k.psmp+0x1f3a0": no name, but one and the same for the whole
// function). Each place is looked up once, however many processes and threads were there. It never
// fails.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "assemble/names/debug_files/debug_servers.h"
#include "assemble/names/symbol.h"

namespace culprit::assemble {

/// The real one: reads the files.
void read_symbols(const std::string& path, std::span<const OpenPlace> places);

class NameCache;
class KeptNames;

class Symbols {
 public:
  /// Announces a place that will be asked for.
  void add(const CodePlace& place);
  /// Looks up all announced places, on up to `threads` threads: first among the names that the run
  /// keeps, then in the cache, then in the source, whose answers go into the cache. Files that have
  /// changed since the run are not searched. For files without debug information `servers` are
  /// asked; returns false if their time was up before all had been.
  bool resolve(unsigned threads, const SymbolSource& source, const NameCache& cache,
               const KeptNames& kept, const DebugServers& servers = {});
  /// Names of places that were looked up elsewhere.
  void take(const KeptNames& names);
  /// All that was resolved.
  KeptNames kept() const;
  /// A resolved place. MT: safe after resolve().
  const Symbol* find(const CodePlace& place) const;
  /// True if most places that were looked up in this file have no name: the file is stripped. (Even
  /// then some have: `main` is known by how it is started.)
  bool mostly_nameless(std::string_view module) const;

 private:
  struct Module {
    std::string build_id;  ///< of the file that ran
    std::map<uint64_t, Symbol> symbols;
  };
  std::map<std::string, Module, std::less<>> modules_;  ///< by path
};

}  // namespace culprit::assemble
