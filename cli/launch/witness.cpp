// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Nothing depends on when the witness runs: signals that are blocked wait in the kernel until it is
// asked, and it was there after culprit, so that the kernel gives it its own first. It has a name
// of its own, since pkill and its relatives send to each process whose name fits: one that is meant
// for culprit is not for the witness.
#include "cli/launch/witness.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace culprit::cli {
namespace {

constexpr const char kName[] = "signal-witness";
constexpr int kPatience_ms = 1000;
/// More signals than are sent at once in practice; further ones wait for the next query.
constexpr size_t kMost = 64;

struct Testimony {
  size_t count;
  siginfo_t signals[kMost];
};

/// The command line, too: tools read it where the kernel has put it.
void take_name() {
  prctl(PR_SET_NAME, kName);
  char words[4096];
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, words, sizeof words);
  if (file >= 0) close(file);
  if (length <= static_cast<ssize_t>(sizeof kName)) return;
  memset(program_invocation_name, 0, static_cast<size_t>(length));
  memcpy(program_invocation_name, kName, sizeof kName);
}

/// Files of culprit's, such as the reader's end of a pipe, must not stay open in here.
void close_all_but(int file) {
  const long most = sysconf(_SC_OPEN_MAX);
  const auto last = static_cast<unsigned>(file);
  if (close_range(0, last - 1, 0) == 0 && close_range(last + 1, ~0u, 0) == 0) return;
  for (int other = 0; other < most && other < 65536; ++other) {
    if (other != file) close(other);
  }
}

Testimony gather() {
  sigset_t all;
  sigfillset(&all);
  const timespec at_once = {};
  Testimony testimony = {};
  while (testimony.count < kMost) {
    if (sigtimedwait(&all, &testimony.signals[testimony.count], &at_once) <= 0) break;
    ++testimony.count;
  }
  return testimony;
}

[[noreturn]] void bear_witness(int from, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  close_all_but(from);
  take_name();
  char question = 0;
  while (read(from, &question, 1) == 1) {
    const Testimony testimony = gather();
    const size_t size = offsetof(Testimony, signals) + testimony.count * sizeof(siginfo_t);
    if (send(from, &testimony, size, MSG_NOSIGNAL) < 0) break;
  }
  _exit(0);
}

}  // namespace

Witness::Witness() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) bear_witness(ends[1], parent);
  close(ends[1]);
  to_ = ends[0];
  if (process_ < 0) dismiss();
}

Witness::~Witness() {
  dismiss();
}

void Witness::dismiss() {
  if (to_ >= 0) close(to_);
  to_ = -1;
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

std::optional<std::vector<siginfo_t>> Witness::ask() {
  if (to_ < 0) return std::nullopt;
  Testimony testimony = {};
  pollfd answer = {to_, POLLIN, 0};
  const char question = '?';
  const bool answered = send(to_, &question, 1, MSG_NOSIGNAL) == 1 &&
                        poll(&answer, 1, kPatience_ms) == 1 &&
                        recv(to_, &testimony, sizeof testimony, 0) > 0;
  if (!answered) {
    dismiss();  // rather none than one whose answers come late
    return std::nullopt;
  }
  return std::vector<siginfo_t>(testimony.signals, testimony.signals + testimony.count);
}

}  // namespace culprit::cli
