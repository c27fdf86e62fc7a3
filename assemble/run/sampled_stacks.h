// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where samples found the threads of a process, as addresses: what findings keep of a sample is its
// function alone, but the line that costs is in its stack.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace culprit::assemble {

class SampledStacks {
 public:
  /// A call path and its innermost return address. Number 0 is the root, which has none.
  struct Path {
    uint32_t parent = 0;
    uint64_t address = 0;
    uint64_t samples = 0;  ///< that found exactly this path
  };

  /// Returns the number of the path that continues `parent`.
  uint32_t child(uint32_t parent, uint64_t address);
  void add(uint32_t path, uint64_t samples) { paths_[path].samples += samples; }
  void merge(const SampledStacks& other);

  /// Parents before their children.
  const std::vector<Path>& paths() const { return paths_; }

 private:
  std::vector<Path> paths_{Path()};
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> numbers_;
};

}  // namespace culprit::assemble
