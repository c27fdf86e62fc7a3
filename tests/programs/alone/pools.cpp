// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// pools <case>: threads that a program has, and does not need. `asleep`: eight threads sleep until
// the end, each in its own way, while the first computes; `rare`: four threads of a pool get one
// short task each, of 5 ms, while the first computes for 600 ms; `needed`: two threads work for
// half of the time, and wait for the first for the other half.
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace {

volatile unsigned long work = 0;

void spend(int ms) {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const long end = now.tv_sec * 1000000000l + now.tv_nsec + ms * 1000000l;
  do {
    for (int i = 0; i < 10000; ++i) work = work * 3 + 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000000000l + now.tv_nsec < end);
}

[[gnu::noinline]] void prepare(int ms) {
  spend(ms);
}
[[gnu::noinline]] void execute(int ms) {
  spend(ms);
  asm volatile("" ::"i"(1));
}

void sleep_by_futex() {
  static uint32_t word = 0;
  for (;;) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}
void sleep_by_condition() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) never.wait(lock);
}
void sleep_by_timed_condition() {
  std::mutex mutex;
  std::condition_variable never;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) never.wait_for(lock, std::chrono::milliseconds(20));
}
void sleep_by_semaphore() {
  static sem_t never;
  sem_init(&never, 0, 0);
  for (;;) sem_wait(&never);
}
void sleep_by_pipe() {
  int ends[2];
  char one;
  if (pipe(ends) != 0 || read(ends[0], &one, 1) != 1) abort();
}
void sleep_by_event() {
  uint64_t count;
  if (read(eventfd(0, 0), &count, sizeof count) != sizeof count) abort();
}
void sleep_by_epoll() {
  epoll_event event{};
  for (const int epoll = epoll_create1(0);;) epoll_wait(epoll, &event, 1, -1);
}
void sleep_by_naps() {
  for (;;) usleep(20000);
}

void asleep() {
  for (const auto sleep :
       {sleep_by_futex, sleep_by_condition, sleep_by_timed_condition, sleep_by_semaphore,
        sleep_by_pipe, sleep_by_event, sleep_by_epoll, sleep_by_naps}) {
    std::thread(sleep).detach();
  }
  prepare(600);
}

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      ends_ = true;
    }
    more_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }
  void add(std::function<void()> item) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      items_.push_back(std::move(item));
      ++left_;
    }
    more_.notify_one();
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [&] { return left_ == 0; });
  }

 private:
  void serve() {
    for (;;) {
      std::function<void()> item;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        more_.wait(lock, [&] { return ends_ || !items_.empty(); });
        if (items_.empty()) return;
        item = std::move(items_.front());
        items_.pop_front();
      }
      item();
      const std::lock_guard<std::mutex> guard(mutex_);
      if (--left_ == 0) done_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::deque<std::function<void()>> items_;
  std::vector<std::thread> workers_;
  int left_ = 0;
  bool ends_ = false;
};

void rare() {
  Pool pool(4);
  for (int i = 0; i < 4; ++i) {
    prepare(150);
    pool.add([] { execute(5); });
    pool.wait();
  }
}

void needed() {
  Pool pool(2);
  for (int i = 0; i < 6; ++i) {
    prepare(60);
    for (int k = 0; k < 2; ++k) pool.add([] { execute(40); });
    pool.wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* const which = argc > 1 ? argv[1] : "";
  if (strcmp(which, "asleep") == 0) asleep();
  if (strcmp(which, "rare") == 0) rare();
  if (strcmp(which, "needed") == 0) needed();
  printf("pools: done\n");
  return 0;
}
