// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Completing very many requests at once, none, and halves of one: no wrapper may have an array of
// fixed size, nor read an index that means "none". Calls are lambdas of the test, as in
// handlers_test.cpp, which also initialises MPI.

#include <gtest/gtest.h>

#include <vector>

#include "collector/mpi/handlers.h"
#include "tests/fakes/fake_recorder.h"

namespace culprit::collector::mpi {
namespace {

using tests::fake_records;
using tests::FakeRecord;

constexpr int kMany = 5000;
Function function{"MPI_Anything", {}};

/// Receives that are all under way; the i-th will get a message with tag i.
class Completion : public testing::Test {
 protected:
  void SetUp() override {
    tests::fake_recorder_reset();
    for (int i = 0; i < kMany; ++i) {
      auto post = [&] {
        handles_[size_t(i)] = (MPI_Request)(intptr_t{0x900000} + 16 * i);
        return MPI_SUCCESS;
      };
      const Message message{1, MPI_INT, 0, i, MPI_COMM_WORLD};
      on_irecv(function, message, Requests(Language::c, &handles_[size_t(i)]), post);
    }
    tests::fake_recorder_reset();
  }

  void complete(int request, MPI_Status& status) {
    handles_[size_t(request)] = MPI_REQUEST_NULL;
    PMPI_Status_set_elements(&status, MPI_BYTE, 4);
    PMPI_Status_set_cancelled(&status, 0);
    status.MPI_SOURCE = 0;
    status.MPI_TAG = request;
  }

  /// Tags, in the order of the records.
  static std::vector<int> received() {
    std::vector<int> tags;
    for (const FakeRecord& record : fake_records()) {
      if (record.kind == RawKind::mpi_irecv) tags.push_back(int(record.words.at(0) >> 32));
    }
    return tags;
  }

