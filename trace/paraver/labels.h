// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The files beside a Paraver trace: what its numbers mean (.pcf), and what its threads and nodes
// are called (.row).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::trace {

struct ParaverLabels {
  bool has_values = false;                                     ///< there is a .pcf
  std::map<uint64_t, std::map<uint64_t, std::string>> values;  ///< by type
  std::vector<std::string> nodes, threads;                     ///< in their order

  /// Empty: the value has no name.
  std::string_view value(uint64_t type, uint64_t value) const;
};

/// A file that cannot be read says nothing.
ParaverLabels read_paraver_labels(const std::filesystem::path& trace);

}  // namespace culprit::trace
