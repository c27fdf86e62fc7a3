// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The handlers of windows and files, around calls that are lambdas of the test (as
// handlers_test.cpp, which starts MPI). Real windows and files are in tests/programs/mpi_records.

#include <gtest/gtest.h>

#include <string>

#include "collector/mpi/groups/comms.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/objects.h"
#include "tests/fakes/fake_recorder.h"

namespace culprit::collector::mpi {
namespace {

using tests::fake_count;
using tests::fake_records;
using trace::RawKind;

Function function{"MPI_Anything", {}};
auto succeed = [] { return MPI_SUCCESS; };
auto refuse = [] { return MPI_ERR_OTHER; };

/// A handle that no MPI gave out: the handlers only compare it.
template <class Handle>
Handle made_up(intptr_t number) {
  return (Handle)(0x7000 + 16 * number);
}

class OneSidedHandlers : public testing::Test {
 protected:
  void SetUp() override {
    tests::fake_recorder_reset();
    auto created = [] { return MPI_SUCCESS; };
    on_win_create(function, trace::RawWinFlavor::create, MPI_COMM_WORLD,
                  WinPlace(Language::c, &win), created);
    on_file_open(function, MPI_COMM_WORLD, Text("data"), MPI_MODE_RDONLY,
                 FilePlace(Language::c, &file), created);
    tests::fake_recorder_reset();
  }
  void TearDown() override {
    auto freed = [] { return MPI_SUCCESS; };
    on_win_free(function, WinPlace(Language::c, &win), freed);
    on_file_close(function, FilePlace(Language::c, &file), freed);
  }
  static uint64_t unknown() { return process()->skipped_callbacks; }

  MPI_Win win = made_up<MPI_Win>(1);
  MPI_File file = made_up<MPI_File>(2);
};

std::string kinds() {
  std::string text;
  for (const auto& record : fake_records()) {
    text += std::to_string(static_cast<int>(record.kind)) + " ";
  }
  return text;
}

OneSided put(MPI_Win win, int target) {
  OneSided operation;
  operation.win = win;
  operation.target = target;
  operation.sent_count = 3;
  operation.sent_type = MPI_DOUBLE;
  return operation;
}

TEST_F(OneSidedHandlers, OperationIsToldBeforeTheCallAndSynchronisationAfterIt) {
  std::string during;
  auto call = [&] {
    during = kinds();
    return MPI_SUCCESS;
  };
  on_rma(function, put(win, 0), call);
  EXPECT_EQ(during, "10 87 ");
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{0, 24, 0}));
  EXPECT_EQ(fake_records()[1].time, fake_records()[0].time);
  tests::fake_recorder_reset();
  on_win_lock(function, MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, win, call);
  EXPECT_EQ(during, "10 91 ") << "a lock is requested when the call is entered";
  EXPECT_EQ(fake_records()[1].flags, 1 | 1 << trace::kRawRmaAssertionsShift);
  tests::fake_recorder_reset();
  on_win_unlock(function, 0, win, call);
  EXPECT_EQ(during, "10 ");
  EXPECT_EQ(kinds(), "10 91 11 ");
  EXPECT_EQ(fake_records()[1].time, fake_records()[2].time);
}

TEST_F(OneSidedHandlers, NobodyIsNoTarget) {
  on_rma(function, put(win, MPI_PROC_NULL), succeed);
  EXPECT_EQ(kinds(), "10 11 ");
  MPI_Request request = made_up<MPI_Request>(3);
  on_rma_request(function, put(win, MPI_PROC_NULL), Requests(Language::c, &request), succeed);
  MPI_Status given{};
  const Statuses status(&given, 1);
  tests::fake_recorder_reset();
  on_wait(function, Requests(Language::c, &request), status, succeed);
  EXPECT_EQ(kinds(), "10 11 ");
}