  std::vector<MPI_Request> handles_ = std::vector<MPI_Request>(kMany);
  const Requests requests_{Language::c, handles_.data(), kMany};
  const Statuses ignored_{MPI_STATUSES_IGNORE, kMany};
};

TEST_F(Completion, OfAll) {
  auto call = [&] {
    for (int i = 0; i < kMany; ++i) complete(i, ignored_.c()[i]);
    return MPI_SUCCESS;
  };
  EXPECT_EQ(on_wait(function, requests_, ignored_, call), MPI_SUCCESS);
  const std::vector<int> tags = received();
  ASSERT_EQ(tags.size(), size_t{kMany});
  for (int i = 0; i < kMany; ++i) ASSERT_EQ(tags[size_t(i)], i);
}

TEST_F(Completion, OfSomeAndThenTheRest) {
  std::vector<int> indices(kMany);
  int count = 0;
  auto every_third_backwards = [&] {
    for (int i = kMany - 1; i >= 0; i -= 3) {
      complete(i, ignored_.c()[count]);
      indices[size_t(count++)] = i;
    }
    return MPI_SUCCESS;
  };
  on_waitsome(function, requests_, &count, indices.data(), ignored_, every_third_backwards);
  const std::vector<int> tags = received();
  EXPECT_EQ(tags, std::vector<int>(indices.begin(), indices.begin() + count));

  tests::fake_recorder_reset();
  int flag = 1;
  auto rest = [&] {
    for (int i = 0; i < kMany; ++i) complete(i, ignored_.c()[i]);
    return MPI_SUCCESS;
  };
  on_test(function, requests_, &flag, ignored_, rest);
  EXPECT_EQ(received().size(), size_t(kMany - count));
}

/// A Fortran layer may have added 1 to what C said, to "none of them", too.
TEST(FortranCompletion, NoneIsNoIndex) {
  tests::fake_recorder_reset();
  const MPI_Fint null = PMPI_Request_c2f(MPI_REQUEST_NULL);
  MPI_Fint fortran[2] = {null, null};
  const Requests requests(Language::fortran, fortran, 2);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto call = [] { return MPI_SUCCESS; };
  for (const int added : {0, 1}) {
    int flag = 1, index = MPI_UNDEFINED + added, indices[2] = {7, 7};
    on_waitany(function, requests, &index, status, call);
    on_testany(function, requests, &index, &flag, status, call);
    on_waitsome(function, requests, &index, indices, status, call);
    on_testsome(function, requests, &index, indices, status, call);
  }
  for (const FakeRecord& record : fake_records()) {
    EXPECT_TRUE(record.kind == RawKind::mpi_enter || record.kind == RawKind::mpi_leave ||
                record.kind == RawKind::mpi_tests);
  }
}

/// Of an exchange with a neighbour that there is only on one side.
TEST(CombinedRequest, HalfOfItMayBeWithNobody) {
  const Message here{3, MPI_INT, 0, 4, MPI_COMM_WORLD};
  const Message nobody{3, MPI_INT, MPI_PROC_NULL, 4, MPI_COMM_WORLD};
  MPI_Request handle = MPI_REQUEST_NULL;
  const Requests place(Language::c, &handle);
  const Statuses status(MPI_STATUS_IGNORE, 1);
  auto post = [&] {
    handle = (MPI_Request)intptr_t{0x5200};
    return MPI_SUCCESS;
  };
  auto complete = [&] {
    handle = MPI_REQUEST_NULL;
    PMPI_Status_set_elements(status.c(), MPI_BYTE, 12);
    PMPI_Status_set_cancelled(status.c(), 0);
    status.c()->MPI_SOURCE = 0;
    status.c()->MPI_TAG = 4;
    return MPI_SUCCESS;
  };
  const auto records_of = [&](const Message& sent, const Message& received) {
    tests::fake_recorder_reset();
    on_isendrecv(function, sent, received, place, post);
    on_wait(function, place, status, complete);
    std::vector<RawKind> facts;
    for (const FakeRecord& record : fake_records()) {
      if (record.kind != RawKind::mpi_enter && record.kind != RawKind::mpi_leave) {
        facts.push_back(record.kind);
      }
    }
    return facts;
  };
  using Facts = std::vector<RawKind>;
  EXPECT_EQ(records_of(here, nobody), (Facts{RawKind::mpi_isend, RawKind::mpi_isend_done}));
  EXPECT_EQ(records_of(nobody, here), (Facts{RawKind::mpi_irecv_post, RawKind::mpi_irecv}));
  EXPECT_EQ(records_of(nobody, nobody), Facts{});
  EXPECT_EQ(records_of(here, here), (Facts{RawKind::mpi_isend, RawKind::mpi_irecv_post,
                                           RawKind::mpi_isend_done, RawKind::mpi_irecv}));
}

/// Open MPI's buffered sends are complete for the caller while their data still travels: started
/// again then, a request goes on under another handle.
TEST(PersistentRequest, MayGetAnotherHandleWhenItStarts) {
  constexpr intptr_t kFirst = 0x5300, kStarts = 3;
  const Message message{1, MPI_INT, 0, 4, MPI_COMM_WORLD};
  MPI_Request handles[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  const Statuses ignored(MPI_STATUSES_IGNORE, 2);
  for (intptr_t i = 0; i < 2; ++i) {
    auto init = [&] {
      handles[i] = (MPI_Request)(kFirst + 0x1000 * i);
      return MPI_SUCCESS;
    };
    on_send_init(function, message, Requests(Language::c, &handles[i]), init);
  }
  tests::fake_recorder_reset();
  const Requests both(Language::c, handles, 2);
  auto replace_first = [&] {
    handles[0] = (MPI_Request)((intptr_t)handles[0] + 16);
    return MPI_SUCCESS;
  };
  auto nothing = [] { return MPI_SUCCESS; };
  for (int i = 0; i < kStarts; ++i) {
    on_start(function, both, replace_first);
    on_wait(function, both, ignored, nothing);
  }
  // A call that fails may have started, and replaced, what came before the fault.
  auto replace_and_fail = [&] {
    replace_first();
    return int{MPI_ERR_REQUEST};
  };
  on_start(function, both, replace_and_fail);
  on_wait(function, both, ignored, nothing);

  std::vector<uint64_t> started, done;
  for (const FakeRecord& record : fake_records()) {
    if (record.kind == RawKind::mpi_isend) started.push_back(record.words.at(2));
    if (record.kind == RawKind::mpi_isend_done) done.push_back(record.words.at(0));
  }
  EXPECT_EQ(started.size(), 2 * size_t{kStarts + 1});
  EXPECT_EQ(done, started);
}

}  // namespace
}  // namespace culprit::collector::mpi
