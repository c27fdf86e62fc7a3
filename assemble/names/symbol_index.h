// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The symbols of one file, by address. libdwfl looks at all of them for each address that it is
// asked about; libraries of half a million symbols are asked about thousands.
// MT: read-only once it is built.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

struct Dwfl_Module;

namespace culprit::assemble {

class SymbolIndex {
 public:
  SymbolIndex() = default;
  /// Addresses are libdwfl's.
  explicit SymbolIndex(Dwfl_Module* module);

  struct Found {
    const char* name = nullptr;  ///< as long as the module lives
    uint64_t begin = 0;
    uint64_t size = 0;  ///< 0: unknown, as of labels
  };
  /// The symbol that contains the address: the one that begins nearest to it, of those the most
  /// visible, of those the smallest. If there is none, the nearest label of the same section behind
  /// all symbols that lie below.
  std::optional<Found> at(uint64_t address) const;

 private:
  struct Entry {
    uint64_t begin, end;  ///< equal: a label
    uint64_t furthest;    ///< the furthest end of this one and all that begin below
    int number;           ///< in the module's table
    uint32_t section;
    uint8_t visibility;  ///< 0: global, 1: weak, 2: local, 3: something else
  };
  struct Section {
    uint64_t begin, end;
    uint32_t number;
  };
  void add_symbols();
  void add_sections();
  bool is_in_section(uint64_t address, uint32_t section) const;
  Found found(const Entry& entry) const;

  Dwfl_Module* module_ = nullptr;
  std::vector<Entry> entries_;  ///< by begin; of equal ones the last is the best
  std::vector<Section> sections_;
};

}  // namespace culprit::assemble
