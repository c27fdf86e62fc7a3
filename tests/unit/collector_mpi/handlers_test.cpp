// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The handlers, around calls that are lambdas of the test. MPI itself runs with one process and
// only answers questions (sizes of types, who is in a communicator).

#include "collector/mpi/handlers.h"

#include <gtest/gtest.h>
#include <setjmp.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "collector/mpi/groups/comms.h"
#include "collector/mpi/requests.h"
#include "tests/fakes/fake_recorder.h"

namespace culprit::collector::mpi {
namespace {

using tests::fake_count;
using tests::fake_records;
using tests::FakeRecord;

class Mpi : public testing::Environment {
 public:
  void SetUp() override {
    PMPI_Init(nullptr, nullptr);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    register_predefined_comms();
  }
  void TearDown() override { PMPI_Finalize(); }
};
[[maybe_unused]] const auto* const mpi = testing::AddGlobalTestEnvironment(new Mpi);

Function function{"MPI_Anything", {}};

class Handlers : public testing::Test {
 protected:
  void SetUp() override { tests::fake_recorder_reset(); }
};

std::string kinds() {
  std::string text;
  for (const FakeRecord& record : fake_records()) {
    text += std::to_string(static_cast<int>(record.kind)) + " ";
  }
  return text;
}

constexpr int kWantedTag = 9;
const Wanted kWanted = {MPI_ANY_SOURCE, kWantedTag, MPI_COMM_WORLD};

Message message(int peer, int count = 3) {
  return {count, MPI_INT, peer, 4, MPI_COMM_WORLD};
}

MPI_Status status_of(int source, int tag, int bytes) {
  MPI_Status status{};
  PMPI_Status_set_elements(&status, MPI_BYTE, bytes);
  PMPI_Status_set_cancelled(&status, 0);
  status.MPI_SOURCE = source;
  status.MPI_TAG = tag;
  return status;
}

MPI_Request made_up(intptr_t number) {
  return (MPI_Request)(0x5000 + 16 * number);
}

TEST_F(Handlers, SendIsToldBeforeTheCall) {
  size_t before_call = 0;
  int waiting = 0;
  auto call = [&] {
    before_call = fake_records().size();
    waiting = tests::fake_waiting();
    return MPI_SUCCESS;
  };
  EXPECT_EQ(on_send(function, message(0), call), MPI_SUCCESS);
  EXPECT_EQ(kinds(), "10 12 11 ");
  EXPECT_EQ(before_call, 2u);
  EXPECT_EQ(waiting, 1);
  EXPECT_EQ(tests::fake_waiting(), 0);
  const FakeRecord& send = fake_records()[1];
  EXPECT_EQ(send.words, (std::vector<uint64_t>{uint64_t{4} << 32, 12}));
  EXPECT_EQ(send.time, fake_records()[0].time) << "posted when the call was entered";
  EXPECT_LT(send.time, fake_records()[2].time);
  EXPECT_EQ(tests::fake_name(fake_records()[0].flags), "MPI_Anything");
  EXPECT_EQ(fake_records()[0].arg, 7u) << "the caller's path";
}

TEST_F(Handlers, NobodyIsNoPeer) {
  auto call = [] { return MPI_SUCCESS; };
  on_send(function, message(MPI_PROC_NULL), call);
  EXPECT_EQ(kinds(), "10 11 ");
}

TEST_F(Handlers, ErrorsPassThroughAndTellNothing) {
  MPI_Status user = status_of(0, 1, 4);
  const Statuses status(&user, 1);
  auto call = [] { return MPI_ERR_TRUNCATE; };
  EXPECT_EQ(on_recv(function, kWanted, status, call), MPI_ERR_TRUNCATE);
  EXPECT_EQ(kinds(), "10 11 ");
}

TEST_F(Handlers, ReceiveIsWhatTheStatusSays) {
  const Statuses status(MPI_STATUS_IGNORE, 1);
  ASSERT_NE(status.c(), MPI_STATUS_IGNORE) << "memory of ours instead";
  auto call = [&] {
    *status.c() = status_of(0, 9, 40);
    return MPI_SUCCESS;
  };
  on_recv(function, kWanted, status, call);
  ASSERT_EQ(kinds(), "10 13 11 ");
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{uint64_t{9} << 32, 40}));
  EXPECT_EQ(fake_records()[1].time, fake_records()[2].time) << "complete when the call was left";
}

