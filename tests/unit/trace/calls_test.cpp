// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which calls of MPI, of threads and of devices are known, and that a name alone makes no region
// one of them.
#include <gtest/gtest.h>

#include "tests/support/text/names.h"
#include "trace/device_calls.h"
#include "trace/mpi_calls.h"
#include "trace/thread_calls.h"

namespace culprit::trace {
namespace {

Region region(const char* name, Paradigm paradigm, const char* file = "") {
  return {name, RegionRole::function, paradigm, file, file[0] != '\0' ? 7u : 0u};
}

TEST(MpiCalls, AreFoundInAllTheirForms) {
  for (const char* name : {"MPI_Bsend", "PMPI_Bsend", "MPI_Bsend_c", "PMPI_Bsend_c"}) {
    const MpiCall* const call = mpi_call(name);
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call->name, "MPI_Bsend");
    EXPECT_EQ(call->kind, MpiKind::point_to_point);
    EXPECT_TRUE(call->never_blocks());
    EXPECT_FALSE(call->is(MpiTrait::synchronous));
  }
  EXPECT_EQ(name_to_programs("PMPI_Bsend_c"), "MPI_Bsend_c");
}

TEST(MpiCalls, AreNoOthersThatAreCalledAlike) {
  for (const char* name : {"", "MPI_", "MPI_my_helper", "MPI_Sen", "MPI_Sendx", "MPI_send",
                           "mpi_send", "MPI_Send()", "MPI_File_mine", "_c", "PMPI_"}) {
    EXPECT_EQ(mpi_call(name), nullptr) << name;
  }
}

TEST(MpiCalls, AreRegionsOfMpiOnly) {
  EXPECT_NE(mpi_call(region("MPI_Send", Paradigm::mpi)), nullptr);
  EXPECT_EQ(mpi_call(region("MPI_Send", Paradigm::user, "mine.c")), nullptr);
  EXPECT_TRUE(is_mpi_call(region("MPI_Waitany", Paradigm::mpi), MpiTrait::chooses));
  EXPECT_FALSE(is_mpi_call(region("MPI_Waitany", Paradigm::user), MpiTrait::chooses));
  EXPECT_TRUE(is_mpi_call(region("MPI_File_get_size", Paradigm::mpi), MpiKind::file));
}

TEST(MpiCalls, HaveRoles) {
  EXPECT_EQ(role_of_mpi("MPI_Barrier"), RegionRole::barrier);
  EXPECT_EQ(role_of_mpi("MPI_Ibarrier"), RegionRole::collective);
  EXPECT_EQ(role_of_mpi("MPI_Neighbor_alltoallw_c"), RegionRole::collective);
  EXPECT_EQ(role_of_mpi("MPI_Waitall"), RegionRole::point_to_point);
  EXPECT_EQ(role_of_mpi("MPI_Put"), RegionRole::function);
  EXPECT_EQ(role_of_mpi("MPI_my_helper"), RegionRole::function);
}

TEST(MpiCalls, FunctionsOfTheProgramStayItsOwnInDrawings) {
  EXPECT_EQ(region_from_name("MPI_Send").paradigm, Paradigm::mpi);
  EXPECT_EQ(region_from_name("MPI_my_helper").paradigm, Paradigm::user);
}

TEST(ThreadCalls, AreKnownByWholeNames) {
  ASSERT_NE(thread_call("pthread_join"), nullptr);
  EXPECT_EQ(thread_call("pthread_join")->kind, ThreadCallKind::join);
  EXPECT_EQ(thread_call("thrd_join")->kind, ThreadCallKind::join);
  EXPECT_EQ(thread_call("cnd_timedwait")->kind, ThreadCallKind::condition);
  for (const char* name : {"pthread_join_all", "sem_init_table", "futex_like", "pthread_cond_mine",
                           "pthread_barrier", "omp_set_lock_order"}) {
    EXPECT_EQ(thread_call(name), nullptr) << name;
  }
}

TEST(ThreadCalls, AreNoFunctionsOfTheProgram) {
  EXPECT_NE(thread_call(region("sem_wait", Paradigm::pthread)), nullptr);
  EXPECT_EQ(thread_call(region("sem_wait", Paradigm::user, "mine.c")), nullptr);
}

TEST(DeviceCalls, WaitOrStart) {
  for (const char* name :
       {"cuStreamSynchronize_ptsz", "cudaEventSynchronize", "hipDeviceSynchronize", "clFinish",
        "hipEventSynchronize", "zeEventHostSynchronize", "urQueueFinish"}) {
    EXPECT_TRUE(waits_for_devices(name)) << name;
  }
  EXPECT_TRUE(is_runtime_call("hipLaunchKernel"));
  EXPECT_FALSE(is_runtime_call("current_step"));
  EXPECT_EQ(behind_prefix(without_version("cuMemcpyHtoDAsync_v2")), "MemcpyHtoDAsync");
  EXPECT_TRUE(is_device_call("cuModuleLoadDataEx", DeviceTrait::start_up));
  EXPECT_FALSE(waits_for_devices("customSynchronize"));
  EXPECT_FALSE(is_device_call("cuStreamSynchronize", DeviceTrait::start_up));
}

TEST(DeviceCalls, CopyAndWait) {
  EXPECT_TRUE(is_device_call("cudaMemcpy2D", DeviceTrait::copies));
  EXPECT_TRUE(is_device_call("hipMemcpyWithStream", DeviceTrait::copies));
  EXPECT_FALSE(is_device_call("cuMemcpyHtoDAsync_v2", DeviceTrait::copies));
  EXPECT_FALSE(waits_for_devices("cudaMemcpy"));
}

}  // namespace
}  // namespace culprit::trace
