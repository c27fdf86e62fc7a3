// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// waits <case>: programs that hang for a reason outside of MPI: threads that wait for each other,
// for the system, for a word in memory. The line at which each of them hangs says so in a comment,
// which hangs.py reads. OpenMP comes first, so that the program is recorded, and leaves a worker
// without work.
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <mutex>
#include <string>
#include <thread>

namespace {

pthread_mutex_t g_first = PTHREAD_MUTEX_INITIALIZER, g_second = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t g_condition = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t g_rwlock = PTHREAD_RWLOCK_INITIALIZER;
sem_t g_semaphore;
volatile int g_flag = 0;
volatile double g_sum = 0;
std::string g_folder;  ///< for files

void nap() {
  usleep(200000);
}

// --- mutexes ---

void mutex_self() {
  pthread_mutex_lock(&g_first);
  pthread_mutex_lock(&g_first);  // hangs: mutex_self
}
void take_both(pthread_mutex_t* one, pthread_mutex_t* other) {
  pthread_mutex_lock(one);
  nap();
  pthread_mutex_lock(other);  // hangs: mutex_abba
}
void mutex_abba() {
  std::thread thread(take_both, &g_second, &g_first);
  take_both(&g_first, &g_second);
  thread.join();
}
void mutex_of_ended() {
  std::thread([] { pthread_mutex_lock(&g_first); }).join();
  pthread_mutex_lock(&g_first);  // hangs: mutex_of_ended
}
void want_first() {
  pthread_mutex_lock(&g_first);
}
void join_of_waiting() {
  pthread_mutex_lock(&g_first);
  std::thread thread(want_first);
  thread.join();  // hangs: join_of_waiting
}
void std_mutex() {
  std::mutex mutex;
  const std::lock_guard<std::mutex> guard(mutex);
  std::thread([&] { const std::lock_guard<std::mutex> again(mutex); }).join();  // hangs: std_mutex
}

// --- conditions, semaphores, joins, locks, barriers ---

void wait_for_signal() {
  pthread_mutex_lock(&g_first);
  while (g_flag == 0) pthread_cond_wait(&g_condition, &g_first);  // hangs: condition
}
void condition() {
  std::thread([] {}).join();
  wait_for_signal();
}
void condition_of_all() {
  std::thread one(wait_for_signal), other(wait_for_signal);
  one.join();  // hangs: condition_of_all
  other.join();
}
void std_condition() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  condition.wait(lock, [] { return g_flag != 0; });  // hangs: std_condition
}
void semaphore() {
  sem_init(&g_semaphore, 0, 0);
  sem_wait(&g_semaphore);  // hangs: semaphore
}
void join_circle() {
  static pthread_t main_thread = pthread_self();
  std::thread thread([] { pthread_join(main_thread, nullptr); });
  thread.join();  // hangs: join_circle
}
void read_it() {
  pthread_rwlock_rdlock(&g_rwlock);
}
void rwlock_written() {
  pthread_rwlock_wrlock(&g_rwlock);
  std::thread thread(read_it);
  thread.join();  // hangs: rwlock_written
}
void rwlock_upgrade() {
  pthread_rwlock_rdlock(&g_rwlock);
  pthread_rwlock_wrlock(&g_rwlock);  // hangs: rwlock_upgrade
}
void barrier_of_three() {
  static pthread_barrier_t barrier;
  pthread_barrier_init(&barrier, nullptr, 3);
  std::thread thread([] { pthread_barrier_wait(&barrier); });
  pthread_barrier_wait(&barrier);  // hangs: barrier_of_three
  thread.join();
}

// --- C++ ---

void atomic_wait() {
  static std::atomic<int> word{0};
  word.wait(0);  // hangs: atomic_wait
}
void latch() {
  std::latch two(2);
  two.arrive_and_wait();  // hangs: latch
}
void future() {
  std::promise<int> never;
  never.get_future().get();  // hangs: future
}
std::once_flag g_once;
void begin_again() {
  std::call_once(g_once, begin_again);  // hangs: once_in_once
}
void once_in_once() {
  begin_again();
}

