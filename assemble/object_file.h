// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One executable or library as libdwfl sees it: the only place that knows elfutils.
// MT: one object in one thread at a time; different objects are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "assemble/symbols.h"

struct Dwarf;
struct Dwfl;
struct Dwfl_Module;
struct Elf;

namespace culprit::assemble {

class ObjectFile {
 public:
  /// Opens `path`, which may well be missing: then symbols are module and offset.
  explicit ObjectFile(const std::string& path);

  /// What lies at `offset` in the file.
  Symbol symbol(uint64_t offset) const;

 private:
  struct End {
    void operator()(Dwfl* dwfl) const;
  };
  /// Code that one compilation unit made. Not all compilers write the index of these
  /// (.debug_aranges).
  struct UnitRange {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t unit = 0;  ///< offset of its entry in .debug_info
  };
  void index_units();
  const UnitRange* unit_at(uint64_t address) const;
  std::optional<uint64_t> address_of(uint64_t offset) const;
  std::optional<uint64_t> function_begin(uint64_t address) const;
  bool name_from_dwarf(uint64_t address, Symbol& symbol) const;
  void name_from_symbol_table(uint64_t address, Symbol& symbol) const;

  std::string name_;  ///< base name
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  uint64_t bias_ = 0;  ///< libdwfl's addresses minus those in the file
  Dwarf* dwarf_ = nullptr;
  uint64_t dwarf_bias_ = 0;       ///< libdwfl's addresses minus those in the debug information
  std::vector<UnitRange> units_;  ///< by address
};

}  // namespace culprit::assemble