TEST_F(OneSidedHandlers, FetchesAndComparisonsAreOfOneElement) {
  OneSided operation = put(win, 0);
  operation.sent_count = 0;
  operation.op = trace::RmaOp::compare_and_swap;
  on_rma(function, operation, succeed);
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{0, 16, 8}));
  operation.op = trace::RmaOp::fetch_and_accumulate;
  operation.reduction = MPI_SUM;
  tests::fake_recorder_reset();
  on_rma(function, operation, succeed);
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{0, 8, 8}));
  operation.reduction = MPI_NO_OP;
  tests::fake_recorder_reset();
  on_rma(function, operation, succeed);
  EXPECT_EQ(fake_records()[1].words, (std::vector<uint64_t>{0, 0, 8}));
}

TEST_F(OneSidedHandlers, RequestsOfOperationsComplete) {
  MPI_Request request = MPI_REQUEST_NULL;
  auto post = [&] {
    request = made_up<MPI_Request>(4);
    return MPI_SUCCESS;
  };
  on_rma_request(function, put(win, 0), Requests(Language::c, &request), post);
  ASSERT_EQ(kinds(), "10 87 11 ");
  const uint64_t id = fake_records()[1].words.at(3);
  const uint32_t window = fake_records()[1].arg;
  tests::fake_recorder_reset();
  MPI_Status given{};
  const Statuses status(&given, 1);
  auto complete = [&] {
    request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  };
  on_wait(function, Requests(Language::c, &request), status, complete);
  ASSERT_EQ(kinds(), "10 88 11 ");
  EXPECT_EQ(fake_records()[1].words, std::vector<uint64_t>{id});
  EXPECT_EQ(fake_records()[1].arg, window);
}

TEST_F(OneSidedHandlers, TestsOfAnEpochThatGoesOnBecomeOneRecord) {
  int flag = 0;
  for (int i = 0; i < 5; ++i) on_win_test(function, win, &flag, succeed);
  EXPECT_EQ(kinds(), "18 ");
  flag = 1;
  on_win_test(function, win, &flag, succeed);
  EXPECT_EQ(kinds(), "18 10 90 11 ");
  EXPECT_EQ(fake_records()[2].flags, static_cast<uint16_t>(trace::RmaEpoch::wait));
}

TEST_F(OneSidedHandlers, WhatFailedSynchronisesNothing) {
  on_win_fence(function, 0, win, refuse);
  on_win_epoch_end(function, trace::RmaEpoch::complete, win, refuse);
  on_win_unlock_all(function, win, refuse);
  on_win_flush_all(function, trace::RmaSyncKind::flush, win, refuse);
  EXPECT_EQ(kinds(), "10 11 10 11 10 11 10 11 ");
}

TEST_F(OneSidedHandlers, WindowThatCouldNotBeFreedKeepsItsNumber) {
  on_win_fence(function, 0, win, succeed);
  const uint32_t number = fake_records()[1].arg;
  EXPECT_EQ(on_win_free(function, WinPlace(Language::c, &win), refuse), MPI_ERR_OTHER);
  tests::fake_recorder_reset();
  on_win_fence(function, 0, win, succeed);
  ASSERT_EQ(fake_count(RawKind::rma_fence), 1u);
  EXPECT_EQ(fake_records()[1].arg, number);
}

TEST_F(OneSidedHandlers, HandlesMayBeGivenAwayWhileTheyAreFreed) {
  MPI_Win again = win;
  auto free_it = [&] {  // another thread gets the same handle before the first returns
    on_win_create(function, trace::RawWinFlavor::dynamic, MPI_COMM_WORLD,
                  WinPlace(Language::c, &again), succeed);
    return MPI_SUCCESS;
  };
  on_win_free(function, WinPlace(Language::c, &win), free_it);
  tests::fake_recorder_reset();
  on_win_fence(function, 0, again, succeed);
  EXPECT_EQ(fake_count(RawKind::rma_fence), 1u);
}

TEST_F(OneSidedHandlers, ObjectsThatNobodySawBeingMadeAreCounted) {
  on_win_fence(function, 0, made_up<MPI_Win>(8), succeed);
  Transfer transfer;
  transfer.file = made_up<MPI_File>(9);
  MPI_Status given{};
  const Statuses status(&given, 1);
  on_file_transfer(function, transfer, status, succeed);
  EXPECT_EQ(kinds(), "10 11 10 11 ");
  EXPECT_EQ(unknown(), 2u);
}