// --- the system ---

void pipe_read() {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  if (read(ends[0], &byte, 1) < 0) return;  // hangs: pipe_read
}
void pipe_write() {
  int ends[2];
  static char bytes[1 << 20];
  if (pipe(ends) != 0) return;
  if (write(ends[1], bytes, sizeof bytes) < 0) return;  // hangs: pipe_write
}
void fifo_open() {
  const std::string path = g_folder + "/fifo";
  mkfifo(path.c_str(), 0600);
  open(path.c_str(), O_RDONLY);  // hangs: fifo_open
}
void flock_self() {
  const std::string path = g_folder + "/locked";
  const int one = open(path.c_str(), O_RDWR | O_CREAT, 0600), other = open(path.c_str(), O_RDWR);
  flock(one, LOCK_EX);
  flock(other, LOCK_EX);  // hangs: flock_self
}
void child() {
  const pid_t process = fork();
  if (process == 0) execlp("sleep", "sleep", "1000", nullptr);
  waitpid(process, nullptr, 0);  // hangs: child
}
void socket_read() {
  int ends[2];
  char byte;
  socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
  if (recv(ends[0], &byte, 1, 0) < 0) return;  // hangs: socket_read
}
void long_sleep() {
  sleep(1000);  // hangs: long_sleep
}
void wait_for_usr1() {
  sigset_t set;
  int signal;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  sigwait(&set, &signal);  // hangs: wait_for_usr1
}
void stdio_lock() {
  flockfile(stdout);
  std::thread([] { std::puts("never"); }).join();  // hangs: stdio_lock
}

// --- words in memory ---

void flag_spin() {
  while (g_flag == 0) {  // hangs: flag_spin
  }
}
void flag_yield() {
  while (g_flag == 0) sched_yield();  // hangs: flag_yield
}
void flag_sleep() {
  while (g_flag == 0) usleep(1000);  // hangs: flag_sleep
}

// --- OpenMP ---

void enter_critical() {
#pragma omp critical  // hangs: critical_twice
  g_sum = 1;
}
void critical_twice() {
#pragma omp critical
  enter_critical();
}
void detached() {
  omp_event_handle_t event = {};
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task detach(event)
    g_sum = 1;
#pragma omp taskwait  // hangs: detached
  }
}

// --- those that go on ---

void compute_lines() {
  for (;;) {
    for (int i = 0; i < 1000; ++i) g_sum = g_sum + i;
    for (int i = 0; i < 1000; ++i) g_sum = g_sum / (i + 1);
  }
}
void compute_line() {
  for (;;) g_sum = g_sum + 1;
}
void join_of_computing() {
  std::thread thread(compute_lines);
  thread.join();
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {
#define CASE(name) {#name, name}
    CASE(mutex_self),
    CASE(mutex_abba),
    CASE(mutex_of_ended),
    CASE(join_of_waiting),
    CASE(std_mutex),
    CASE(condition),
    CASE(condition_of_all),
    CASE(std_condition),
    CASE(semaphore),
    CASE(join_circle),
    CASE(rwlock_written),
    CASE(rwlock_upgrade),
    CASE(barrier_of_three),
    CASE(atomic_wait),
    CASE(latch),
    CASE(future),
    CASE(once_in_once),
    CASE(pipe_read),
    CASE(pipe_write),
    CASE(fifo_open),
    CASE(flock_self),
    CASE(child),
    CASE(socket_read),
    CASE(long_sleep),
    CASE(wait_for_usr1),
    CASE(stdio_lock),
    CASE(flag_spin),
    CASE(flag_yield),
    CASE(flag_sleep),
    CASE(critical_twice),
    CASE(detached),
    CASE(compute_lines),
    CASE(compute_line),
    CASE(join_of_computing)};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  g_folder = argv[2];
  alarm(60);
#pragma omp parallel num_threads(2)
  g_sum = 0;
  for (const auto& one : kCases) {
    if (std::strcmp(one.name, argv[1]) == 0) one.run();
  }
  return 0;
}
