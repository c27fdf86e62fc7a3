// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One table, by the numbers of this machine's processor: records are looked at where they were
// made, or on a machine like it.
#include "assemble/look/system_calls.h"

#include <fmt/format.h>
#include <sys/syscall.h>

namespace culprit::assemble::look {
namespace {

struct Row {
  int64_t number;
  const char* name;
  CallSort sort;
};

constexpr Row kRows[] = {
    {SYS_futex, "futex", CallSort::futex},
    {SYS_read, "read", CallSort::reads},
    {SYS_readv, "readv", CallSort::reads},
    {SYS_pread64, "pread", CallSort::reads},
    {SYS_recvfrom, "recv", CallSort::reads},
    {SYS_recvmsg, "recvmsg", CallSort::reads},
    {SYS_accept, "accept", CallSort::reads},
    {SYS_accept4, "accept", CallSort::reads},
    {SYS_write, "write", CallSort::writes},
    {SYS_writev, "writev", CallSort::writes},
    {SYS_pwrite64, "pwrite", CallSort::writes},
    {SYS_sendto, "send", CallSort::writes},
    {SYS_sendmsg, "sendmsg", CallSort::writes},
    {SYS_connect, "connect", CallSort::writes},
    {SYS_fsync, "fsync", CallSort::writes},
    {SYS_fdatasync, "fdatasync", CallSort::writes},
    {SYS_flock, "flock", CallSort::locks},
    {SYS_fcntl, "fcntl", CallSort::locks},
    {SYS_openat, "open", CallSort::opens},
    {SYS_wait4, "waitpid", CallSort::child},
    {SYS_waitid, "waitid", CallSort::child},
    {SYS_nanosleep, "nanosleep", CallSort::sleeps},
    {SYS_clock_nanosleep, "clock_nanosleep", CallSort::sleeps},
    {SYS_ppoll, "poll", CallSort::polls},
    {SYS_pselect6, "select", CallSort::polls},
    {SYS_epoll_pwait, "epoll_wait", CallSort::polls},
    {SYS_rt_sigtimedwait, "sigwait", CallSort::other},
    {SYS_rt_sigsuspend, "sigsuspend", CallSort::other},
    {SYS_msgrcv, "msgrcv", CallSort::other},
    {SYS_msgsnd, "msgsnd", CallSort::other},
    {SYS_mq_timedreceive, "mq_receive", CallSort::reads},
    {SYS_mq_timedsend, "mq_send", CallSort::writes},
    {SYS_semop, "semop", CallSort::other},
    {SYS_semtimedop, "semop", CallSort::other},
    {SYS_io_getevents, "io_getevents", CallSort::other},
    {SYS_sched_yield, "sched_yield", CallSort::other},
#ifdef SYS_poll  // newer processors have only the calls above
    {SYS_poll, "poll", CallSort::polls},
    {SYS_select, "select", CallSort::polls},
    {SYS_epoll_wait, "epoll_wait", CallSort::polls},
    {SYS_pause, "pause", CallSort::other},
#endif
};

}  // namespace

SystemCall system_call(int64_t number) {
  for (const Row& row : kRows) {
    if (row.number == number) return {row.name, row.sort};
  }
  return {fmt::format("system call {}", number), CallSort::other};
}

}  // namespace culprit::assemble::look