TEST_F(Handlers, WhatACallNeedsIsThereWhileItLasts) {
  MPI_Status user = status_of(0, kWantedTag, 4);
  const Statuses status(&user, 1);
  FakeRecord awaits{};
  auto call = [&] {
    awaits = tests::fake_open(trace::RawSlot::call);
    return MPI_SUCCESS;
  };
  on_recv(function, kWanted, status, call);
  EXPECT_EQ(awaits.kind, RawKind::mpi_awaits);
  EXPECT_EQ(awaits.flags, static_cast<uint16_t>(trace::RawAwaits::message));
  EXPECT_EQ(awaits.words, (std::vector<uint64_t>{static_cast<uint32_t>(trace::kRawAny) |
                                                 uint64_t{kWantedTag} << 32}));
  EXPECT_EQ(tests::fake_open(trace::RawSlot::call).kind, RawKind::none) << "over";
  EXPECT_EQ(kinds(), "10 13 11 ");
}

TEST_F(Handlers, CallersStatusIsLeftToHim) {
  MPI_Status user;
  const Statuses status(&user, 1);
  EXPECT_EQ(status.c(), &user);
}

TEST_F(Handlers, FruitlessTestsBecomeOneRecord) {
  MPI_Request request = made_up(1);
  int flag = 0;
  const Requests requests(Language::c, &request);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto call = [] { return MPI_SUCCESS; };
  for (int i = 0; i < 5; ++i) on_test(function, requests, &flag, status, call);
  ASSERT_EQ(kinds(), "18 ");
  const FakeRecord& tests = fake_records()[0];
  EXPECT_EQ(tests.words.at(1), 5u);
  EXPECT_EQ(tests.words.at(0), tests.time + 9) << "two clock readings a test";
  EXPECT_EQ(tests.words.at(2), 5u) << "ticks inside";

  on_send(function, message(0), call);
  on_test(function, requests, &flag, status, call);
  EXPECT_EQ(kinds(), "18 10 12 11 18 ");
}

TEST_F(Handlers, TestsOfDifferentNamesAreApart) {
  Function other{"MPI_Other", {}};
  int flag = 0;
  auto call = [] { return MPI_SUCCESS; };
  const Statuses status(MPI_STATUS_IGNORE, 1);
  on_iprobe(function, MPI_COMM_WORLD, &flag, status, call);
  on_iprobe(other, MPI_COMM_WORLD, &flag, status, call);
  EXPECT_EQ(kinds(), "18 18 ");
}

TEST_F(Handlers, TestOfNothingIsFruitlessToo) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag = 1, index = MPI_UNDEFINED, count = MPI_UNDEFINED, indices[1];
  const Requests requests(Language::c, &request);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto call = [] { return MPI_SUCCESS; };
  on_test(function, requests, &flag, status, call);
  on_testany(function, requests, &index, &flag, status, call);
  on_testsome(function, requests, &count, indices, status, call);
  on_waitany(function, requests, &index, status, call);
  on_waitsome(function, requests, &count, indices, status, call);
  EXPECT_EQ(kinds(), "18 10 11 10 11 ");
  EXPECT_EQ(fake_records()[0].words.at(1), 3u);
}

TEST_F(Handlers, RequestFromPostToCompletion) {
  MPI_Request request = MPI_REQUEST_NULL;
  const Requests requests(Language::c, &request);
  auto post = [&] {
    request = made_up(2);
    return MPI_SUCCESS;
  };
  on_irecv(function, message(0), requests, post);
  ASSERT_EQ(kinds(), "10 16 11 ");
  const uint64_t id = fake_records()[1].words.at(0);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto complete = [&] {
    request = MPI_REQUEST_NULL;
    *status.c() = status_of(0, 4, 12);
    return MPI_SUCCESS;
  };
  tests::fake_recorder_reset();
  on_wait(function, requests, status, complete);
  ASSERT_EQ(kinds(), "10 17 11 ");
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{uint64_t{4} << 32, 12, id}));
}

TEST_F(Handlers, FailedPostLeavesNoRequest) {
  MPI_Request request = made_up(3);
  const Requests requests(Language::c, &request);
  auto fail = [] { return MPI_ERR_RANK; };
  on_isend(function, message(0), requests, fail);
  Request unused;
  EXPECT_FALSE(complete_request(request, &request, unused));
}

TEST_F(Handlers, WaitallWithOneErrorCompletesTheOthers) {
  MPI_Request all[3];
  const Requests requests(Language::c, all, 3);
  for (int i = 0; i < 3; ++i) {
    auto post = [&] {
      all[i] = made_up(10 + i);
      return MPI_SUCCESS;
    };
    on_isend(function, message(0), Requests(Language::c, &all[i]), post);
  }
  MPI_Status statuses[3];
  for (MPI_Status& s : statuses) s = status_of(0, 4, 12), s.MPI_ERROR = MPI_SUCCESS;
  statuses[1].MPI_ERROR = MPI_ERR_OTHER;
  const Statuses given(statuses, 3);
  auto call = [] { return MPI_ERR_IN_STATUS; };
  tests::fake_recorder_reset();
  on_wait(function, requests, given, call);
  EXPECT_EQ(kinds(), "10 15 15 11 ");
}

