// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What descriptors stand for, as far as threads of this and of other processes wait for each other
// by it (trace::ObjectKind): pipes and FIFOs, sockets of a pair, eventfds. Whoever writes to one
// says so before, since that may let others go on; for all other descriptors this is one load and
// one comparison. The system is asked once for each, and again when its number gets a new meaning
// (close, dup2).
// Two sockets are known to be a pair if this process made it, or one that it was forked from.
// MT: safe. Async-signal-safe.
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

/// At load: where the system's own are.
void find_descriptor_calls();

/// Descriptors from here on are not looked at.
inline constexpr unsigned kMostDescriptors = 4096;
/// What is known of a descriptor. Anything greater is an object: who waits for it may go on when
/// the descriptor is written to.
namespace use {
inline constexpr uint64_t unknown = 0, plain = 1;
}
extern std::atomic<uint64_t> g_uses[kMostDescriptors];

/// Whoever waits to read what is about to be written may go on.
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

/// It is about to be closed, or to be made another: who waits for its locks, or for the last that
/// writes to it, may go on. From now on its number means nothing.
void before_close(int descriptor);
void before_close(FILE* stream);
/// All are about to be closed, because the process ends.
void before_end();

/// A descriptor has been opened by a call at `time`: if it is a FIFO, whoever waited for that may
/// go on. To be said before what the call slept in.
void say_opened(int descriptor, uint64_t time);

/// What a thread waited for that has just read from a descriptor, or may; 0: nothing that others
/// would name alike.
uint64_t object_to_read(int descriptor);
/// The same of one that has opened it: `object_to_read`, but for a FIFO.
uint64_t object_to_open(int descriptor);
/// The same of the first of several that may be read.
uint64_t object_of_ready(const pollfd* files, nfds_t count);
uint64_t object_of_ready(const fd_set* in, int count);
uint64_t object_of_ready(int queue, const epoll_event* first);
/// By who locks it.
uint64_t object_to_lock(int descriptor);

/// This process holds locks of the file by this descriptor, as far as anybody knows.
void note_lock(int descriptor);
bool has_lock(int descriptor);
/// Whoever waits for them may go on.
void say_unlocked(int descriptor, Whence whence = Whence::caller);

}  // namespace culprit::collector::sampling
