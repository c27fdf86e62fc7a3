// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Analysis ranks as threads of one process: what the library on MPI does, without any MPI. For
// tests that compare what different numbers of ranks come to.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/ranks/stream.h"

namespace culprit::testing_support {

/// Where the threads meet.
class RankThreads {
 public:
  explicit RankThreads(size_t size) : size_(size), given_(size * size), sent_(size) {}

  /// Calls work(Transport&) for each rank, each on a thread of its own. A rank that returns early
  /// while others exchange makes the test hang: that is what it would do on MPI.
  template <class Work>
  void run(const Work& work) {
    std::vector<std::thread> threads;
    for (size_t rank = 0; rank < size_; ++rank) {
      threads.emplace_back([&, rank] {
        Member member(*this, rank);
        work(member);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  class Member final : public Transport, public Stream {
   public:
    Member(RankThreads& all, size_t rank) : all_(all), rank_(rank) {}
    size_t rank() const override { return rank_; }
    size_t size() const override { return all_.size_; }
    std::vector<Parcel> exchange(std::vector<Parcel> to) override {
      for (size_t r = 0; r < to.size(); ++r) all_.given(rank_, r) = std::move(to[r]);
      all_.meet();
      std::vector<Parcel> got(all_.size_);
      for (size_t r = 0; r < got.size(); ++r) got[r] = std::move(all_.given(r, rank_));
      all_.meet();
      return got;
    }
    void send(size_t to, Parcel parcel) override {
      const std::lock_guard lock(all_.mutex_);
      all_.sent_[to].push_back(std::move(parcel));
      all_.changed_.notify_all();
    }
    Parcel receive() override {
      std::unique_lock lock(all_.mutex_);
      std::deque<Parcel>& mine = all_.sent_[rank_];
      all_.changed_.wait(lock, [&] { return !mine.empty(); });
      Parcel first = std::move(mine.front());
      mine.pop_front();
      return first;
    }
    void give_up(const char*) override { std::abort(); }

   private:
    RankThreads& all_;
    const size_t rank_;
  };

  Parcel& given(size_t from, size_t to) { return given_[from * size_ + to]; }

  void meet() {
    std::unique_lock lock(mutex_);
    const size_t round = round_;
    if (++arrived_ == size_) {
      arrived_ = 0;
      ++round_;
      changed_.notify_all();
      return;
    }
    changed_.wait(lock, [&] { return round_ != round; });
  }

  const size_t size_;
  std::vector<Parcel> given_;
  std::vector<std::deque<Parcel>> sent_;  // by receiver
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t arrived_ = 0, round_ = 0;
};

}  // namespace culprit::testing_support
