// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The objects that threads wait for and by which they let each other go on, as one number: in
// events (Fact::awaited, Fact::woke, Fact::begun) and in the records that these come from. The
// highest byte gives the object's kind; addresses have none there. Processes of one node mean the
// same object by the same number, except for objects of a single process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace culprit::trace {

enum class ObjectKind : uint8_t {
  own,        ///< its process's alone: an address there, or a number that it gave out
  pipe,       ///< data to read in a pipe or FIFO, or the end of its last writer
  opening,    ///< the other side of a FIFO, to be opened as well
  socket,     ///< something to read from a socket whose other end is on the node
  event,      ///< a count in an eventfd
  file_lock,  ///< a lock of a file
  fork,       ///< a process that begins
  process,    ///< a process that ends
  shared,     ///< a mutex, condition, semaphore, ... in memory that processes share
  room,       ///< room for more data in a pipe, a FIFO or a socket of the node, or in a queue
  queue,      ///< a message in a queue of the system (POSIX's or System V's)
  semaphore,  ///< a System V semaphore, to be raised, or to become zero
  signal,     ///< a signal to a process
};
/// The kinds' names in pictures of tests.
inline constexpr std::string_view kObjectKinds[] = {
    "",        "pipe",   "opening", "socket", "event",     "file_lock", "fork",
    "process", "shared", "room",    "queue",  "semaphore", "signal"};
inline constexpr size_t kObjectKindCount = std::size(kObjectKinds);

inline constexpr unsigned kObjectKindShift = 56;
constexpr uint64_t object_of(ObjectKind kind, uint64_t number) {
  constexpr uint64_t kNumber = (uint64_t{1} << kObjectKindShift) - 1;
  return uint64_t{static_cast<uint8_t>(kind)} << kObjectKindShift | (number & kNumber);
}
constexpr ObjectKind kind_of(uint64_t object) {
  const uint64_t kind = object >> kObjectKindShift;
  return kind < kObjectKindCount ? static_cast<ObjectKind>(kind) : ObjectKind::own;
}
/// Whether other processes of the node mean the same by it.
constexpr bool is_of_node(uint64_t object) {
  return kind_of(object) != ObjectKind::own;
}

/// The number of a file of the node.
constexpr uint64_t file_number(uint64_t device, uint64_t inode) {
  uint64_t mixed = inode + device * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

}  // namespace culprit::trace
