// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Pairs that this process or one that it was forked from has made are remembered. The other end of
// a local socket is asked of the kernel (sock_diag(7)), which not all systems allow. The ends of a
// TCP connection are its two addresses, one way round or the other.
#include "collector/sampling/processes/sockets.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "collector/process/system_file.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

namespace {

// --- pairs --------------------------------------------------------------------------------------

/// The system's numbers of each socket and its other side.
constexpr unsigned kMostPairs = 256;
std::atomic<uint64_t> g_pairs[kMostPairs][2];
std::atomic<unsigned> g_pair_count{0};

/// The other side; 0 if the socket is of no known pair. If a number was used again, the last pair
/// counts.
uint64_t other_of_pair(uint64_t socket) {
  const unsigned count = std::min(g_pair_count.load(std::memory_order_relaxed), kMostPairs);
  for (unsigned i = count; i-- > 0;) {
    for (const unsigned side : {0U, 1U}) {
      if (g_pairs[i][side].load(std::memory_order_relaxed) != socket) continue;
      return g_pairs[i][1 - side].load(std::memory_order_relaxed);
    }
  }
  return 0;
}

// --- local sockets ------------------------------------------------------------------------------

struct Question {
  nlmsghdr header;
  unix_diag_req asked;
};

/// The number of the other side in the answer; 0 if it has none. Nothing if it is no answer.
std::optional<uint64_t> peer_in(const char* answer, size_t bytes) {
  nlmsghdr header;
  if (bytes < NLMSG_LENGTH(sizeof(unix_diag_msg))) return {};
  memcpy(&header, answer, sizeof header);
  if (header.nlmsg_type != SOCK_DIAG_BY_FAMILY || header.nlmsg_len > bytes) return {};
  size_t at = NLMSG_LENGTH(sizeof(unix_diag_msg));
  while (at + sizeof(rtattr) <= header.nlmsg_len) {
    rtattr attribute;
    uint32_t number;
    memcpy(&attribute, answer + at, sizeof attribute);
    if (attribute.rta_len < sizeof attribute) return {};
    if (attribute.rta_type == UNIX_DIAG_PEER && attribute.rta_len >= RTA_LENGTH(sizeof number) &&
        at + RTA_LENGTH(sizeof number) <= header.nlmsg_len) {
      memcpy(&number, answer + at + RTA_LENGTH(0), sizeof number);
      return number;
    }
    at += RTA_ALIGN(attribute.rta_len);
  }
  return 0;
}

/// 0: the other side has not accepted the connection. Nothing if the kernel does not say.
std::optional<uint64_t> peer_of_local(uint64_t socket_number) {
  const int kernel = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
  if (kernel < 0) return {};
  Question question = {};
  question.header.nlmsg_len = sizeof question;
  question.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  question.header.nlmsg_flags = NLM_F_REQUEST;
  question.asked.sdiag_family = AF_UNIX;
  question.asked.udiag_states = ~0U;
  question.asked.udiag_ino = static_cast<uint32_t>(socket_number);
  question.asked.udiag_show = UDIAG_SHOW_PEER;
  question.asked.udiag_cookie[0] = question.asked.udiag_cookie[1] = ~0U;
  std::optional<uint64_t> peer;
  char answer[1024];
  if (::write(kernel, &question, sizeof question) == static_cast<ssize_t>(sizeof question)) {
    const ssize_t got = ::read(kernel, answer, sizeof answer);
    if (got > 0) peer = peer_in(answer, static_cast<size_t>(got));
  }
  close(kernel);
  return peer;
}

// --- TCP ----------------------------------------------------------------------------------------

struct Address {
  in6_addr host = {};
  uint16_t port = 0;
};

/// Addresses of IPv4 are written as those of IPv6: either side may use either.
bool read_address(const sockaddr_storage& from, Address& to) {
  if (from.ss_family == AF_INET6) {
    sockaddr_in6 address;
    memcpy(&address, &from, sizeof address);
    to = {address.sin6_addr, address.sin6_port};
    return true;
  }
  if (from.ss_family != AF_INET) return false;
  sockaddr_in address;
  memcpy(&address, &from, sizeof address);
  to = {};
  to.host.s6_addr[10] = to.host.s6_addr[11] = 0xff;
  memcpy(to.host.s6_addr + 12, &address.sin_addr, sizeof address.sin_addr);
  to.port = address.sin_port;
  return true;
}

/// A connection within the node has the same address at both ends, or one of 127.0.0.0/8.
bool is_within_node(const Address& own, const Address& other) {
  constexpr uint8_t kLoopback = 127;
  if (memcmp(&own.host, &other.host, sizeof own.host) == 0) return true;
  return IN6_IS_ADDR_V4MAPPED(&own.host) && own.host.s6_addr[12] == kLoopback;
}

uint64_t number_of(const Address& own, const Address& other) {
  uint64_t number = uint64_t{own.port} << 16 | other.port;
  for (const Address* one : {&own, &other}) {
    uint64_t halves[2];
    memcpy(halves, &one->host, sizeof halves);
    number = trace::file_number(number ^ halves[0], halves[1]);
  }
  return number;
}

SocketEnds ends_of_tcp(const sockaddr_storage& own, const sockaddr_storage& other) {
  Address here, there;
  if (!read_address(own, here) || !read_address(other, there)) return {};
  if (!is_within_node(here, there)) return {};
  return {number_of(here, there), number_of(there, here)};
}

bool is_stream(int descriptor) {
  int type = 0;
  socklen_t size = sizeof type;
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

}  // namespace

void note_pair(const int (&sockets)[2]) {
  const KeepErrno keep;
  struct stat first, second;
  if (fstat(sockets[0], &first) != 0 || fstat(sockets[1], &second) != 0) return;
  const unsigned place = g_pair_count.fetch_add(1, std::memory_order_relaxed);
  if (place >= kMostPairs) {
    g_pair_count.store(kMostPairs, std::memory_order_relaxed);
    return;
  }
  g_pairs[place][0].store(first.st_ino, std::memory_order_relaxed);
  g_pairs[place][1].store(second.st_ino, std::memory_order_relaxed);
}

SocketEnds ends_of_socket(int descriptor, const struct stat& what) {
  const KeepErrno keep;
  if (const uint64_t other = other_of_pair(what.st_ino)) return {what.st_ino, other};
  sockaddr_storage own = {}, other = {};
  socklen_t size = sizeof own;
  if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &size) != 0) return {};
  size = sizeof other;
  if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &size) != 0) {
    return {.settled = errno != ENOTCONN || !is_stream(descriptor)};
  }
  if (own.ss_family != AF_UNIX) return ends_of_tcp(own, other);
  const std::optional<uint64_t> peer = peer_of_local(what.st_ino);
  if (!peer) return {};
  return *peer != 0 ? SocketEnds{what.st_ino, *peer} : SocketEnds{.settled = false};
}

}  // namespace culprit::collector::sampling
