// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The parts that stand-ins for the system's blocking calls share: how they find the system's own
// function, and how they record afterwards how long the thread was in it. These functions may be
// called from the program's signal handlers, so the system's own are looked up at load; only one
// that is called before is looked up at its call.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include <algorithm>

#include "collector/process/next.h"
#include "collector/process/recorder.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/sampling/started.h"
#include "collector/sampling/stream.h"

namespace culprit::collector::sampling {

/// Shorter waits are left to the samples around them: a record costs as much as they do. The limit
/// is in ticks of the clock, of whichever kind: between 15 and 50 us.
inline constexpr uint64_t kShortestTicks = 50'000;

/// Whether a sleep that begins at `time` goes on with one from `begin` to `end`, in which the
/// thread waited in vain until its time was up: a loop looks at something else now and then.
inline bool is_next_slice(uint64_t begin, uint64_t end, uint64_t time) {
  constexpr uint64_t kPart = 20;
  return time - end <= std::max(kShortestTicks, (end - begin) / kPart);
}

/// The reason why a thread slept.
struct Slept {
  enum class In : uint8_t {
    nothing,  ///< it did not sleep: the call was slow for want of a core
    nap,      ///< it wanted to sleep until a time, which came
    in_vain,  ///< it slept until its time was up, and nothing happened: it may try again
    outside,  ///< it slept until something happened outside of it
    file,     ///< it was reading or writing a file
    any,      ///< In::outside or In::file, depending on the descriptor
  };
  In in = In::outside;
  int descriptor = -1;
  uint64_t bytes = 0;
  bool in_vain = false;  ///< no data had come: if the descriptor lets threads wait, its timeout was
                         ///< up
  uint64_t object = 0;   ///< In::outside: the object by which others let the thread go on
                         ///< (trace::ObjectKind)
  bool reads = false;    ///< In::any: a thread that writes to the descriptor lets this one go on
  bool writes = false;   ///< likewise, one that reads from it
};

inline Slept nap() {
  return {Slept::In::nap};
}
inline Slept in_vain() {
  return {Slept::In::in_vain};
}
inline Slept blocked() {
  return {Slept::In::outside};
}
/// For a file whose number is not to be looked up any more.
inline Slept io() {
  return {Slept::In::file};
}
/// For calls that take the available data and never wait for more.
inline Slept at_once() {
  return {Slept::In::nothing};
}
inline Slept unless_at_once(bool is_at_once) {
  return is_at_once ? at_once() : blocked();
}
/// `timeout` may have any unit; 0: the call only looks.
inline Slept unless_time_was_up(int result, long timeout = -1) {
  if (timeout == 0) return {Slept::In::nothing};
  return {result == 0 ? Slept::In::in_vain : Slept::In::outside};
}
/// Without a time it waits for ever.
inline long length_of(const timespec* time) {
  return time != nullptr ? (time->tv_sec | time->tv_nsec) : -1;
}
inline bool came_in_vain(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EINPROGRESS || errno == ETIMEDOUT);
}
/// The awaited data comes by a socket or a queue, which is no file.
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

/// The number of the name, without folders, of the file that a descriptor of the program's has
/// open; kRawNamelessFile if it is unknown.
uint64_t number_of_file(ThreadLog& log, int descriptor);

/// The same for calls that read.
template <class File>
Slept from(File file, ssize_t bytes) {
  Slept slept = in(file, bytes);
  slept.reads = true;
  return slept;
}
/// The same for calls that write.
template <class File>
Slept onto(File file, ssize_t bytes) {
  Slept slept = in(file, bytes);
  slept.writes = true;
  return slept;
}
/// `object` lets the thread go on; 0: there is none that the other side would name alike.
inline Slept waited_for(uint64_t object) {
  Slept slept = blocked();
  slept.object = object;
  return slept;
}

/// The caller of a stand-in: its canonical frame address, and the return address of the call.
struct Caller {
  uintptr_t cfa, code;
};
/// Records where a thread slept.
void say_slept(const Caller& caller, uint64_t begin, uint64_t end, const char* name, Slept slept);

/// Times a call of the program. To be constructed in the very function that stands in for the call.
class Watch {
 public:
  Watch() {
    if (is_watched()) begin_ = now();
  }
  bool watches() const { return begin_ != 0; }
  /// Whether the call, which is over, took long enough to be recorded.
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
