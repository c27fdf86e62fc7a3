// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of the steps in turn_over() matters: at any moment the process may be killed, and a
// reader must find each record once. While the window is appended, the tail still counts, and what
// has arrived of it in the events file does not; once it has arrived in full, the tail no longer
// does; the tail counts again, empty, when it says that it is the next window.
#include "collector/log_file.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "collector/system_file.h"
#include "trace/raw.h"

namespace culprit::collector {

using trace::kRawWindow;
using trace::RawTail;

namespace {

constexpr size_t kTailBytes = kRawWindow + sizeof(RawTail);
constexpr size_t kPathRoom = PATH_MAX + 8;

void tail_path(const char* path, char (&tail)[kPathRoom]) {
  snprintf(tail, sizeof tail, "%s.tail", path);
}

RawTail& tail_of(char* window) {
  return *reinterpret_cast<RawTail*>(window + kRawWindow);
}

}  // namespace

bool LogFile::open(const char* path) {
  char tail[kPathRoom];
  snprintf(path_, sizeof path_, "%s", path);
  tail_path(path_, tail);
  touch_file(path_);
  window_ = static_cast<char*>(map_file(tail, kTailBytes));
  has_file_ = window_ != nullptr;
  return has_file_;
}

bool LogFile::open_scratch() {
  window_ = static_cast<char*>(map_memory(kTailBytes));
  return window_ != nullptr;
}

bool LogFile::append(size_t bytes) {
  return write_at(path_, tail_of(window_).window * kRawWindow, window_, bytes);
}

void LogFile::clear() {
  memset(window_, 0, kRawWindow);
  std::atomic_ref<uint64_t>(tail_of(window_).window).fetch_add(1, std::memory_order_release);
}

bool LogFile::turn_over() {
  if (!has_file_ || !append(kRawWindow)) return false;
  clear();
  return true;
}

void LogFile::close(size_t used) {
  if (window_ == nullptr) return;
  if (has_file_ && append(used)) {
    char tail[kPathRoom];
    tail_path(path_, tail);
    unlink(tail);
  }
  unmap_memory(window_, kTailBytes);
  window_ = nullptr;
  has_file_ = false;
}

}  // namespace culprit::collector
