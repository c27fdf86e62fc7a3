// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The objects behind descriptors by which threads of this and of other processes wait for each
// other (trace::ObjectKind): pipes and FIFOs, sockets, eventfds. A writer records the
// write before it happens, since that may let others go on, and so does a reader of a pipe that is
// full; for all other descriptors this is one load and one comparison. The system is asked once for
// each, and again when the descriptor's number gets a new meaning (close, dup2). MT: safe.
// Async-signal-safe.
#pragma once

#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include <atomic>
#include <cstdint>

#include "collector/sampling/processes/node_wakes.h"
#include "collector/sampling/stream.h"

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_descriptor_calls();

/// Descriptors from this number on are ignored.
inline constexpr unsigned kMostDescriptors = 4096;
/// The known use of a descriptor. Any greater value is an object: a thread that waits for it may go
/// on when the descriptor is written to.
namespace use {
inline constexpr uint64_t unknown = 0, plain = 1;
}
extern std::atomic<uint64_t> g_uses[kMostDescriptors];

/// Records that a thread that waits for data from this descriptor may go on, since data is about to
/// be written.
void say_written(int descriptor);
[[gnu::always_inline]] inline void before_write(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kMostDescriptors) return;
  if (g_uses[number].load(std::memory_order_relaxed) == use::plain) [[likely]]
    return;
  say_written(descriptor);
}
inline void before_write(FILE* stream) {
  before_write(descriptor_of(stream));
}

/// Records that a thread that waits for room to write may go on, since so much is about to be read
/// that there was none.
void say_read(int descriptor);
[[gnu::always_inline]] inline void before_read(int descriptor) {
  const auto number = static_cast<unsigned>(descriptor);
  if (number >= kMostDescriptors) return;
  if (g_uses[number].load(std::memory_order_relaxed) == use::plain) [[likely]]
    return;
  say_read(descriptor);
}
/// Only if its buffer is empty, so that it will be filled.
inline void before_read(FILE* stream) {
  if (stream->_IO_read_ptr == stream->_IO_read_end) before_read(descriptor_of(stream));
}

/// The descriptor is about to be closed, or replaced by another: threads that wait for its locks,
/// or for its last writer, may go on. From now on its number means nothing.
void before_close(int descriptor);
void before_close(FILE* stream);
/// All descriptors are about to be closed, because the process ends.
void before_end();

/// A descriptor has been opened by a call at `time`: if it is a FIFO, a thread that waited for that
/// may go on. To be called before the call's own sleep is recorded.
void say_opened(int descriptor, uint64_t time);

/// The object that a thread waits for when it reads from the descriptor; 0 if there is none that
/// the other side would name alike.
uint64_t object_to_read(int descriptor);
/// The object that a thread waits for when it writes to the descriptor; likewise.
uint64_t object_to_write(int descriptor);
/// The object that a thread waited for when it opened this FIFO; 0 if the descriptor is no FIFO.
uint64_t object_to_open(int descriptor);
/// The same for the first of several descriptors that may be read, or else written.
uint64_t object_of_ready(const pollfd* files, nfds_t count);
uint64_t object_of_ready(const fd_set* in, const fd_set* out, int count);
uint64_t object_of_ready(int queue, const epoll_event* first);
/// The object that a thread waits for when it locks the file.
uint64_t object_to_lock(int descriptor);

/// Notes that this process holds locks of the file by this descriptor.
void note_lock(int descriptor);
bool has_lock(int descriptor);
/// Records that threads that wait for these locks may go on.
void say_unlocked(int descriptor, Whence whence = Whence::caller);

}  // namespace culprit::collector::sampling