TEST_F(OneSidedHandlers, TransferTellsWhatWasAskedAndWhatWasMoved) {
  Transfer transfer;
  transfer.file = file;
  transfer.count = 4;
  transfer.type = MPI_INT;
  MPI_Status given{};
  PMPI_Status_set_elements(&given, MPI_BYTE, 6);
  const Statuses status(&given, 1);
  on_file_transfer(function, transfer, status, succeed);
  ASSERT_EQ(kinds(), "10 95 97 11 ");
  EXPECT_EQ(fake_records()[1].words, std::vector<uint64_t>{16});
  EXPECT_EQ(fake_records()[2].words, std::vector<uint64_t>{6});
  tests::fake_recorder_reset();
  EXPECT_EQ(on_file_transfer(function, transfer, status, refuse), MPI_ERR_OTHER);
  ASSERT_EQ(kinds(), "10 95 97 11 ");
  EXPECT_EQ(fake_records()[2].words, std::vector<uint64_t>{0}) << "a failed one moved nothing";
}

TEST_F(OneSidedHandlers, LongNamesKeepTheirEnd) {
  const std::string name = std::string(3000, 'x') + "/end";
  MPI_File other = made_up<MPI_File>(10);
  on_file_open(function, MPI_COMM_WORLD, Text(name.c_str()), MPI_MODE_CREATE | MPI_MODE_WRONLY,
               FilePlace(Language::c, &other), succeed);
  ASSERT_EQ(kinds(), "10 93 11 ");
  const auto& words = fake_records()[1].words;
  const std::string kept(reinterpret_cast<const char*>(words.data() + 1), words[0] >> 32);
  EXPECT_EQ(kept, name.substr(name.size() - 1024));
  EXPECT_EQ(fake_records()[1].flags,
            static_cast<uint16_t>(trace::FileAccess::create | trace::FileAccess::write));
  on_file_close(function, FilePlace(Language::c, &other), succeed);
}

TEST_F(OneSidedHandlers, NamesOfFortranEndBeforeTheirBlanks) {
  MPI_File other = made_up<MPI_File>(11);
  on_file_open(function, MPI_COMM_WORLD, Text("a b   ", 6), MPI_MODE_RDONLY,
               FilePlace(Language::c, &other), succeed);
  ASSERT_EQ(kinds(), "10 93 11 ");
  EXPECT_EQ(fake_records()[1].words.at(0) >> 32, 3u);
  on_file_close(function, FilePlace(Language::c, &other), succeed);
}

TEST_F(OneSidedHandlers, WithoutALogOnlyTheCallHappens) {
  tests::fake_recorder_reset(false);
  int calls = 0;
  auto call = [&] {
    ++calls;
    return MPI_SUCCESS;
  };
  int flag = 1;
  MPI_Request request = made_up<MPI_Request>(5);
  Transfer transfer;
  transfer.file = file;
  MPI_Status given{};
  const Statuses status(&given, 1);
  on_rma(function, put(win, 0), call);
  on_rma_request(function, put(win, 0), Requests(Language::c, &request), call);
  on_win_fence(function, 0, win, call);
  on_win_epoch(function, trace::RmaEpoch::start, MPI_GROUP_EMPTY, 0, win, call);
  on_win_test(function, win, &flag, call);
  on_win_lock_all(function, 0, win, call);
  on_file_transfer(function, transfer, status, call);
  on_file_itransfer(function, transfer, Requests(Language::c, &request), call);
  on_file_begin(function, transfer, call);
  on_file_end(function, transfer, status, call);
  on_file_sync(function, file, call);
  EXPECT_EQ(calls, 11);
  EXPECT_TRUE(fake_records().empty());
  tests::fake_recorder_reset();
}

}  // namespace
}  // namespace culprit::collector::mpi
