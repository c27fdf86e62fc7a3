// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stand-ins for functions of the system find the system's own. They may be called from the
// program's signal handlers, so these are looked up at load, and only what is called before that is
// looked up when it is called.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace culprit::collector {

/// A function of the system's library, behind ours.
template <class Function>
class Next {
 public:
  /// `version`: the one to take, where there are several and it exists.
  explicit constexpr Next(const char* name, const char* version = nullptr)
      : name_(name), version_(version) {}
  void find() {
    void* found = version_ != nullptr ? dlvsym(RTLD_NEXT, name_, version_) : nullptr;
    if (found == nullptr) found = dlsym(RTLD_NEXT, name_);
    function_.store(reinterpret_cast<Function*>(found), std::memory_order_relaxed);
  }
  Function* get() {
    Function* known = function_.load(std::memory_order_relaxed);
    if (known != nullptr) [[likely]]
      return known;
    find();
    return function_.load(std::memory_order_relaxed);
  }

 private:
  const char* name_;
  const char* version_;
  std::atomic<Function*> function_{nullptr};
};

}  // namespace culprit::collector
