// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs of threads alone, without MPI and OpenMP: pools, queues, pipelines, locks. One process,
// or one and its child.
#define TRUTH_NO_MPI
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

TAKES_TIME(late)
TAKES_TIME(compute)
TAKES_TIME(helper_work)
TAKES_TIME(long_item)
TAKES_TIME(hold_mutex)
TAKES_TIME(warm_up)

namespace {

/// A number that threads wait for.
class Gate {
 public:
  void open(int until) {
    {
      const std::lock_guard<std::mutex> guard(mutex_);
      until_ = until;
    }
    changed_.notify_all();
  }
  void pass(int number) {
    std::unique_lock<std::mutex> lock(mutex_);
    TIMED(changed_.wait(lock, [&] { return until_ >= number; }));
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int until_ = 0;
};

/// Workers that take what there is to do.
class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { work(); });
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
    TIMED(done_.wait(lock, [&] { return left_ == 0; }));
  }

 private:
  void work() {
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

// A worker is later each time than the master, who waits for it.
void handshake() {
  Gate begun, done;
  std::thread worker([&] {
    ROUNDS {
      begun.pass(round + 1);
      late(truth_ms);
      done.open(round + 1);
    }
  });
  ROUNDS {
    begun.open(round + 1);
    done.pass(round + 1);
  }
  worker.join();
}

// The other way around: what the worker has to do the master prepares, which takes it three times
// as long.
void late_master() {
  Gate begun;
  std::thread worker([&] {
    ROUNDS {
      begun.pass(round + 1);
      compute(truth_ms / 3);
    }
  });
  ROUNDS {
    late(truth_ms);
    begun.open(round + 1);
  }
  compute(truth_ms);  // as long as the last of it takes
  worker.join();
}

// A pool of one, which the master fills and waits for.
void pool_of_one() {
  Pool pool(1);
  ROUNDS {
    pool.add([] { long_item(truth_ms); });
    pool.wait();
  }
}

// A pool that never gets anything to do, as libraries make them.
void idle_pool() {
  Pool pool(8);
  ROUNDS compute(truth_ms);
}

// A pool of six which gets one thing at a time, for which the master waits: no one else has
// anything to do.
void taken_in_turn() {
  Pool pool(6);
  ROUNDS {
    pool.add([] { long_item(truth_ms); });
    pool.wait();
  }
}

// A worker that has next to nothing to do, and that nobody waits for.
void little_work() {
  Gate begun;
  std::thread worker([&] {
    ROUNDS {
      begun.pass(round + 1);
      helper_work(truth_ms / 50);
    }
  });
  ROUNDS {
    compute(truth_ms);
    begun.open(round + 1);
  }
  worker.join();
}

// Threads come and go.
void join_each() {
  ROUNDS {
    std::thread worker([] { helper_work(truth_ms); });
    TIMED(worker.join());
  }
}

void mutex_held() {
  std::mutex mutex;
  ROUNDS {
    Gate held;
    std::thread worker([&] {
      const std::lock_guard<std::mutex> guard(mutex);
      held.open(1);
      hold_mutex(truth_ms);
    });
    held.pass(1);
    TIMED(mutex.lock());
    mutex.unlock();
    worker.join();
  }
}

void semaphore() {
  sem_t done;
  sem_init(&done, 0, 0);
  std::thread worker([&] {
    ROUNDS {
      helper_work(truth_ms);
      sem_post(&done);
    }
  });
  ROUNDS TIMED(sem_wait(&done));
  worker.join();
}

// Threads tell each other through a descriptor.
void by_descriptor(int from, int to) {
  std::thread worker([&] {
    ROUNDS {
      const uint64_t one = 1;
      helper_work(truth_ms);
      if (write(to, &one, sizeof one) != sizeof one) abort();
    }
  });
  ROUNDS {
    uint64_t count = 0;
    TIMED(if (read(from, &count, sizeof count) != sizeof count) abort());
  }
  worker.join();
}
void by_pipe() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  by_descriptor(ends[0], ends[1]);
}
void by_event() {
  const int event = eventfd(0, 0);
  by_descriptor(event, event);
}

// So do a process and its child, which is late.
void pipe_of_child() {
  int ends[2];
  if (pipe(ends) != 0) abort();
  if (fork() == 0) {
    rank = 1;
    ROUNDS {
      late(truth_ms);
      if (write(ends[1], "1", 1) != 1) abort();
    }
    truth_write_account();
    exit(0);
  }
  ROUNDS {
    char one = 0;
    TIMED(if (read(ends[0], &one, 1) != 1) abort());
  }
  wait(nullptr);
}
void end_of_child() {
  const pid_t child = fork();
  if (child == 0) {
    rank = 1;
    ROUNDS late(truth_ms);
    truth_write_account();
    exit(0);
  }
  TIMED(waitpid(child, nullptr, 0));
}

// Three threads meet; the second is late.
void barrier() {
  pthread_barrier_t meeting;
  pthread_barrier_init(&meeting, nullptr, 3);
  const auto take_part = [&](bool is_late) {
    ROUNDS {
      if (is_late) late(truth_ms);
      TIMED(pthread_barrier_wait(&meeting));
    }
  };
  std::thread one(take_part, true), other(take_part, false);
  take_part(false);
  one.join();
  other.join();
}

// Each stage waits for the one before; the first is the slow one.
void pipeline() {
  Gate first, second;
  std::thread middle([&] {
    ROUNDS {
      first.pass(round + 1);
      compute(truth_ms / 3);
      second.open(round + 1);
    }
  });
  std::thread last([&] {
    ROUNDS {
      second.pass(round + 1);
      compute(truth_ms / 3);
    }
  });
  ROUNDS {
    late(truth_ms);
    first.open(round + 1);
  }
  compute(truth_ms);
  middle.join();
  last.join();
}

// All are as busy.
void balanced() {
  ROUNDS {
    std::thread worker([] { compute(truth_ms); });
    compute(truth_ms);
    TIMED(worker.join());
  }
}

// A worker that once did something, and then nothing more, keeps nobody waiting.
void idle_worker() {
  static Gate never;
  std::thread([] {
    warm_up(truth_ms / 4);
    std::mutex mutex;
    std::condition_variable unheard;
    std::unique_lock<std::mutex> lock(mutex);
    for (;;) unheard.wait(lock);
  }).detach();
  handshake();
}

}  // namespace

int main(int argc, char** argv) {
  static const truth_case cases[] = {
      {"handshake", handshake},         {"late_master", late_master},
      {"pool_of_one", pool_of_one},     {"idle_pool", idle_pool},
      {"taken_in_turn", taken_in_turn}, {"little_work", little_work},
      {"join_each", join_each},         {"mutex_held", mutex_held},
      {"semaphore", semaphore},         {"barrier", barrier},
      {"pipeline", pipeline},           {"balanced", balanced},
      {"idle_worker", idle_worker},     {"by_pipe", by_pipe},
      {"by_event", by_event},           {"pipe_of_child", pipe_of_child},
      {"end_of_child", end_of_child},
  };
  truth_choose(argc, argv, cases, (int)(sizeof cases / sizeof cases[0]))();
  truth_write_account();
  return 0;
}
