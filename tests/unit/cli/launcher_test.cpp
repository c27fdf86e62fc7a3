// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launcher.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace culprit::cli {
namespace {

Environment fake(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto it = variables.find(name);
    return it == variables.end() ? std::string() : it->second;
  };
}

TEST(DetectJob, NothingWithoutALauncher) {
  EXPECT_FALSE(detect_job(fake({})));
}

TEST(DetectJob, OpenMpi) {
  const auto job = detect_job(fake({{"OMPI_COMM_WORLD_RANK", "3"},
                                    {"OMPI_COMM_WORLD_SIZE", "8"},
                                    {"PMIX_NAMESPACE", "123"},
                                    {"PMIX_RANK", "3"}}));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->token, "pmix 123");
  EXPECT_EQ(job->rank, 3u);
  EXPECT_EQ(job->size, 8u);
}

TEST(DetectJob, Hydra) {
  const auto job = detect_job(fake({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}));
  ASSERT_TRUE(job);
  EXPECT_FALSE(job->token.empty());
  EXPECT_EQ(job->rank, 1u);
}

TEST(DetectJob, SlurmStepButNotBatchScript) {
  std::map<std::string, std::string> batch = {
      {"SLURM_JOB_ID", "77"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}};
  EXPECT_FALSE(detect_job(fake(batch)));
  batch["SLURM_STEP_ID"] = "4294967291";
  EXPECT_FALSE(detect_job(fake(batch)));
  batch["SLURM_STEP_ID"] = "0";
  batch["SLURM_PROCID"] = "2";
  const auto job = detect_job(fake(batch));
  ASSERT_TRUE(job);
  EXPECT_EQ(job->token, "slurm 77.0");
  EXPECT_EQ(job->rank, 2u);
  EXPECT_EQ(job->size, 4u);
  batch["SLURM_STEP_NUM_TASKS"] = "3";
  EXPECT_EQ(detect_job(fake(batch))->size, 3u);
}

TEST(DetectJob, NonsenseIsNoJob) {
  EXPECT_FALSE(detect_job(fake({{"PMI_RANK", "x"}, {"PMI_SIZE", "2"}})));
  EXPECT_FALSE(detect_job(fake({{"PMI_RANK", "2"}, {"PMI_SIZE", "2"}})));
  EXPECT_FALSE(detect_job(fake({{"OMPI_COMM_WORLD_RANK", "0"}})));
}

}  // namespace
}  // namespace culprit::cli
