// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/survey.h"

#include <algorithm>

#include "fixture.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

class SurveyTest : public AssembleTest {
 protected:
  /// Of the first thread.
  ThreadSurvey made() {
    Losses losses;
    const auto folders = read_raw(GuardedPath(folder_) / "raw", losses);
    return survey_log(folders.at(0).logs.at(0));
  }
};

TEST_F(SurveyTest, CountsThePathsOfAllKindsThatTakeOne) {
  process()
      ->thread(0)
      .enter(10, "MPI_Test", in_main({}))
      .leave(12, "MPI_Test")
      .put(RawKind::mpi_tests, 20, 1, 1, {25, 2, 3})
      .sample(30, in_main({}))
      .put(RawKind::woke, 40, 0, 1, {7});
  EXPECT_EQ(made().tool.paths, 4u);
}

TEST_F(SurveyTest, KnowsHowOftenSamplesFoundEachStack) {
  process()
      ->thread(0)
      .sample(10, in_main({"a"}))
      .sample(20, in_main({"b"}))
      .sample(30, in_main({"a"}));
  SampledStacks stacks = made().survey.stacks;
  stacks.merge(made().survey.stacks);
  std::vector<uint64_t> samples;
  for (const SampledStacks::Path& path : stacks.paths()) {
    if (path.samples > 0) samples.push_back(path.samples);
  }
  std::sort(samples.begin(), samples.end());
  ASSERT_EQ(samples.size(), 2u);
  EXPECT_EQ(samples[1], 2 * samples[0]);
}

TEST_F(SurveyTest, KnowsTheCodeOfEveryRecordThatHasSome) {
  process()
      ->thread(0)
      .put(RawKind::omp_mutex_acquire, 10, 5, 0, {1, 0x1001})
      .put(RawKind::omp_mutex_acquired, 11, 5, 0, {1, 0x1002})
      .put(RawKind::omp_mutex_released, 12, 5, 0, {1, 0})
      .put(RawKind::thread_begun, 20, 0, 0, {0x2000})
      .put(RawKind::thread_begun, 21, 0, 0, {0});
  EXPECT_EQ(made().survey.addresses, (std::unordered_set<uint64_t>{0x1001, 0x1002, 0x2001}));
}

}  // namespace
}  // namespace culprit::assemble::test