TEST_F(Handlers, RequestThatFailsAndIsGoneIsForgotten) {
  MPI_Request all[2];
  for (int i = 0; i < 2; ++i) {
    auto post = [&] {
      all[i] = made_up(20 + i);
      return MPI_SUCCESS;
    };
    on_irecv(function, message(0), Requests(Language::c, &all[i]), post);
  }
  const Requests requests(Language::c, all, 2);
  const Statuses statuses(MPI_STATUSES_IGNORE, 2);
  int index = MPI_UNDEFINED;
  auto fail = [&] {
    all[0] = MPI_REQUEST_NULL;  // and the other one stays
    return MPI_ERR_TRUNCATE;
  };
  tests::fake_recorder_reset();
  EXPECT_EQ(on_waitany(function, requests, &index, statuses, fail), MPI_ERR_TRUNCATE);
  EXPECT_EQ(kinds(), "10 11 ");
  Request unused;
  EXPECT_FALSE(complete_request(made_up(20), &all[0], unused));
  EXPECT_TRUE(complete_request(made_up(21), &all[1], unused));
}

TEST_F(Handlers, FortranIndicesCountFromOneUnlessTheLibraryForgets) {
  for (const int base : {1, 0}) {
    MPI_Request posted[2];
    for (int i = 0; i < 2; ++i) {
      // A handle that Fortran can name.
      PMPI_Send_init(nullptr, 0, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &posted[i]);
    }
    MPI_Fint fortran[2] = {PMPI_Request_c2f(posted[0]), PMPI_Request_c2f(posted[1])};
    const Requests requests(Language::fortran, fortran, 2);
    for (uint64_t i = 0; i < 2; ++i) {
      Request request;
      request.kind = RequestKind::send;
      request.id = 100 + i;
      add_request(posted[i], &fortran[i], request);
    }
    int index = 0;
    const Statuses status(MPI_STATUS_IGNORE, 1);
    auto call = [&] {
      fortran[1] = PMPI_Request_c2f(MPI_REQUEST_NULL);
      index = 1 + base;
      return MPI_SUCCESS;
    };
    tests::fake_recorder_reset();
    on_waitany(function, requests, &index, status, call);
    ASSERT_EQ(kinds(), "10 15 11 ") << "base " << base;
    EXPECT_EQ(fake_records()[1].words.at(0), 101u);
    drop_request(posted[0], &fortran[0]);
    for (MPI_Request& handle : posted) PMPI_Request_free(&handle);
  }
}

TEST_F(Handlers, ProbesTellWhatTheyFound) {
  int flag = 1;
  const Statuses status(MPI_STATUS_IGNORE, 1);
  MPI_Message handle = MPI_MESSAGE_NULL;
  const MessagePlace place(Language::c, &handle);
  auto call = [&] {
    *status.c() = status_of(0, 9, 40);
    handle = (MPI_Message)intptr_t{0x5130};
    return MPI_SUCCESS;
  };
  on_probe(function, kWanted, status, call);
  on_iprobe(function, MPI_COMM_WORLD, &flag, status, call);
  on_mprobe(function, kWanted, place, status, call);
  on_improbe(function, MPI_COMM_WORLD, &flag, place, status, call);
  ASSERT_EQ(kinds(), "10 30 11 10 30 11 10 30 11 10 30 11 ");
  const auto found = [](size_t record) { return fake_records()[record].words; };
  EXPECT_EQ(found(1), (std::vector<uint64_t>{uint64_t{9} << 32, 40, 0}));
  EXPECT_EQ(found(4), found(1));
  EXPECT_NE(found(7).at(2), 0u) << "a matched probe has a number,";
  EXPECT_NE(found(10).at(2), found(7).at(2));
  const uint64_t number = found(10).at(2);
  tests::fake_recorder_reset();
  on_mrecv(function, place, status, call);
  ASSERT_EQ(kinds(), "10 13 11 ");
  EXPECT_EQ(fake_records()[1].flags, static_cast<uint16_t>(trace::RawMatching::probed));
  EXPECT_EQ(fake_records()[1].words.at(2), number) << "and its receive names it";
}

