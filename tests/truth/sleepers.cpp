// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Rank 1 sleeps in a call of the system, or its threads wait for each other, in a function of its
// own; rank 0 waits for it. All of MPI is called by exchange(), which does nothing else: however
// the sleep is missed, that wrapper is innocent. Two ranks.
#include "truth.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

namespace {

TRUTH_LOUD void exchange() {
  TIMED(MPI_Barrier(MPI_COMM_WORLD));
  __asm__ volatile("" ::: "memory");
}

/// What the innocent other side does, or a child: it is nobody's function of the account.
void pass_time() {
  usleep(static_cast<useconds_t>(truth_ms * 1000));
}

TAKES_TIME(helper_work)

/// Charges the function that calls it with what `...` takes, which is a sleep of the case's time.
#define CHARGED(name, ...)                                        \
  do {                                                            \
    const long begun = truth_now();                               \
    __VA_ARGS__;                                                  \
    truth_charge(name, truth_now() - begun);                      \
    truth_asked_ns += static_cast<long>(truth_ms * 1e6) + 100000; \
    __asm__ volatile("" ::: "memory");                            \
  } while (0)

std::string scratch(const char* name) {
  const char* prefix = getenv("TRUTH_ACCOUNT");
  return std::string(prefix != nullptr ? prefix : "truth") + "-" + name;
}

void sure(bool right) {
  if (!right) abort();
}

/// A child that does `step` once a round, after its time; it needs no exec and never returns.
pid_t child_of_rounds(const std::function<void()>& step) {
  const pid_t child = fork();
  if (child != 0) return child;
  ROUNDS {
    pass_time();
    step();
  }
  _exit(0);
}

// --- descriptors ---

int ends[2];

TRUTH_LOUD void read_pipe() {
  char one;
  CHARGED("read_pipe", sure(read(ends[0], &one, 1) == 1));
}

void in_read() {
  sure(pipe(ends) == 0);
  if (rank == 1) child_of_rounds([] { sure(write(ends[1], "x", 1) == 1); });
  ROUNDS {
    if (rank == 1) read_pipe();
    exchange();
  }
}

TRUTH_LOUD void open_fifo(const std::string& path) {
  CHARGED("open_fifo", {
    const int fifo = open(path.c_str(), O_RDONLY);
    sure(fifo >= 0 && close(fifo) == 0);
  });
}

/// Two in turn: while one end of a FIFO is still open from the round before, the other would not
/// wait.
void in_fifo() {
  const std::string paths[2] = {scratch("even"), scratch("odd")};
  if (rank == 1) {
    for (const std::string& path : paths) sure(mkfifo(path.c_str(), 0600) == 0);
    int written = 0;
    child_of_rounds([&] { close(open(paths[written++ % 2].c_str(), O_WRONLY)); });
  }
  ROUNDS {
    if (rank == 1) open_fifo(paths[round % 2]);
    exchange();
  }
}

FILE* stream;

TRUTH_LOUD void read_line() {
  char line[16];
  CHARGED("read_line", sure(fgets(line, sizeof line, stream) != nullptr));
}

void in_fgets() {
  sure(pipe(ends) == 0);
  stream = fdopen(ends[0], "r");
  if (rank == 1) child_of_rounds([] { sure(write(ends[1], "abc\n", 4) == 4); });
  ROUNDS {
    if (rank == 1) read_line();
    exchange();
  }
}

/// By the instruction: nobody can stand in front of it.
TRUTH_LOUD void read_bare() {
  char one;
#if defined(__x86_64__)
  CHARGED("read_bare", {
    long result = SYS_read;
    __asm__ volatile("syscall"
                     : "+a"(result)
                     : "D"(ends[0]), "S"(&one), "d"(1)
                     : "rcx", "r11", "memory");
    sure(result == 1);
  });
#else
  CHARGED("read_bare", sure(read(ends[0], &one, 1) == 1));
#endif
}

void in_bare_read() {
  sure(pipe(ends) == 0);
  if (rank == 1) child_of_rounds([] { sure(write(ends[1], "x", 1) == 1); });
  ROUNDS {
    if (rank == 1) read_bare();
    exchange();
  }
}

/// The C library reads within it.
TRUTH_LOUD void scan_number() {
  int number;
  CHARGED("scan_number", sure(fscanf(stream, "%d", &number) == 1));
}

void in_fscanf() {
  sure(pipe(ends) == 0);
  stream = fdopen(ends[0], "r");
  if (rank == 1) child_of_rounds([] { sure(write(ends[1], "7 ", 2) == 2); });
  ROUNDS {
    if (rank == 1) scan_number();
    exchange();
  }
}

TRUTH_LOUD void run_script() {
  char command[64];
  snprintf(command, sizeof command, "sleep %.3f", truth_ms / 1000);
  CHARGED("run_script", sure(system(command) == 0));
}

void in_system() {
  ROUNDS {
    if (rank == 1) run_script();
    exchange();
  }
}

TRUTH_LOUD void await_child() {
  CHARGED("await_child", {
    const pid_t child = fork();
    if (child == 0) {
      pass_time();
      _exit(0);
    }
    sure(waitpid(child, nullptr, 0) == child);
  });
}

void in_waitpid() {
  ROUNDS {
    if (rank == 1) await_child();
    exchange();
  }
}

TRUTH_LOUD void await_message(int socket) {
  char one;
  CHARGED("await_message", sure(recv(socket, &one, 1, 0) == 1));
}

void in_recv() {
  int sides[2];
  sure(socketpair(AF_UNIX, SOCK_STREAM, 0, sides) == 0);
  if (rank == 1) child_of_rounds([&] { sure(send(sides[1], "x", 1, 0) == 1); });
  ROUNDS {
    if (rank == 1) await_message(sides[0]);
    exchange();
  }
}

TRUTH_LOUD void await_ready() {
  char one;
  CHARGED("await_ready", {
    pollfd ready = {ends[0], POLLIN, 0};
    sure(poll(&ready, 1, -1) == 1 && read(ends[0], &one, 1) == 1);
  });
}

void in_poll() {
  sure(pipe(ends) == 0);
  if (rank == 1) child_of_rounds([] { sure(write(ends[1], "x", 1) == 1); });
  ROUNDS {
    if (rank == 1) await_ready();
    exchange();
  }
}

TRUTH_LOUD void lock_file(int file) {
  CHARGED("lock_file", sure(flock(file, LOCK_EX) == 0));
}

/// The child has the lock, lets it go after its time, and takes it again when rank 1 has let it go.
void in_flock() {
  const std::string path = scratch("lock");
  const auto open_it = [&] { return open(path.c_str(), O_RDWR | O_CREAT, 0600); };
  int told[2], asked[2];
  char one;
  sure(pipe(told) == 0 && pipe(asked) == 0);
  if (rank == 1 && fork() == 0) {
    const int file = open_it();
    ROUNDS {
      sure(flock(file, LOCK_EX) == 0 && write(told[1], "x", 1) == 1);
      pass_time();
      sure(flock(file, LOCK_UN) == 0 && read(asked[0], &one, 1) == 1);
    }
    _exit(0);
  }
  const int file = rank == 1 ? open_it() : -1;
  ROUNDS {
    if (rank == 1) {
      sure(read(told[0], &one, 1) == 1);
      lock_file(file);
      sure(flock(file, LOCK_UN) == 0 && write(asked[1], "x", 1) == 1);
    }
    exchange();
  }
}

/// How long that takes is the machine's affair.
TRUTH_LOUD void write_checkpoint(int file) {
  static char data[4 << 20];
  const long begun = truth_now();
  sure(pwrite(file, data, sizeof data, 0) == sizeof data && fsync(file) == 0);
  const long took = truth_now() - begun;
  truth_charge("write_checkpoint", took);
  truth_asked_ns += took;
  __asm__ volatile("" ::: "memory");
}

void in_fsync() {
  const std::string path = scratch("state");
  const int file = rank == 1 ? open(path.c_str(), O_RDWR | O_CREAT, 0600) : -1;
  ROUNDS {
    if (rank == 1) write_checkpoint(file);
    exchange();
  }
}

// --- threads of rank 1: its master waits for the helper, rank 0 for the master ---

template <class Helper, class Master>
void with_helper(const Helper& helper, const Master& master) {
  std::thread thread;
  if (rank == 1) thread = std::thread([&] { ROUNDS helper(); });
  ROUNDS {
    if (rank == 1) TIMED(master());
    exchange();
  }
  if (rank == 1) thread.join();
}

void std_barrier() {
  std::barrier meeting(2);
  with_helper([&] { helper_work(truth_ms), meeting.arrive_and_wait(); },
              [&] { meeting.arrive_and_wait(); });
}

void std_latch() {
  std::latch* volatile current = nullptr;
  std::counting_semaphore<> made(0), gone(0);
  with_helper(
      [&] {
        made.acquire();
        helper_work(truth_ms);
        current->count_down();
        gone.acquire();
      },
      [&] {
        std::latch once(1);
        current = &once;
        made.release();
        once.wait();
        gone.release();
        // The helper is done with it: it waits for its semaphore, or is on the way there.
        usleep(1000);
      });
}

void std_semaphore() {
  std::counting_semaphore<> done(0);
  with_helper([&] { helper_work(truth_ms), done.release(); }, [&] { done.acquire(); });
}

void atomic_wait() {
  std::atomic<int> done{0};
  int seen = 0;
  with_helper(
      [&] {
        helper_work(truth_ms);
        done.fetch_add(1);
        done.notify_one();
      },
      [&] { done.wait(seen++); });
}

void future() {
  ROUNDS {
    if (rank == 1) {
      std::future<void> result = std::async(std::launch::async, [] { helper_work(truth_ms); });
      TIMED(result.get());
    }
    exchange();
  }
}

void call_once() {
  ROUNDS {
    if (rank == 1) {
      std::once_flag once;
      std::atomic<bool> begun{false};
      std::thread helper([&] {
        std::call_once(once, [&] {
          begun = true;
          helper_work(truth_ms);
        });
      });
      while (!begun) usleep(100);
      TIMED(std::call_once(once, [] { abort(); }));
      helper.join();
    }
    exchange();
  }
}

/// The master looks every 10 ms whether it is done: slices of one wait.
void in_slices() {
  std::mutex mutex;
  std::condition_variable changed;
  int done = 0, seen = 0;
  with_helper(
      [&] {
        helper_work(truth_ms);
        std::lock_guard<std::mutex> guard(mutex);
        ++done;
        changed.notify_one();
      },
      [&] {
        std::unique_lock<std::mutex> guard(mutex);
        ++seen;
        while (done < seen) changed.wait_for(guard, std::chrono::milliseconds(10));
      });
}

const truth_case kCases[] = {
    {"read", in_read},
    {"fifo", in_fifo},
    {"fgets", in_fgets},
    {"bare_read", in_bare_read},
    {"fscanf", in_fscanf},
    {"system", in_system},
    {"waitpid", in_waitpid},
    {"recv", in_recv},
    {"poll", in_poll},
    {"flock", in_flock},
    {"fsync", in_fsync},
    {"std_barrier", std_barrier},
    {"std_latch", std_latch},
    {"std_semaphore", std_semaphore},
    {"atomic_wait", atomic_wait},
    {"future", future},
    {"call_once", call_once},
    {"slices", in_slices},
};

}  // namespace

TRUTH_MPI_MAIN(kCases)
