// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which two sockets of a node are the ends of one connection: a pair, local sockets that were
// connected, or TCP on the node itself. Each end gets a number that both processes derive alike.
// MT: safe. Async-signal-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace culprit::collector::sampling {

/// 0: unknown, or on another node.
struct SocketEnds {
  uint64_t own = 0;     ///< of this descriptor's socket
  uint64_t other = 0;   ///< of the one that receives what is sent by it
  bool settled = true;  ///< false: it may yet be connected, or accepted by the other side
};
/// `what`: of the descriptor, which is a socket.
SocketEnds ends_of_socket(int descriptor, const struct stat& what);

/// Notes that this process made a pair.
void note_pair(const int (&sockets)[2]);

}  // namespace culprit::collector::sampling