TEST_F(Handlers, ProbeOfNobodyFindsNothing) {
  int flag = 1;
  const Statuses status(MPI_STATUS_IGNORE, 1);
  MPI_Message handle = MPI_MESSAGE_NO_PROC;
  auto call = [&] {
    *status.c() = status_of(MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
  };
  on_probe(function, kWanted, status, call);
  on_iprobe(function, MPI_COMM_WORLD, &flag, status, call);
  on_mprobe(function, kWanted, MessagePlace(Language::c, &handle), status, call);
  EXPECT_EQ(kinds(), "10 11 10 11 10 11 ");
}

TEST_F(Handlers, PartitionedSendIsReadyWithItsLastPartition) {
  MPI_Request handle = MPI_REQUEST_NULL;
  const Requests request(Language::c, &handle);
  auto init = [&] {
    handle = made_up(30);
    return MPI_SUCCESS;
  };
  auto call = [] { return MPI_SUCCESS; };
  on_psend_init(function, 8, message(0), request, init);
  ASSERT_EQ(kinds(), "10 31 11 ");
  EXPECT_EQ(fake_records()[1].words.at(1), 8u * 12);
  const uint64_t number = fake_records()[1].words.at(2);
  for (int round = 0; round < 2; ++round) {
    tests::fake_recorder_reset();
    on_start(function, request, call);
    ASSERT_EQ(kinds(), "10 14 11 ");
    EXPECT_EQ(fake_records()[1].flags, static_cast<uint16_t>(trace::RawMatching::partitioned));
    EXPECT_EQ(fake_records()[1].words.at(4), number);
    const uint64_t id = fake_records()[1].words.at(2);
    std::atomic<size_t> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const Requests by_value = Requests::by_value(handle);
        on_pready(function, 1, by_value, call);
        on_pready(function, 1, by_value, call);
        ready += fake_count(RawKind::mpi_part_ready);
        for (const FakeRecord& record : fake_records()) {
          EXPECT_TRUE(record.kind != RawKind::mpi_part_ready || record.words.at(0) == id);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(ready, 1u) << "on whichever thread";
    tests::fake_recorder_reset();
    on_wait(function, request, Statuses(MPI_STATUS_IGNORE, 1), call);
    EXPECT_EQ(kinds(), "10 15 11 ");
  }
  drop_request(handle, &handle);
}

TEST_F(Handlers, PersistentRequestThroughAllItsStates) {
  MPI_Request handle = MPI_REQUEST_NULL;
  const Requests request(Language::c, &handle);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  int flag = 1;
  auto init = [&] {
    handle = made_up(31);
    return MPI_SUCCESS;
  };
  auto call = [] { return MPI_SUCCESS; };
  auto gone = [&] {
    handle = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  };
  on_send_init(function, message(0), request, init);
  on_wait(function, request, status, call);  // never started: complete, and nothing has been
  on_request_get_status(function, request, &flag, status, call);
  EXPECT_EQ(fake_count(RawKind::mpi_isend_done), 0u);
  on_start(function, request, call);
  on_request_get_status(function, request, &flag, status, call);
  EXPECT_EQ(fake_count(RawKind::mpi_isend_done), 1u);
  on_request_get_status(function, request, &flag, status, call);
  on_wait(function, request, status, call);
  EXPECT_EQ(fake_count(RawKind::mpi_isend_done), 1u) << "told once";
  on_start(function, request, call);
  on_wait(function, request, status, call);
  EXPECT_EQ(fake_count(RawKind::mpi_isend_done), 2u);
  on_start(function, request, call);
  on_request_free(function, request, gone);  // while active: it will complete, nobody hears of it
  tests::fake_recorder_reset();
  on_send_init(function, message(0), request, init);  // the handle comes again
  on_wait(function, request, status, call);
  EXPECT_EQ(kinds(), "10 11 10 11 ") << "and is not the active one that was freed";
  on_request_free(function, request, gone);  // never started
}

TEST_F(Handlers, MessageHandleMayBeGivenAwayDuringItsReceive) {
  MPI_Message handle = (MPI_Message)intptr_t{0x5100};
  const uint64_t key = key_of(handle);
  Comm first, second, found;
  first.id = 21;
  second.id = 22;
  remember_handle(HandleKind::message, key, first);
  MPI_Status user;
  const Statuses status(&user, 1);
  const MessagePlace place(Language::c, &handle);
  auto call = [&] {
    remember_handle(HandleKind::message, key, second);  // another thread's probe
    handle = MPI_MESSAGE_NULL;
    user = status_of(0, 9, 40);
    return MPI_SUCCESS;
  };
  on_mrecv(function, place, status, call);
  ASSERT_EQ(kinds(), "10 13 11 ");
  EXPECT_EQ(fake_records()[1].arg, 21u);
  HandleEntry* entry = find_handle(HandleKind::message, key, found);
  ASSERT_TRUE(entry);
  EXPECT_EQ(found.id, 22u);
  forget(entry);
}

TEST_F(Handlers, MessageThatWasNotReceivedStays) {
  MPI_Message handle = (MPI_Message)intptr_t{0x5110};
  Comm comm, found;
  comm.id = 23;
  remember_handle(HandleKind::message, key_of(handle), comm);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto fail = [] { return MPI_ERR_TYPE; };
  on_mrecv(function, MessagePlace(Language::c, &handle), status, fail);
  HandleEntry* entry = find_handle(HandleKind::message, key_of(handle), found);
  ASSERT_TRUE(entry);
  EXPECT_EQ(found.id, 23u);
  forget(entry);
}

TEST_F(Handlers, MessageOfAnUnseenProbeIsCounted) {
  MPI_Message handle = (MPI_Message)intptr_t{0x5120};
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto call = [] { return MPI_SUCCESS; };
  on_mrecv(function, MessagePlace(Language::c, &handle), status, call);
  EXPECT_EQ(kinds(), "10 11 ");
  EXPECT_EQ(process()->skipped_callbacks, 1u);
}

TEST_F(Handlers, CommunicatorThatCouldNotBeFreedKeepsItsNumber) {
  MPI_Comm comm;
  PMPI_Comm_dup(MPI_COMM_SELF, &comm);
  const uint32_t id = comm_of(*thread_log(), 1, comm).id;
  const CommPlace place(Language::c, &comm);
  auto fail = [] { return MPI_ERR_COMM; };
  on_comm_free(function, place, fail);
  EXPECT_EQ(comm_of(*thread_log(), 1, comm).id, id);
  auto succeed = [&] { return PMPI_Comm_free(&comm); };
  const MPI_Comm freed = comm;
  on_comm_free(function, place, succeed);
  Comm found;
  EXPECT_FALSE(find_handle(HandleKind::comm, key_of(freed), found));
  EXPECT_EQ(fake_count(RawKind::mpi_comm_free), 1u);
}

TEST_F(Handlers, ErrorHandlersMayThrow) {
  auto call = []() -> int { throw 5; };
  EXPECT_THROW(on_send(function, message(0), call), int);
  EXPECT_EQ(kinds(), "10 12 11 ");
  EXPECT_LT(fake_records()[1].time, fake_records()[2].time);
  EXPECT_EQ(tests::fake_waiting(), 0);
}

/// As a wrapper: with a frame of its own.
[[gnu::noinline]] bool is_nested() {
  const DepthGuard guard;
  return guard.nested();
}

TEST_F(Handlers, NestedCallsAreNotTheOutermost) {
  EXPECT_FALSE(is_nested());
  const DepthGuard outer;
  EXPECT_FALSE(outer.nested());
  EXPECT_TRUE(is_nested());
  EXPECT_TRUE(is_nested());
}

jmp_buf g_after_jump;

[[gnu::noinline]] void leave_by_jump() {
  const DepthGuard guard;
  longjmp(g_after_jump, 1);
}

TEST_F(Handlers, CallsLeftByAJumpHaveNothingInThem) {
  if (setjmp(g_after_jump) == 0) leave_by_jump();
  EXPECT_FALSE(is_nested());
  EXPECT_FALSE(is_nested());
}

TEST_F(Handlers, WithoutALogOnlyTheCallHappens) {
  tests::fake_recorder_reset(false);
  int calls = 0, flag = 1;
  MPI_Request request = made_up(4);
  const Requests requests(Language::c, &request);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto call = [&] {
    ++calls;
    return MPI_SUCCESS;
  };
  on_send(function, message(0), call);
  on_isend(function, message(0), requests, call);
  on_wait(function, requests, status, call);
  on_test(function, requests, &flag, status, call);
  Collective barrier;
  barrier.comm = MPI_COMM_WORLD;
  on_collective(function, barrier, call);
  EXPECT_EQ(calls, 5);
  tests::fake_recorder_reset();
  EXPECT_EQ(kinds(), "");
}

TEST_F(Handlers, LargeCountsAreNotCut) {
  auto call = [] { return MPI_SUCCESS; };
  on_send(function, {int64_t{3} << 31, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD}, call);
  EXPECT_EQ(fake_records()[1].words.at(1), uint64_t{3} << 34);
}

}  // namespace
}  // namespace culprit::collector::mpi
