// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where in which file an address of a dead process was, from the copies of /proc/self/maps that it
// left. A later copy has the objects that were loaded meanwhile, an earlier one those that have
// been unloaded since: the most complete copy is searched first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/guarded_path.h"

namespace culprit::assemble {

/// A place in a file: what an address means independent of the process.
struct CodePlace {
  std::string_view module;  ///< path of the file; lives as long as its AddressMap
  uint64_t offset = 0;      ///< in the file
};

/// Larger copies of a process's map count as missing.
inline constexpr uint64_t kLargestMaps = uint64_t{64} << 20;

class AddressMap {
 public:
  /// `copies`: the most complete first. Lines that make no sense are skipped.
  /// What lies in no file is looked for in `generated`, at its address, if that is not empty.
  static AddressMap read(const std::vector<GuardedPath>& copies, std::string generated = {});
  /// The same of the copies' texts.
  static AddressMap of(const std::vector<std::string>& copies, std::string generated = {});

  std::optional<CodePlace> find(uint64_t address) const;

 private:
  struct Mapping {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t offset = 0;
    std::string module;
  };
  std::vector<std::vector<Mapping>> copies_;  ///< each in order of address
  std::string generated_;
};

}  // namespace culprit::assemble
