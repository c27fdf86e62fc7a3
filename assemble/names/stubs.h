// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stubs through which a file calls functions of others (its procedure linkage table): no symbol
// table has them, but each jumps to an address that the dynamic linker stores in a word, and the
// relocation of that word has the function's name. On x86-64 only. MT: one object in one thread at
// a time.
#pragma once

#include <gelf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

namespace culprit::assemble {

class Stubs {
 public:
  /// `elf` must outlive this.
  explicit Stubs(Elf* elf = nullptr) : elf_(elf) {}

  /// The function that the stub around this address of the file calls; nothing if there is none.
  std::optional<std::string> called_at(uint64_t address);
  /// The function in another file that the instruction just before this address calls.
  std::optional<std::string> called_before(uint64_t address);

 private:
  void read_slots();
  std::optional<std::string> in_slot(uint64_t slot);

  Elf* elf_;
  bool read_ = false;
  std::unordered_map<uint64_t, std::string> slots_;  ///< by address: whose address is put there
};

}  // namespace culprit::assemble
