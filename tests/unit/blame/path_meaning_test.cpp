// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of the program's own may be called like calls of MPI, of devices or of OpenMP: what a
// region is, its model says.
#include "blame/findings/path_meaning.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "blame/judge/causes.h"
#include "blame/judge/diagnose.h"
#include "blame/profile/start_up.h"

namespace culprit::blame {
namespace {

FoundCallPath path(const char* region, const char* model) {
  return {region, region, "", 0, CallPathId(), false, model};
}

TEST(PathMeaning, OnlyCallsOfRuntimesWaitForOthers) {
  EXPECT_TRUE(waits_for_others(path("MPI_Recv", "mpi")));
  EXPECT_TRUE(waits_for_others(path("cuStreamSynchronize", "cuda")));
  EXPECT_TRUE(waits_for_others(path("clFinish", "opencl")));
  EXPECT_TRUE(waits_for_others(path("!$omp barrier @a.c:3", "openmp")));
  EXPECT_TRUE(waits_for_others(path("!$omp taskwait @a.c:3", "openmp")));
  EXPECT_FALSE(waits_for_others(path("!$omp parallel @a.c:3", "openmp")));
  for (const char* mine : {"MPI_my_helper", "MPI_Recv", "custom::Synchronize",
                           "cuStreamSynchronize", "clFinish", "clearSynchronized"}) {
    EXPECT_FALSE(waits_for_others(path(mine, "user"))) << mine;
    EXPECT_FALSE(waits_for_others(path(mine, "compiler"))) << mine;
  }
}

TEST(PathMeaning, OnlyCallsOfRuntimesStartUp) {
  const auto region = [](const char* name, trace::Paradigm paradigm) {
    return trace::Region{name, trace::RegionRole::function, paradigm, "", 0};
  };
  EXPECT_TRUE(starts_or_ends(region("MPI_Init_thread", trace::Paradigm::mpi)));
  EXPECT_TRUE(starts_or_ends(region("cuModuleLoadData", trace::Paradigm::cuda)));
  for (const char* mine : {"MPI_Init_thread", "MPI_Init_my_world", "cuModuleLoader", "cuInitial"}) {
    EXPECT_FALSE(starts_or_ends(region(mine, trace::Paradigm::user))) << mine;
  }
}

TEST(PathMeaning, ConstructsAreOfOpenmp) {
  EXPECT_TRUE(is_parallel(path("!$omp parallel for @a.c:3", "openmp")));
  EXPECT_TRUE(is_team_barrier(path("!$omp implicit barrier", "openmp")));
  EXPECT_FALSE(is_team_barrier(path("MPI_Barrier", "mpi")));
  EXPECT_FALSE(is_team_barrier(path("break_barrier", "user")));
  EXPECT_FALSE(is_parallel(path("parallel_sort", "user")));
}

// 100,000 messages of 8 bytes, in a call of MPI or in a function of the program that is called like
// one.
TEST(PathMeaning, SmallMessagesCostWhatMpiTakes) {
  for (const bool is_mpi : {true, false}) {
    Findings f;
    f.run.wall_s = 10;
    f.callpaths = {is_mpi ? path("MPI_Issend", "mpi") : path("MPI_Send_all", "user")};
    f.message_use.emplace_back();
    f.message_use[0].callpath = CallPathId(0);
    f.message_use[0].location = LocationId(0);
    f.message_use[0].messages = 100'000;
    f.message_use[0].bytes = 800'000;
    f.critical_callpaths.emplace_back();
    f.critical_callpaths[0].callpath = CallPathId(0);
    f.critical_callpaths[0].time_s = 1;
    diagnose(f);
    const auto found = std::find_if(
        f.diagnoses.begin(), f.diagnoses.end(),
        [](const FoundDiagnosis& row) { return row.kind == Diagnosis::small_messages; });
    ASSERT_NE(found, f.diagnoses.end());
    EXPECT_EQ(found->time_s > 0, is_mpi);
  }
}

}  // namespace
}  // namespace culprit::blame
