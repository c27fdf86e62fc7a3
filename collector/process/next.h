// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Lets stand-ins for functions of the system find the system's own. They may be called from the
// program's signal handlers, so symbols are looked up at load; only a function that is called
// earlier is looked up at its call.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace culprit::collector {

/// The system library's function behind our stand-in.
template <class Function>
class Next {
 public:
  /// `version`: the symbol version to take if it exists, for functions that have several.
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
