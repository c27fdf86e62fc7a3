// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names for places in code: function, file and line from DWARF where there is debug information,
// with the inlined functions on the way; else the function from the symbol table; else its
// beginning from the unwind table ("cp2k.psmp+0x1f3a0": no name, but one and the same for the whole
// function). Each place is looked up once, however many processes and threads were there. It never
// fails.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assemble/names/address_map.h"

namespace culprit::assemble {

struct SourceFrame {
  std::string function;  ///< demangled, without argument list
  std::string file;      ///< base name of where the function is declared; empty if unknown
  uint32_t line = 0;     ///< of the function's declaration
};

struct Symbol {
  std::vector<SourceFrame> frames;  ///< never empty: the function, then what was inlined into it
  std::string module;               ///< base name of the object file
  std::string file;                 ///< base name of the source file of the place; empty if unknown
  uint32_t line = 0;                ///< of the place
  uint64_t address = 0;             ///< in the object file
  uint64_t into_function = 0;       ///< bytes from the function's beginning
  bool program = false;             ///< Fortran's main program, which C's main only calls
  bool named = false;               ///< false: the function's name is made of module and offset
  bool from_debug_info = false;     ///< not from the symbol table alone
};

/// A place in a file, and where its symbol is to be put.
struct OpenPlace {
  uint64_t offset;
  Symbol* symbol;
};

/// Fills in the symbols of places in one file. MT: called by several threads, for one file too.
using SymbolSource = std::function<void(const std::string& path, std::span<const OpenPlace>)>;

/// The real one: reads the files.
void read_symbols(const std::string& path, std::span<const OpenPlace> places);

class NameCache;
class KeptNames;

class Symbols {
 public:
  /// Announces a place that will be asked for.
  void add(const CodePlace& place);
  /// Looks up all announced places, on up to `threads` threads: first among the names that the run
  /// keeps, then in the cache, then in the source, and what the source knew goes into the cache.
  /// Files that are no longer what ran are not asked.
  void resolve(unsigned threads, const SymbolSource& source, const NameCache& cache,
               const KeptNames& kept);
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

/// A function's name as its author wrote it: demangled, without argument list, return type and the
/// compiler's suffixes, Fortran's module procedures as module::procedure.
std::string readable_name(std::string_view linkage_name);

/// What follows the last '/'.
std::string base_name(std::string_view path);

}  // namespace culprit::assemble
