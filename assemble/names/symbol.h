// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The name of a place in code, and how such names are looked up in files.
#pragma once

#include <cstdint>
#include <functional>
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
  std::string calls;                ///< the function in another file that is called just before it
  bool program = false;             ///< Fortran's main program, which C's main only calls
  bool spins = false;               ///< the place is in a loop that waits for memory to change
  bool stub = false;                ///< not the function itself, but what calls it in another file
  bool named = false;               ///< false: the function's name is made of module and offset
  bool from_debug_info = false;     ///< not from the symbol table alone
  bool part = false;                ///< the compiler split it off the function, which calls it
};

/// A place in a file, and where its symbol is to be put.
struct OpenPlace {
  uint64_t offset;
  Symbol* symbol;
};

/// Fills in the symbols of places in one file. MT: called by several threads, for one file too.
using SymbolSource = std::function<void(const std::string& path, std::span<const OpenPlace>)>;

/// A function's name as its author wrote it: demangled, without argument list, return type and the
/// compiler's suffixes, Fortran's module procedures as module::procedure.
std::string readable_name(std::string_view linkage_name);

/// Whether a compiler gives this name to what it splits off a function, so that the rest of it can
/// be inlined.
bool is_split_off(std::string_view linkage_name);

/// What follows the last '/'.
std::string base_name(std::string_view path);

}  // namespace culprit::assemble
