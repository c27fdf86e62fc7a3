// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread's call paths as a tree: (parent path, return address) -> path number, 1, 2, ... It is an
// open hash table in memory of its own, which doubles when three quarters full. Where the budget
// (budget.h) is spent, it forgets all paths: those that come again get new numbers. MT: one thread,
// and its signal handler when the thread is not in here (ThreadLog's busy flag).
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::collector {

class PathTree {
 public:
  struct Node {
    uint32_t id;  ///< 0: no memory is left
    bool is_new;
  };

  /// The child of `parent` (0: the root) at `address`.
  Node child(uint32_t parent, uintptr_t address);

  void release();

 private:
  struct Entry {
    uintptr_t address;
    uint32_t parent;
    uint32_t id;  ///< 0: the place is free
  };

  bool grow();
  void forget();
  static size_t place(const Entry* entries, size_t mask, uint32_t parent, uintptr_t address);

  Entry* entries_ = nullptr;
  size_t capacity_ = 0;
  size_t used_ = 0;     ///< entries
  uint32_t count_ = 0;  ///< paths ever numbered
};

}  // namespace culprit::collector
