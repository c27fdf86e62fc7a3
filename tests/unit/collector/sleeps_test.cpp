// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls of the system in which a thread sleeps: that each leaves a record, of the right sort. Each
// is made to take milliseconds; that none of them does so for want of a core cannot be arranged,
// and is asked of the classification alone.
#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "child.h"
#include "collector/probes.h"
#include "collector/process/recorder.h"
#include "collector/sampling/blocking_call.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::thread_log;
using trace::RawKind;

const std::map<std::string, std::string> kWatched = {{"CULPRIT_SAMPLING", "100"}};
constexpr timespec kMoment = {0, 5'000'000};

/// Does something a moment later, beside.
class Later {
 public:
  explicit Later(std::function<void()> action)
      : thread_([action = std::move(action)] {
          nanosleep(&kMoment, nullptr);
          action();
        }) {}
  ~Later() { thread_.join(); }
  Later(const Later&) = delete;
  Later& operator=(const Later&) = delete;

 private:
  std::thread thread_;
};

pid_t child_of_a_moment() {
  const pid_t child = fork();
  if (child == 0) nanosleep(&kMoment, nullptr), _exit(0);
  return child;
}

struct Pipe {
  int ends[2];
  Pipe() : ends{-1, -1} {
    if (pipe(ends) != 0) ends[0] = ends[1] = -1;
  }
  bool fill() const { return write(ends[1], "x", 1) == 1; }
};

struct Sockets {
  int sides[2];
  explicit Sockets(int kind) : sides{-1, -1} {
    if (socketpair(AF_UNIX, kind, 0, sides) != 0) sides[0] = sides[1] = -1;
  }
};

/// A file of some size in the experiment's folder, which is the working one.
int large_file(const char* name) {
  static char data[1 << 20];
  const int file = open(name, O_CREAT | O_RDWR, 0600);
  for (int i = 0; i < 32; ++i) {
    if (write(file, data, sizeof data) != sizeof data) return -1;
  }
  lseek(file, 0, SEEK_SET);
  return file;
}

enum class Sort { nap, outside, file };

struct Case {
  const char* call;
  Sort sort;
  std::function<bool()> run;
};

void PrintTo(const Case& one, std::ostream* to) {
  *to << one.call;
}

