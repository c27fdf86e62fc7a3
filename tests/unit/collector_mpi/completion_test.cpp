// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Completing very many requests at once: no wrapper may have an array of fixed size for them, nor
// lose what belongs to the last. Calls are lambdas of the test, as in handlers_test.cpp, which also
// initialises MPI.

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

}  // namespace
}  // namespace culprit::collector::mpi
