// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads that the program makes by itself, beside MPI: short-lived helpers, joins, mutexes,
// condition variables, semaphores, barriers. Two ranks.
#include "truth.h"

#include <pthread.h>
#include <semaphore.h>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

TAKES_TIME(late)
TAKES_TIME(compute)
TAKES_TIME(helper_work)
TAKES_TIME(hold_mutex)

namespace {

const MPI_Comm world = MPI_COMM_WORLD;
std::mutex mutex;
std::condition_variable changed;

// Helpers come and go, as busy as their master: nobody waits.
void helpers_balanced() {
  ROUNDS {
    std::thread helper([] { helper_work(truth_ms); });
    compute(truth_ms);
    TIMED(helper.join());
    TIMED(MPI_Barrier(world));
  }
}

// Helpers that end long before the run does.
void helpers_early() {
  std::vector<std::thread> helpers;
  for (int i = 0; i < 10; ++i) helpers.emplace_back([] { helper_work(truth_ms / 4); });
  compute(truth_ms / 4);
  for (std::thread& helper : helpers) TIMED(helper.join());
  ROUNDS {
    compute(truth_ms);
    TIMED(MPI_Barrier(world));
  }
}

// Rank 1's master waits for its helper, rank 0 for rank 1's master.
void join() {
  ROUNDS {
    if (rank == 1) {
      std::thread helper([] { helper_work(truth_ms); });
      TIMED(helper.join());
    }
    TIMED(MPI_Barrier(world));
  }
}

// A helper of rank 1 keeps the mutex that its master wants; rank 0 waits for the master.
void mutex_held() {
  ROUNDS {
    if (rank == 1) {
      bool held = false;
      std::thread helper([&held] {
        std::lock_guard<std::mutex> guard(mutex);
        __atomic_store_n(&held, true, __ATOMIC_RELEASE);
        hold_mutex(truth_ms);
      });
      while (!__atomic_load_n(&held, __ATOMIC_ACQUIRE)) usleep(100);
      TIMED(mutex.lock());
      mutex.unlock();
      helper.join();
    }
    TIMED(MPI_Barrier(world));
  }
}

// Rank 1's helper receives what rank 0 sends late, and wakes its master.
void condition() {
  ROUNDS {
    if (rank == 0) {
      late(truth_ms);
      MPI_Send(&round, 1, MPI_INT, 1, 0, world);
    } else if (rank == 1) {
      bool there = false;
      std::thread helper([&there] {
        int x;
        TIMED(MPI_Recv(&x, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE));
        std::lock_guard<std::mutex> guard(mutex);
        there = true;
        changed.notify_one();
      });
      std::unique_lock<std::mutex> guard(mutex);
      TIMED(changed.wait(guard, [&there] { return there; }));
      guard.unlock();
      helper.join();
    }
  }
}

// A helper computes and wakes its master, who answers the other rank.
void condition_work() {
  ROUNDS {
    if (rank == 1) {
      bool there = false;
      std::thread helper([&there] {
        helper_work(truth_ms);
        std::lock_guard<std::mutex> guard(mutex);
        there = true;
        changed.notify_one();
      });
      std::unique_lock<std::mutex> guard(mutex);
      TIMED(changed.wait(guard, [&there] { return there; }));
      guard.unlock();
      helper.join();
    }
    TIMED(MPI_Barrier(world));
  }
}

// A thread for communication: it receives for its master all the time.
void communication_thread() {
  if (rank == 0) {
    ROUNDS {
      late(truth_ms);
      MPI_Send(&round, 1, MPI_INT, 1, 0, world);
    }
  } else if (rank == 1) {
    std::thread helper([] {
      int x;
      ROUNDS TIMED(MPI_Recv(&x, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE));
    });
    TIMED(helper.join());
  }
}

// A helper computes and posts what its master waits for, who answers the other rank.
void semaphore() {
  ROUNDS {
    if (rank == 1) {
      sem_t done;
      sem_init(&done, 0, 0);
      std::thread helper([&done] {
        helper_work(truth_ms);
        sem_post(&done);
      });
      TIMED(while (sem_wait(&done) != 0));
      helper.join();
      sem_destroy(&done);
    }
    TIMED(MPI_Barrier(world));
  }
}

// Rank 1's master and a helper that lives on wait for another helper at a barrier of their own.
void thread_barrier() {
  pthread_barrier_t meeting;
  pthread_barrier_init(&meeting, nullptr, 3);
  std::vector<std::thread> helpers;
  if (rank == 1) {
    helpers.emplace_back([&] { ROUNDS TIMED(pthread_barrier_wait(&meeting)); });
    helpers.emplace_back([&] {
      ROUNDS {
        helper_work(truth_ms);
        pthread_barrier_wait(&meeting);
      }
    });
  }
  ROUNDS {
    if (rank == 1) TIMED(pthread_barrier_wait(&meeting));
    TIMED(MPI_Barrier(world));
  }
  for (std::thread& helper : helpers) helper.join();
  pthread_barrier_destroy(&meeting);
}

// Rank 0 waits for a helper of rank 1 that is made late: by its master, who works before.
void late_helper() {
  ROUNDS {
    if (rank == 1) {
      late(truth_ms);
      std::thread helper([round] { MPI_Send(&round, 1, MPI_INT, 0, 0, world); });
      helper.join();
    } else if (rank == 0) {
      int x;
      TIMED(MPI_Recv(&x, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE));
    }
  }
}

const truth_case cases[] = {
    {"helpers_balanced", helpers_balanced},
    {"helpers_early", helpers_early},
    {"join", join},
    {"mutex_held", mutex_held},
    {"condition", condition},
    {"condition_work", condition_work},
    {"communication_thread", communication_thread},
    {"semaphore", semaphore},
    {"thread_barrier", thread_barrier},
    {"late_helper", late_helper},
};

}  // namespace

TRUTH_MPI_MAIN(cases)
