// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lines of /proc/<pid>/maps, one for each mapping of memory, read in pieces of any size. MT: an
// object belongs to one thread. Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::collector {

struct MapsLine {
  uintptr_t begin = 0, end = 0;
  bool executable = false;
  bool shared = false;  ///< with the other processes that map the same
  uint64_t offset = 0;  ///< in the file
  uint64_t device = 0, inode = 0;
  const char* path = nullptr;  ///< "" if there is none
};

/// "begin-end rwxp offset major:minor inode path". False if it is no such line.
bool parse_maps_line(const char* text, MapsLine& line);

class MapsLines {
 public:
  /// Calls each(text) for each line that ends in this piece. A line that is too long loses the end
  /// of its path.
  template <class Each>
  void feed(const char* data, size_t bytes, Each&& each) {
    for (size_t i = 0; i < bytes; ++i) {
      if (data[i] == '\n') {
        line_[length_] = '\0';
        each(static_cast<const char*>(line_));
        length_ = 0;
      } else if (length_ + 1 < sizeof line_) {
        line_[length_++] = data[i];
      }
    }
  }

 private:
  size_t length_ = 0;
  char line_[1024] = {};
};

}  // namespace culprit::collector
