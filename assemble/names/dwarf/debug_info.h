// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The debug information (DWARF) of one object file, indexed as far as it is asked: the units by
// their code, and of each unit that is asked the functions by theirs. Without the index each
// question would walk through a whole unit, which in C++ takes milliseconds.
// MT: one object in one thread at a time; different objects are independent.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "assemble/names/dwarf/lambdas.h"
#include "assemble/names/symbol.h"

namespace culprit::assemble {

class DebugInfo {
 public:
  DebugInfo() = default;
  /// `dwarf` must outlive this; nullptr: there is none, and nothing is found.
  /// `folders`: where the files that it names may lie.
  DebugInfo(Dwarf* dwarf, const std::vector<std::filesystem::path>& folders);

  /// Adds the known facts about the code at this address of the debug information: the line, the
  /// function, and outermost first the functions inlined into it. False if no function is known.
  bool name(uint64_t code, Symbol& symbol);

 private:
  /// Code that an entry made: a unit's, by its place in units_, or a function's.
  struct UnitRange {
    uint64_t begin = 0;
    uint64_t end = 0;
    size_t unit = 0;
  };
  struct FunctionRange {
    uint64_t begin = 0;
    uint64_t end = 0;
    Dwarf_Die die;
  };
  /// The namespaces around functions without a linkage name to show them, by offset of the entry.
  using Scopes = std::unordered_map<uint64_t, std::string>;
  struct Unit {
    Dwarf_Die die;      ///< has the line table
    Dwarf_Die content;  ///< the same, or the unit in a file of its own (-gsplit-dwarf)
    bool indexed = false;
    bool indexed_nested = false;
    std::vector<FunctionRange> functions;  ///< by address
    std::vector<FunctionRange> nested;     ///< those inside of other functions
    Scopes scopes;
  };

  Unit* unit_at(uint64_t code);
  static bool find_function(Unit& unit, uint64_t code, Dwarf_Die& found);
  static void index_functions(Dwarf_Die& parent, const std::string& scope, Unit& unit,
                              unsigned depth);
  static void index_members(Dwarf_Die& parent, const std::string& scope, Unit& unit,
                            unsigned depth);
  static void index_nested(Dwarf_Die& parent, std::vector<FunctionRange>& functions,
                           unsigned depth);
  SourceFrame frame_of(const Unit& unit, Dwarf_Die* die);
  void add_inlined(const Unit& unit, Dwarf_Die* parent, uint64_t code, Symbol& symbol,
                   unsigned depth);
  static bool find_among(const std::vector<FunctionRange>& functions, uint64_t code,
                         Dwarf_Die& found);

  std::vector<Unit> units_;
  std::vector<UnitRange> ranges_;  ///< by address
  Lambdas lambdas_;
};

}  // namespace culprit::assemble