const Case kCases[] = {
    // --- until a time ---
    {"usleep", Sort::nap, [] { return usleep(5000) == 0; }},
    {"clock_nanosleep", Sort::nap,
     [] { return clock_nanosleep(CLOCK_MONOTONIC, 0, &kMoment, nullptr) == 0; }},
    {"thrd_sleep", Sort::nap, [] { return thrd_sleep(&kMoment, nullptr) == 0; }},
    {"poll", Sort::nap, [] { return poll(nullptr, 0, 5) == 0; }},
    {"ppoll", Sort::nap, [] { return ppoll(nullptr, 0, &kMoment, nullptr) == 0; }},
    {"select", Sort::nap,
     [] {
       timeval time = {0, 5000};
       return select(0, nullptr, nullptr, nullptr, &time) == 0;
     }},
    {"pselect", Sort::nap,
     [] { return pselect(0, nullptr, nullptr, nullptr, &kMoment, nullptr) == 0; }},
    {"epoll_pwait2", Sort::nap,
     [] {
       epoll_event event;
       return epoll_pwait2(epoll_create1(0), &event, 1, &kMoment, nullptr) == 0;
     }},
    {"sigtimedwait", Sort::nap,
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       return sigtimedwait(&set, nullptr, &kMoment) == -1;
     }},
    {"recv", Sort::nap,
     [] {
       const Sockets pair(SOCK_STREAM);
       const timeval limit = {0, 5000};
       setsockopt(pair.sides[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
       char one;
       return recv(pair.sides[0], &one, 1, 0) == -1;
     }},
    {"semtimedop", Sort::nap,
     [] {
       const int set = semget(IPC_PRIVATE, 1, 0600);
       sembuf take = {0, -1, 0};
       const bool right = semtimedop(set, &take, 1, &kMoment) == -1;
       return semctl(set, 0, IPC_RMID) == 0 && right;
     }},
    // --- until something happens outside ---
    {"epoll_wait", Sort::outside,
     [] {
       const Pipe pipe;
       const int queue = epoll_create1(0);
       epoll_event event = {EPOLLIN, {}};
       epoll_ctl(queue, EPOLL_CTL_ADD, pipe.ends[0], &event);
       const Later later([&] { pipe.fill(); });
       return epoll_wait(queue, &event, 1, -1) == 1;
     }},
    {"open64", Sort::outside,
     [] {
       if (mkfifo("fifo", 0600) != 0) return false;
       const Later later([] { close(open("fifo", O_WRONLY)); });
       return open64("fifo", O_RDONLY) >= 0;
     }},
    {"read", Sort::outside,
     [] {
       const Pipe pipe;
       const Later later([&] { pipe.fill(); });
       char one;
       return read(pipe.ends[0], &one, 1) == 1;
     }},
    {"splice", Sort::outside,
     [] {
       const Pipe from, to;
       const Later later([&] { from.fill(); });
       return splice(from.ends[0], nullptr, to.ends[1], nullptr, 1, 0) == 1;
     }},
    {"lockf64", Sort::outside,
     [] {
       const Pipe held;
       const int file = open("lock", O_CREAT | O_RDWR, 0600);
       if (fork() == 0) {
         if (lockf64(file, F_LOCK, 0) != 0 || !held.fill()) _exit(1);
         nanosleep(&kMoment, nullptr);
         _exit(0);
       }
       char one;
       return read(held.ends[0], &one, 1) == 1 && lockf64(file, F_LOCK, 0) == 0;
     }},
    {"recvmmsg", Sort::outside,
     [] {
       const Sockets pair(SOCK_DGRAM);
       const Later later([&] { send(pair.sides[1], "x", 1, 0); });
       char one;
       iovec to = {&one, 1};
       mmsghdr message = {};
       message.msg_hdr.msg_iov = &to;
       message.msg_hdr.msg_iovlen = 1;
       return recvmmsg(pair.sides[0], &message, 1, 0, nullptr) == 1;
     }},
    {"close", Sort::outside,
     [] {
       // It lingers until the other side has read what was sent.
       const int listener = socket(AF_INET, SOCK_STREAM, 0),
                 sender = socket(AF_INET, SOCK_STREAM, 0);
       sockaddr_in at = {};
       at.sin_family = AF_INET;
       at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
       socklen_t size = sizeof at;
       auto* const address = reinterpret_cast<sockaddr*>(&at);
       if (bind(listener, address, size) != 0 || listen(listener, 1) != 0) return false;
       if (getsockname(listener, address, &size) != 0) return false;
       if (connect(sender, address, size) != 0) return false;
       const int receiver = accept(listener, nullptr, nullptr);
       const linger on = {1, 10};
       setsockopt(sender, SOL_SOCKET, SO_LINGER, &on, sizeof on);
       static char data[1 << 16];
       while (send(sender, data, sizeof data, MSG_DONTWAIT) > 0) {
       }
       const Later later([&] {
         static char there[1 << 16];
         while (recv(receiver, there, sizeof there, 0) > 0) {
         }
       });
       return close(sender) == 0;
     }},
    {"msgrcv", Sort::outside,
     [] {
       struct {
         long type;
         char text[8];
       } message = {1, "x"};
       const int queue = msgget(IPC_PRIVATE, 0600);
       bool right;
       {
         const Later later([&] { msgsnd(queue, &message, 1, 0); });
         decltype(message) got;
         right = msgrcv(queue, &got, sizeof got.text, 0, 0) == 1;
       }
       return msgctl(queue, IPC_RMID, nullptr) == 0 && right;
     }},
    {"semop", Sort::outside,
     [] {
       const int set = semget(IPC_PRIVATE, 1, 0600);
       bool right;
       {
         const Later later([&] {
           sembuf give = {0, 1, 0};
           semop(set, &give, 1);
         });
         sembuf take = {0, -1, 0};
         right = semop(set, &take, 1) == 0;
       }
       return semctl(set, 0, IPC_RMID) == 0 && right;
     }},
    {"wait4", Sort::outside,
     [] {
       const pid_t child = child_of_a_moment();
       return wait4(child, nullptr, 0, nullptr) == child;
     }},
    {"wait3", Sort::outside,
     [] {
       const pid_t child = child_of_a_moment();
       return wait3(nullptr, 0, nullptr) == child;
     }},
    {"waitid", Sort::outside,
     [] {
       const pid_t child = child_of_a_moment();
       return waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED) == 0;
     }},
    {"sigwait", Sort::outside,
     [] {
       sigset_t set;
       sigemptyset(&set);
       sigaddset(&set, SIGUSR1);
       pthread_sigmask(SIG_BLOCK, &set, nullptr);
       const pthread_t self = pthread_self();
       const Later later([&] { pthread_kill(self, SIGUSR1); });
       int signal = 0;
       return sigwait(&set, &signal) == 0 && signal == SIGUSR1;
     }},
    {"pause", Sort::outside,
     [] {
       signal(SIGUSR1, [](int) {});
       const pthread_t self = pthread_self();
       // On a busy machine the first may come before the pause.
       std::atomic<bool> over{false};
       const Later later([&] {
         for (int i = 0; i < 1000 && !over; ++i) {
           pthread_kill(self, SIGUSR1);
           usleep(10'000);
         }
       });
       const int result = pause();
       over = true;
       return result == -1;
     }},
    // --- files ---
    {"pread64", Sort::file,
     [] {
       static char to[32 << 20];
       return pread64(large_file("a"), to, sizeof to, 0) == sizeof to;
     }},
    {"preadv2", Sort::file,
     [] {
       static char to[32 << 20];
       const iovec whole = {to, sizeof to};
       return preadv2(large_file("a"), &whole, 1, 0, 0) == sizeof to;
     }},
    {"sendfile", Sort::file,
     [] {
       const int to = open("b", O_CREAT | O_RDWR, 0600);
       return sendfile(to, large_file("a"), nullptr, 32 << 20) > 0;
     }},
};

class SleepingCalls : public testing::TestWithParam<Case> {};

TEST_P(SleepingCalls, AreRecordedAsWhatTheyAre) {
  const Case& one = GetParam();
  Experiment experiment;
  const int status = experiment.run(
      [&] {
        if (chdir(experiment.folder().c_str()) != 0) return 2;
        collector::start_probes();
        if (!activate() || thread_log() == nullptr) return 3;
        return one.run() ? 0 : 1;
      },
      kWatched);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
    GTEST_SKIP() << "the system refuses " << one.call;
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const RawRun run = experiment.read_one();
  const RawThread& thread = run.threads.at(0);
  size_t found = 0;
  for (const RawRecord* record : thread.of(RawKind::blocked)) {
    const auto blocked = record->as<trace::raw::blocked>();
    if (one.sort == Sort::nap) {
      if (blocked.name == 0) ++found;
      continue;
    }
    if (blocked.name == 0 || thread.string(blocked.name) != one.call) continue;
    // On a busy machine other calls with this name may take long: files that probes close.
    if ((blocked.file != 0) != (one.sort == Sort::file)) continue;
    ++found;
    EXPECT_EQ(blocked.bytes != 0, one.sort == Sort::file);
  }
  EXPECT_GE(found, 1u) << one.call << " left no record";
}

INSTANTIATE_TEST_SUITE_P(All, SleepingCalls, testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.call); });

