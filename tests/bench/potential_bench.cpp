// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What an arrival at a barrier costs: listed, merged and run through the potential, for teams of
// several sizes; and beside it the same potential in one place under a lock, which each thread
// takes at each arrival. Prints CPU time, since there are fewer cores than threads. Usage:
// potential_bench
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "fold/potential/cut.h"

namespace {

using namespace culprit::fold;

constexpr uint32_t kArrivals = 1 << 16;
constexpr int kTimes = 7;

double cpu_ns(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Threads that arrive in any order, again and again, each at the end of a stretch of work.
struct Team {
  explicit Team(uint32_t threads) : memory(threads), lists(threads) {
    std::mt19937_64 draw(1);
    const uint32_t rounds = kArrivals / threads;
    for (uint32_t t = 0; t < threads; ++t) {
      memory[t].resize(2 * rounds + 4);
      lists[t] = {memory[t].data(), static_cast<uint32_t>(memory[t].size()), t};
      if (t == 0) lists[t].add(0, ChangeKind::forked, team_of(1, threads));
      lists[t].add(0, ChangeKind::team_entered, team_of(1, threads));
    }
    uint64_t now = 1;
    for (uint32_t r = 0; r < rounds; ++r) {
      uint64_t last = now;
      for (ChangeList& list : lists) {
        const uint64_t at = now + (draw() & 0xffff);
        list.add(at, ChangeKind::stretch_ended, r % 64);
        list.add(at, ChangeKind::arrived, 1);
        last = std::max(last, at);
      }
      now = last + 100;
    }
  }
  std::vector<std::vector<Change>> memory;
  std::vector<ChangeList> lists;
};

double merged_ns(uint32_t threads) {
  double best = 1e18;
  for (int i = 0; i < kTimes; ++i) {
    Team team(threads);
    const auto potential = std::make_unique<Potential>();
    std::vector<uint64_t> rows(64);
    potential->begin(0);
    std::vector<ChangeList*> lists;
    for (ChangeList& list : team.lists) {
      lists.push_back(&list);
      potential->set_ledger(list.thread(), {rows.data(), 1, 64, 8});
    }
    std::vector<Change> from(1 << 16), to(1 << 16);
    std::vector<MergePart> parts(threads);
    const double begin = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    cut(lists, UINT64_MAX, 0, {from, to, parts}, *potential);
    best = std::min(best, cpu_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
  }
  return best / kArrivals;
}

double shared_ns(uint32_t threads) {
  struct alignas(64) {
    std::mutex mutex;
    uint64_t time = 0, idle = 0, working = 0, potential = 0;
  } shared;
  shared.working = threads;
  const double begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID);
  std::vector<std::thread> all;
  for (uint32_t t = 0; t < threads; ++t) {
    all.emplace_back([&] {
      for (uint32_t i = 0; i < kArrivals / threads; ++i) {
        for (const bool arrives : {true, false}) {
          const std::lock_guard lock(shared.mutex);
          shared.potential += (++shared.time) * shared.idle / std::max<uint64_t>(shared.working, 1);
          shared.idle += arrives ? 1 : -1;
          shared.working -= arrives ? 1 : -1;
        }
      }
    });
  }
  for (std::thread& one : all) one.join();
  return (cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - begin) / kArrivals;
}

}  // namespace

int main() {
  std::printf("ns CPU an arrival: threads, merge and potential, one place under a lock\n");
  for (const uint32_t threads : {2u, 4u, 8u, 16u, 128u}) {
    std::printf("%3u %7.1f %9.1f\n", threads, merged_ns(threads), shared_ns(threads));
  }
}
