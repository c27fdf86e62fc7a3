// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// outside <case> <folder>: programs without MPI that hang in what several threads, processes and
// the system do together. The line at which each of them hangs says so in a comment, which hangs.py
// reads.
#include <mqueue.h>
#include <omp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>

namespace {

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
volatile double g_sum = 0;
std::atomic<bool> g_flag{false};
std::string g_folder;  ///< for files

void nap() {
  usleep(200000);
}

// --- OpenMP and threads of the system ---

void take_mutex() {
  pthread_mutex_lock(&g_mutex);  // hangs: critical_and_mutex
  g_sum = 1;
  pthread_mutex_unlock(&g_mutex);
}
void enter_critical() {
#pragma omp critical
  g_sum = 1;
}
void critical_and_mutex() {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 0) {
#pragma omp critical
    {
      nap();
      take_mutex();
    }
  } else {
    pthread_mutex_lock(&g_mutex);
    nap();
    enter_critical();
    pthread_mutex_unlock(&g_mutex);
  }
}
sem_t g_semaphore;
void wait_for_post() {
  sem_wait(&g_semaphore);  // hangs: semaphore_in_region
}
void semaphore_in_region() {
  sem_init(&g_semaphore, 0, 0);
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) wait_for_post();
}
void poll_flag() {
  while (!g_flag) {  // hangs: spin_in_task
#pragma omp taskyield
  }
}
void spin_in_task() {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task
    poll_flag();
#pragma omp taskwait
  }
}
void pause_in_region() {
#pragma omp parallel num_threads(2)
  if (omp_get_thread_num() == 1) pause();  // hangs: pause_in_region
}
void lock_in_handler() {
  signal(SIGUSR1, [](int) {
    pthread_mutex_lock(&g_mutex);  // hangs: lock_in_handler
  });
  pthread_mutex_lock(&g_mutex);
  raise(SIGUSR1);
}

// --- threads ---

void std_barrier() {
  std::barrier three(3);
  std::thread thread([&] { three.arrive_and_wait(); });
  three.arrive_and_wait();  // hangs: std_barrier
  thread.join();
}
void counting_semaphore() {
  std::counting_semaphore<4> none(0);
  none.acquire();  // hangs: counting_semaphore
}
void timed_condition() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock<std::mutex> lock(mutex);
  while (!g_flag) condition.wait_for(lock, std::chrono::milliseconds(5));  // hangs: timed_condition
}
std::thread* g_thread;
void exit_joins() {
  static std::thread thread([] {
    nap();
    atexit([] { g_thread->join(); });
    pthread_mutex_lock(&g_mutex);  // hangs: exit_joins
  });
  g_thread = &thread;
  pthread_mutex_lock(&g_mutex);
  usleep(400000);
  exit(0);  // hangs: exit_joins
}

// --- waiting for what the system brings ---

void poll_event() {
  pollfd one{eventfd(0, 0), POLLIN, 0};
  poll(&one, 1, -1);  // hangs: poll_event
}
void epoll_loop() {
  const int poller = epoll_create1(0);
  epoll_event event{};
  while (epoll_wait(poller, &event, 1, 5) == 0) {  // hangs: epoll_loop
  }
}
void accept_nobody() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", g_folder.c_str());
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address);
  listen(file, 1);
  accept(file, nullptr, nullptr);  // hangs: accept_nobody
}
void posix_queue() {
  mq_attr attributes{};
  attributes.mq_maxmsg = 1;
  attributes.mq_msgsize = 8;
  const std::string name = "/culprit-" + std::to_string(getpid());
  const mqd_t queue = mq_open(name.c_str(), O_RDONLY | O_CREAT, 0600, &attributes);
  mq_unlink(name.c_str());
  char bytes[8];
  mq_receive(queue, bytes, sizeof bytes, nullptr);  // hangs: posix_queue
}

// --- other processes ---

void full_pipe_of_child() {
  int ends[2];
  if (pipe(ends) != 0) return;
  const pid_t process = fork();
  if (process == 0) {
    dup2(ends[1], 1);
    execlp("head", "head", "-c", "1000000", "/dev/zero", nullptr);
  }
  waitpid(process, nullptr, 0);  // hangs: full_pipe_of_child
}
void fork_with_lock() {
  pthread_mutex_lock(&g_mutex);
  const pid_t process = fork();
  if (process == 0) {
    pthread_mutex_lock(&g_mutex);
    _exit(0);
  }
  waitpid(process, nullptr, 0);  // hangs: fork_with_lock
}
void mutex_of_dead_process() {
  auto* mutex = static_cast<pthread_mutex_t*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  pthread_mutexattr_t shared;
  pthread_mutexattr_init(&shared);
  pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(mutex, &shared);
  const pid_t process = fork();
  if (process == 0) {
    pthread_mutex_lock(mutex);
    _exit(0);
  }
  waitpid(process, nullptr, 0);
  pthread_mutex_lock(mutex);  // hangs: mutex_of_dead_process
}
void stopped_child() {
  const pid_t process = fork();
  if (process == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  waitpid(process, nullptr, 0);  // hangs: stopped_child
}
void flock_of_child() {
  const std::string path = g_folder + "/locked";
  const pid_t process = fork();
  if (process == 0) {
    flock(open(path.c_str(), O_RDWR | O_CREAT, 0600), LOCK_EX);
    sleep(1000);
  }
  nap();
  flock(open(path.c_str(), O_RDWR | O_CREAT, 0600), LOCK_EX);  // hangs: flock_of_child
}
void both_read() {
  int there[2], back[2];
  char byte;
  if (pipe(there) != 0 || pipe(back) != 0) return;
  const bool child = fork() == 0;
  close(child ? there[1] : there[0]);
  close(child ? back[0] : back[1]);
  if (read(child ? there[0] : back[0], &byte, 1) < 0) return;  // hangs: both_read
}
void popen_reads() {
  FILE* const from = popen("sleep 1000", "r");
  std::fgetc(from);  // hangs: popen_reads
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {
#define CASE(name) {#name, name}
    CASE(critical_and_mutex), CASE(semaphore_in_region),
    CASE(spin_in_task),       CASE(pause_in_region),
    CASE(lock_in_handler),    CASE(std_barrier),
    CASE(counting_semaphore), CASE(timed_condition),
    CASE(exit_joins),         CASE(poll_event),
    CASE(epoll_loop),         CASE(accept_nobody),
    CASE(posix_queue),        CASE(full_pipe_of_child),
    CASE(fork_with_lock),     CASE(mutex_of_dead_process),
    CASE(stopped_child),      CASE(flock_of_child),
    CASE(both_read),          CASE(popen_reads)};

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