/// As C++'s atomics do it: a few yields, then the sleep. The wait began with the first.
TEST(Sleeps, BeginWithTheYieldsBeforeThem) {
  constexpr int kTries = 5;
  bool found = false;
  for (int i = 0; i < kTries && !found; ++i) {
    Experiment experiment;
    const int status = experiment.run(
        [&] {
          collector::start_probes();
          if (!activate() || thread_log() == nullptr) return 3;
          int word = 0;
          for (int k = 0; k < 4; ++k) sched_yield();
          const uint64_t then = collector::now();
          syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &kMoment, nullptr, 0);
          thread_log()->put(collector::now(), trace::raw::woke{.object = then});
          return 0;
        },
        kWatched);
    ASSERT_EQ(status, 0);
    const RawRun run = experiment.read_one();
    const RawThread& thread = run.threads.at(0);
    const auto waits = thread.of(RawKind::blocked);
    ASSERT_GE(waits.size(), 1u);
    const uint64_t then = thread.of(RawKind::woke).at(0)->as<trace::raw::woke>().object;
    // The thread may have lost its core between two of the calls.
    found = waits.back()->header.time < then;
  }
  EXPECT_TRUE(found);
}

using collector::sampling::Slept;

// They are slow only if the thread had no core meanwhile.
TEST(Slept, SaysNothingOfCallsThatOnlyLook) {
  using namespace collector::sampling;
  constexpr timespec kNone = {0, 0};
  EXPECT_EQ(unless_time_was_up(0, 0).in, Slept::In::nothing);
  EXPECT_EQ(unless_time_was_up(1, length_of(&kNone)).in, Slept::In::nothing);
  EXPECT_EQ(unless_time_was_up(0, length_of(&kMoment)).in, Slept::In::in_vain);
  EXPECT_EQ(unless_time_was_up(0, length_of(nullptr)).in, Slept::In::in_vain);
  EXPECT_EQ(unless_time_was_up(1, 5).in, Slept::In::outside);
  EXPECT_EQ(unless_at_once(true).in, Slept::In::nothing);
  EXPECT_EQ(on_socket(3, 1, MSG_DONTWAIT).in, Slept::In::nothing);
  errno = EAGAIN;
  EXPECT_TRUE(on_socket(3, -1).in_vain);
  EXPECT_TRUE(came_in_vain(-1));
  errno = EINTR;
  EXPECT_FALSE(on_socket(3, -1).in_vain);
}

}  // namespace
}  // namespace culprit::tests
