// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of pending requests: handles that are shared, reused, persistent, dropped. Handles are
// made up; the table never looks behind them.

#include "collector/mpi/requests.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace culprit::collector::mpi {
namespace {

MPI_Request handle(intptr_t number) {
  return (MPI_Request)(0x1000 + 16 * number);
}

Request send(uint64_t id) {
  Request request;
  request.kind = RequestKind::send;
  request.id = id;
  return request;
}

TEST(Requests, CompletesOnce) {
  int place = 0;
  Request done;
  add_request(handle(1), &place, send(11));
  EXPECT_TRUE(complete_request(handle(1), &place, done));
  EXPECT_EQ(done.id, 11u);
  EXPECT_FALSE(complete_request(handle(1), &place, done));
}

TEST(Requests, NullAndUnknownAreNothing) {
  Request done;
  add_request(MPI_REQUEST_NULL, nullptr, send(1));
  EXPECT_FALSE(complete_request(MPI_REQUEST_NULL, nullptr, done));
  EXPECT_FALSE(complete_request(handle(999), nullptr, done));
  drop_request(handle(999), nullptr);
  cancel_request(handle(999), nullptr);
}

TEST(Requests, PlainOnesKeepTheirNumberAndCommunicator) {
  int place = 0;
  Request plain = send(31), done;
  plain.plain = true;
  plain.kind = RequestKind::recv;
  plain.message.comm = 9;
  add_request(handle(3), &place, plain);
  cancel_request(handle(3), &place);
  EXPECT_TRUE(complete_request(handle(3), &place, done));
  EXPECT_EQ(done.id, 31u);
  EXPECT_EQ(done.kind, RequestKind::recv);
  EXPECT_EQ(done.message.comm, 9u);
  EXPECT_TRUE(done.cancelling);
}

/// Were each looked for among all, this would take hours.
TEST(Requests, AsManyAsOneLikesInAnyOrder) {
  constexpr int kMany = 300'000;
  std::vector<char> places(kMany);
  Request done;
  // Every third shares a handle with all the others of its kind.
  const auto handle_of = [](int i) { return handle(i % 3 == 0 ? 5000 : 5001 + i); };
  for (int i = 0; i < kMany; ++i) {
    Request request = send(static_cast<uint64_t>(i));
    request.plain = i % 2 == 0;
    add_request(handle_of(i), &places[static_cast<size_t>(i)], request);
  }
  for (int i = kMany; i-- > 0;) {
    if (i % 3 == 0) continue;
    ASSERT_TRUE(complete_request(handle_of(i), &places[static_cast<size_t>(i)], done));
    ASSERT_EQ(done.id, static_cast<uint64_t>(i));
  }
  for (int i = 0; i < kMany; i += 3) {
    ASSERT_TRUE(complete_request(handle_of(i), &places[static_cast<size_t>(i)], done));
    ASSERT_EQ(done.id, static_cast<uint64_t>(i));
  }
  EXPECT_FALSE(complete_request(handle_of(0), &places[0], done));
}

TEST(Requests, SharedHandleIsToldApartByPlace) {
  int places[3] = {};
  Request done;
  for (int i = 0; i < 3; ++i) add_request(handle(2), &places[i], send(20 + i));
  EXPECT_TRUE(complete_request(handle(2), &places[1], done));
  EXPECT_EQ(done.id, 21u);
  // A place that nobody posted from: the oldest goes.
  int elsewhere = 0;
  EXPECT_TRUE(complete_request(handle(2), &elsewhere, done));
  EXPECT_EQ(done.id, 20u);
  EXPECT_TRUE(complete_request(handle(2), nullptr, done));
  EXPECT_EQ(done.id, 22u);
  EXPECT_FALSE(complete_request(handle(2), nullptr, done));
}

TEST(Requests, ManyOfOneHandle) {
  std::vector<int> places(5000);
  Request done;
  for (size_t i = 0; i < places.size(); ++i) add_request(handle(3), &places[i], send(i + 1));
  for (size_t i = 0; i < places.size(); ++i) {
    ASSERT_TRUE(complete_request(handle(3), &places[i], done));
    ASSERT_EQ(done.id, i + 1);
  }
  EXPECT_FALSE(complete_request(handle(3), nullptr, done));
}

TEST(Requests, PersistentGoesRound) {
  int place = 0;
  Request request = send(0), started, done;
  request.persistent = true;
  request.active = false;
  add_request(handle(4), &place, request);
  EXPECT_FALSE(complete_request(handle(4), &place, done)) << "never started";
  ASSERT_TRUE(start_request(handle(4), &place, started));
  const uint64_t first = started.id;
  EXPECT_TRUE(complete_request(handle(4), &place, done));
  EXPECT_EQ(done.id, first);
  EXPECT_FALSE(complete_request(handle(4), &place, done)) << "inactive again";
  ASSERT_TRUE(start_request(handle(4), &place, started));
  EXPECT_NE(started.id, first);
  EXPECT_TRUE(complete_request(handle(4), &place, done));
  drop_request(handle(4), &place);
  EXPECT_FALSE(start_request(handle(4), &place, started));
}

TEST(Requests, ReportedIsNotToldAgain) {
  int place = 0;
  Request done;
  add_request(handle(5), &place, send(51));
  EXPECT_TRUE(report_request(handle(5), &place, done));
  EXPECT_FALSE(report_request(handle(5), &place, done));
  EXPECT_FALSE(complete_request(handle(5), &place, done));
  // The completing call has removed it all the same: the handle may come again.
  add_request(handle(5), &place, send(52));
  EXPECT_TRUE(complete_request(handle(5), &place, done));
  EXPECT_EQ(done.id, 52u);
}

TEST(Requests, FreedHandleMayComeAgain) {
  int place = 0;
  Request done;
  add_request(handle(6), &place, send(61));
  drop_request(handle(6), &place);
  add_request(handle(6), &place, send(62));
  EXPECT_TRUE(complete_request(handle(6), &place, done));
  EXPECT_EQ(done.id, 62u);
}

TEST(Requests, CancellingIsRemembered) {
  int place = 0;
  Request done;
  add_request(handle(7), &place, send(71));
  cancel_request(handle(7), &place);
  EXPECT_TRUE(complete_request(handle(7), &place, done));
  EXPECT_TRUE(done.cancelling);
}

TEST(Requests, ThreadsWithHandlesInCommon) {
  constexpr int kThreads = 4, kRounds = 2000;
  std::vector<std::thread> threads;
  std::atomic<int> completed{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      int place = 0;
      Request done;
      for (int i = 0; i < kRounds; ++i) {
        const MPI_Request mine = handle(100 + (i + t) % 7);
        add_request(mine, &place, send(static_cast<uint64_t>(t) << 32 | unsigned(i)));
        if (complete_request(mine, &place, done)) ++completed;
        EXPECT_EQ(done.id >> 32, static_cast<uint64_t>(t)) << "another thread's request";
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(completed, kThreads * kRounds);
}

}  // namespace
}  // namespace culprit::collector::mpi
