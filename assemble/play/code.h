// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The code of one process: the name of the code at an address, and the kind of code it belongs to.
// Raw call paths become the user's: without frames outside of main, without the OpenMP runtime, the
// system's libraries and the collector, and inside a parallel region or task without all frames
// that led there, since the rest hangs under the construct.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assemble/names/address_map.h"
#include "assemble/names/others/not_the_programs.h"
#include "assemble/names/symbols.h"
#include "assemble/play/regions.h"
#include "assemble/play/timeline.h"
#include "assemble/raw/reader.h"
#include "assemble/run/survey.h"
#include "base/flat_map.h"

namespace culprit::assemble {

struct Code;

struct CodeFrame {
  RegionId region;  ///< of the user's functions only
  CodeKind kind = CodeKind::user;
  bool named = true;            ///< false: a stripped file's, named by its offset
  bool start = false;           ///< _start, which has libc call main
  bool program = false;         ///< Fortran's main program
  bool python_entry = false;    ///< of Python's own, which begins a thread
  bool python_threads = false;  ///< of its module for threads, but for what runs the thread's code
  bool imports = false;         ///< code of a module of Python's that is executed as it is imported
  bool wrapper = false;         ///< in the program, but says less than who calls it
  Shown shown = Shown::never;
  uint64_t site = 0;           ///< of a path: from where it calls what follows
  const Code* code = nullptr;  ///< likewise: what it is a part of
};

/// The code at an address.
struct Code {
  const Symbol* symbol = nullptr;  ///< nullptr: the address was nowhere in the maps
  std::vector<CodeFrame> frames;   ///< outermost first; empty if nothing is known
  uint64_t site = 0;               ///< its place in the file, hashed
  std::string library;             ///< as people call the file: "libopenblas", "numpy.core.umath"
  RegionId spins;      ///< of a loop that waits, or gives the core away; of who is there
  bool own = false;    ///< the program's, and no call of MPI
  bool waits = false;  ///< known to wait for memory to change, with all that it calls
};

class ProcessCode {
 public:
  explicit ProcessCode(const RawProcessFolder& folder);
  explicit ProcessCode(AddressMap map) : map_(std::move(map)) {}

  /// Announces to `symbols` all places that will be looked up.
  void announce(const Survey& survey, Symbols& symbols) const;
  /// Once `symbols` are resolved; they must outlive this.
  void learn(const Survey& survey, const Symbols& symbols, const NotThePrograms& others,
             Regions& regions);

  /// Region i is `number[i]` from now on.
  void renumber(const std::vector<RegionId>& number);

  /// The code before a return address, or before the address of a sample, which is likewise one
  /// past the instruction. MT: safe after learn().
  const Code& before(uint64_t return_address) const;
  /// The place as a number on which all processes agree. Never 0.
  uint64_t site(uint64_t return_address) const;

 private:
  void learn_address(uint64_t address, const Symbols& symbols, const NotThePrograms& others,
                     Regions& regions);
  void learn_python(uint64_t address, const Survey& survey, const NotThePrograms& others,
                    Regions& regions);
  Code* learn_code(uint64_t address, const Symbol& symbol);

  AddressMap map_;
  FlatMap places_;  ///< in code_, by return address
  std::vector<Code> code_;
  std::map<uint32_t, Symbol> python_;  ///< by number
};

/// The call paths of one thread's log. Paths are made when first asked for and kept.
class Paths {
 public:
  Paths(const ProcessCode& code, Regions& regions) : code_(code), regions_(regions) {}

  void define(uint32_t id, uint32_t parent, uint64_t address);
  /// The user's functions on a path. The reference stays valid.
  const UserPath& user_path(uint32_t id);
  /// The same before the process could use a device: what its runtime does then is start-up.
  const UserPath& starting_path(uint32_t id);
  /// The same of return addresses, outermost first.
  UserPath path_of(std::span<const uint64_t> addresses, bool starting);

 private:
  struct Node {
    uint32_t parent = 0;
    uint64_t address = 0;
  };
  std::vector<uint64_t> addresses_of(uint32_t id) const;
  std::vector<CodeFrame> frames_of(std::span<const uint64_t> addresses) const;
  std::span<const uint64_t> without_what_spins(std::span<const uint64_t> addresses) const;
  bool in_spinning(std::span<const uint64_t> addresses) const;
  UserPath cut(std::vector<CodeFrame> frames, bool starting);
  void drop_entry(std::vector<CodeFrame>& frames);
  RegionId part_in_library(std::span<const CodeFrame> frames, size_t own);

  const ProcessCode& code_;
  Regions& regions_;
  std::unordered_map<uint32_t, Node> nodes_;
  FlatMap places_;  ///< in known_, by path
  std::deque<UserPath> known_;
  std::unordered_map<uint32_t, UserPath> starting_;  ///< by path
};

}  // namespace culprit::assemble
