// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One executable or library as libdwfl sees it.
// MT: one object in one thread at a time; different objects are independent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "assemble/names/dwarf/debug_info.h"
#include "assemble/names/stubs.h"
#include "assemble/names/symbol.h"
#include "assemble/names/symbol_index.h"

struct Dwfl;
struct Dwfl_Module;

namespace culprit::assemble {

/// The build id, which distinguishes a build of a file from all others, in hexadecimal digits;
/// empty if the file has none.
std::string build_id_of(const std::string& path);

/// Whether there is debug information of it on this machine.
bool has_debug_info(const std::string& path);

class ObjectFile {
 public:
  /// Opens `path`, which may well be missing: then symbols are module and offset.
  explicit ObjectFile(const std::string& path);

  bool has_debug_info() const { return has_debug_info_; }
  /// The symbol of the code at `offset` in the file.
  Symbol symbol(uint64_t offset);

 private:
  struct End {
    void operator()(Dwfl* dwfl) const;
  };
  std::optional<uint64_t> address_of(uint64_t offset) const;
  std::optional<uint64_t> function_begin(uint64_t address) const;
  /// Whether the code there, at this address and `into_function` bytes into a function, is a loop
  /// that waits for memory.
  bool spins_at(uint64_t offset, uint64_t address, uint64_t into_function);
  void name_from_symbol_table(uint64_t address, Symbol& symbol);

  std::string name_;  ///< base name
  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
  Elf* elf_ = nullptr;
  uint64_t bias_ = 0;  ///< libdwfl's addresses minus those in the file
  DebugInfo debug_info_;
  bool has_debug_info_ = false;
  std::optional<SymbolIndex> symbols_;  ///< once one is asked for
  Stubs stubs_;
  uint64_t debug_bias_ = 0;  ///< libdwfl's addresses minus those in the debug information
};

}  // namespace culprit::assemble
