// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What stand-ins for the system's blocking calls share: how they find the system's own function,
// and how they say afterwards how long the thread was in it. These functions may be called from the
// program's signal handlers, so the system's own are looked up at load, and only what is called
// before that is looked up when it is called.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "collector/process/lifecycle.h"
#include "collector/process/next.h"
#include "collector/process/recorder.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/sampling/started.h"
#include "collector/sampling/stream.h"

namespace culprit::collector::sampling {

/// Short waits are left to the samples around them: a record costs as much as they do. Ticks of the
/// clock, of whichever kind: between 15 and 50 us.
inline constexpr uint64_t kShortestTicks = 50'000;

/// What a thread slept in.
struct Slept {
  enum class In : uint8_t {
    nothing,  ///< it did not sleep: it was slow for want of a core
    nap,      ///< its own wish, until a time that came
    outside,  ///< until something happened outside of it
    file,     ///< reading or writing a file
    any,      ///< one or the other, by what the descriptor is
  };
  In in = In::outside;
  int descriptor = -1;
  uint64_t bytes = 0;
  bool in_vain = false;  ///< nothing had come: if the descriptor lets one wait, its time was up
  uint64_t object = 0;   ///< In::outside: what others let the thread go on by (trace::ObjectKind)
  bool reads = false;    ///< In::any: who writes to the descriptor lets it go on
};

inline Slept nap() {
  return {Slept::In::nap};
}
inline Slept blocked() {
  return {Slept::In::outside};
}
/// A file that is not to be asked for any more.
inline Slept io() {
  return {Slept::In::file};
}
/// Of calls that take what is there and never wait for more.
inline Slept unless_at_once(bool at_once) {
  return {at_once ? Slept::In::nothing : Slept::In::outside};
}
/// `timeout`: in whatever unit; 0: it only looks.
inline Slept unless_time_was_up(int result, long timeout = -1) {
  if (timeout == 0) return {Slept::In::nothing};
  return {result == 0 ? Slept::In::nap : Slept::In::outside};
}
/// Without a time it waits for ever.
inline long length_of(const timespec* time) {
  return time != nullptr ? (time->tv_sec | time->tv_nsec) : -1;
}
inline bool came_in_vain(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ETIMEDOUT);
}
inline Slept unless_in_vain(ssize_t result) {
  return {came_in_vain(result) ? Slept::In::nothing : Slept::In::outside};
}
/// What it waits for comes by a socket or a queue, which is no file.
inline Slept on_socket(int descriptor, ssize_t result, int flags = 0) {
  if ((flags & MSG_DONTWAIT) != 0) return {Slept::In::nothing};
  return {Slept::In::outside, descriptor, 0, came_in_vain(result)};
}
inline Slept in(int descriptor, ssize_t bytes) {
  return {Slept::In::any, descriptor, bytes > 0 ? static_cast<uint64_t>(bytes) : 0,
          came_in_vain(bytes)};
}
inline Slept in(FILE* stream, size_t bytes) {
  const KeepErrno keep;
  return {Slept::In::any, descriptor_of(stream), bytes};
}

/// The number of the name of the file, without its folders, that a descriptor of the program's has
/// open; kRawNamelessFile if nobody knows it.
uint64_t number_of_file(ThreadLog& log, int descriptor);

/// The same of calls that read.
template <class File>
Slept from(File file, ssize_t bytes) {
  Slept slept = in(file, bytes);
  slept.reads = true;
  return slept;
}
/// What others let the thread go on by; 0: nothing that they would name alike.
inline Slept waited_for(uint64_t object) {
  Slept slept = blocked();
  slept.object = object;
  return slept;
}

/// Who called a stand-in: its canonical frame address, and where the call returns to.
struct Caller {
  uintptr_t cfa, code;
};
/// Says where a thread slept.
void say_slept(const Caller& caller, uint64_t begin, uint64_t end, const char* name, Slept slept);

/// Times a call of the program. To be made in the very function that stands in for the call.
class Watch {
 public:
  Watch() {
    if (has_started() && lifecycle::is_watching()) begin_ = now();
  }
  bool watches() const { return begin_ != 0; }
  /// Whether the call, which is over, took long enough to be told of.
  bool was_long() {
    if (begin_ == 0) return false;
    end_ = now();
    return end_ - begin_ >= kShortestTicks;
  }
  uint64_t begin() const { return begin_; }
  [[gnu::always_inline]] void say(const char* name, const Slept& slept) const {
    const Caller caller{reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa()),
                        reinterpret_cast<uintptr_t>(__builtin_return_address(0))};
    say_slept(caller, begin_, end_, name, slept);
  }

 private:
  uint64_t begin_ = 0, end_ = 0;
};

}  // namespace culprit::collector::sampling
