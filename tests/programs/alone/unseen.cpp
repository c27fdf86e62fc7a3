// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that sleep where nobody stands in front of the call: by the bare instruction, within
// functions of the C library, in locks of its own. Each case does so for a while in a function of
// its own. The last looks for traces of whoever watches.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace {

constexpr int kRounds = 4, kMs = 200;
int ends[2];

void doze(int ms) {
  usleep(static_cast<useconds_t>(ms) * 1000);
}

void give() {
  doze(kMs);
  if (write(ends[1], "1 ", 2) != 2) abort();
}

[[gnu::always_inline]] inline void read_by_itself() {
  char two[2];
  long result = SYS_read;
  asm volatile("syscall" : "+a"(result) : "D"(ends[0]), "S"(two), "d"(2) : "rcx", "r11", "memory");
  if (result != 2) abort();
}

// They differ, so that the compiler does not make one of them.
[[gnu::noinline]] void await_bare() {
  read_by_itself();
  asm volatile("" ::"i"(0));
}
[[gnu::noinline]] void await_in_thread() {
  read_by_itself();
  asm volatile("" ::"i"(1));
}
[[gnu::noinline]] void await_deep() {
  read_by_itself();
  asm volatile("" ::"i"(2));
}
/// With frame pointers, and room on the stack.
[[gnu::noinline, gnu::optimize("O0")]] void fall(int depth) {
  volatile char room[200];
  room[static_cast<unsigned>(depth) % sizeof room] = 1;
  if (depth > 0) {
    fall(depth - 1);
  } else {
    await_deep();
  }
}

FILE* stream;
[[gnu::noinline]] void parse_input() {
  int number = 0;
  if (fscanf(stream, "%d", &number) != 1) abort();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void log_line() {
  fprintf(stream, "line %d\n", kRounds);
  asm volatile("" ::: "memory");
}

template <class Sleeper>
void while_given(const Sleeper& sleep) {
  std::thread giver([] {
    for (int i = 0; i < kRounds; ++i) give();
  });
  for (int i = 0; i < kRounds; ++i) sleep();
  giver.join();
}

void bare() {
  while_given(await_bare);
}
void thread() {
  std::thread sleeper([] {
    for (int i = 0; i < kRounds; ++i) await_in_thread();
  });
  while_given([] { doze(1); });
  sleeper.join();
}
void deep() {
  while_given([] { fall(3); });
}
void scan() {
  stream = fdopen(ends[0], "r");
  while_given(parse_input);
}

/// While another thread holds what the sleeper wants.
template <class Hold, class Release, class Sleeper>
void while_held(const Hold& hold, const Release& release, const Sleeper& sleep) {
  std::atomic<int> held{0}, done{0};
  std::thread holder([&] {
    for (int i = 0; i < kRounds; ++i) {
      hold();
      held = i + 1;
      doze(kMs);
      release();
      while (done <= i) doze(1);
    }
  });
  for (int i = 0; i < kRounds; ++i) {
    while (held <= i) doze(1);
    sleep();
    done = i + 1;
  }
  holder.join();
}

void stream_lock() {
  stream = fopen("/dev/null", "w");
  while_held([] { flockfile(stream); }, [] { funlockfile(stream); }, log_line);
}

// --- until somebody kills the program ---

/// A thread that was never seen is not known when it is killed.
void be_seen() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (std::chrono::steady_clock::now() < end) asm volatile("" ::: "memory");
}

[[gnu::noinline]] void await_forever() {
  be_seen();
  char one;
  if (read(ends[0], &one, 1) != 1) abort();
  asm volatile("" ::: "memory");
}

[[gnu::noinline]] void rest_forever() {
  be_seen();
  doze(1'000'000'000);
  asm volatile("" ::: "memory");
}

void forever() {
  std::thread reader(await_forever);
  std::thread(rest_forever).join();
  reader.join();
}

int entries(const char* path) {
  int count = 0;
  DIR* const folder = opendir(path);
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

/// What a program may see of its own threads, descriptors and signals.
void watched() {
  int handled = 0;
  static std::atomic<int> last{0};
  signal(SIGUSR1, [](int) { last = static_cast<int>(syscall(SYS_gettid)); });
  std::thread([] { doze(50); }).join();
  const int file = open("/dev/null", O_RDONLY);
  printf("the next descriptor is %d, %d are open\n", file, entries("/proc/self/fd"));
  close(file);
  for (int i = 0; i < 20; ++i) {
    kill(getpid(), SIGUSR1);
    doze(1);
    if (last == getpid()) ++handled;
  }
  printf("%d signals came to the first thread\n", handled);
  // A pipe ends when all have closed it.
  int pair[2];
  char one;
  if (pipe(pair) != 0) abort();
  std::thread([] { doze(30); }).join();
  close(pair[1]);
  printf("a closed pipe has %zd bytes\n", read(pair[0], &one, 1));
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { doze(20); }).join();
    _exit(7);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("a child ended with %d\n", WEXITSTATUS(status));
  // It refuses processes that have several threads.
  if (unshare(0) != 0) abort();
  printf("there are %d threads\n", entries("/proc/self/task") - 2);
}

// --- the process ends with its last thread, and what is left in its streams is written
// ------------

void* outlive_main(void*) {
  doze(300);
  printf("unseen: the last thread returns\n");
  return nullptr;
}

void let_outlive_main() {
  atexit([] { printf("unseen: exit\n"); });
  pthread_t thread;
  pthread_create(&thread, nullptr, outlive_main, nullptr);
}

void left_by_pthread_exit() {
  let_outlive_main();
  pthread_exit(nullptr);
}

void left_by_thrd_exit() {
  let_outlive_main();
  thrd_exit(0);
}

// --- errno is what the C library makes it
// ---------------------------------------------------------

void errno_of_streams() {
  std::thread([] { doze(20); }).join();
  char* text = nullptr;
  size_t length = 0;
  FILE* const memory = open_memstream(&text, &length);
  errno = 0;
  fputs("some", memory);
  fflush(memory);
  printf("errno %d,", errno);
  fclose(memory);
  printf(" %d\n", errno);
}

struct Case {
  const char* name;
  void (*run)();
};
constexpr Case kCases[] = {{"bare", bare},
                           {"thread", thread},
                           {"deep", deep},
                           {"scan", scan},
                           {"stream", stream_lock},
                           {"forever", forever},
                           {"watched", watched},
                           {"pthread_exit", left_by_pthread_exit},
                           {"thrd_exit", left_by_thrd_exit},
                           {"streams", errno_of_streams}};

}  // namespace

int main(int argc, char** argv) {
  if (pipe(ends) != 0) abort();
  for (const Case& one : kCases) {
    if (argc > 1 && strcmp(argv[1], one.name) == 0) one.run();
  }
  printf("unseen: done\n");
  return 0;
}
