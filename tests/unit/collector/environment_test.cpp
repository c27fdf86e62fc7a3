// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The collector's copy of its environment. Each test reads it in a process of its own.
#include "collector/process/environment.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstring>
#include <map>
#include <string>

#include "child.h"

namespace culprit::tests {
namespace {

using collector::Environment;
using collector::environment;

using Variables = std::map<std::string, std::string>;

/// True if `holds` does in a process with these variables.
bool with(const Variables& variables, bool (*holds)(const Environment& read)) {
  Experiment experiment;
  const int status = experiment.run([holds] { return holds(environment()) ? 0 : 1; }, variables);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Environment, HasWhatTheRowsHaveIfNothingIsSaid) {
  EXPECT_TRUE(with({{"CULPRIT_SAMPLING", ""}}, [](const Environment& read) {
    return read.wanted && read.sampling == 100 && read.memory == 64 && read.max_size == 0 &&
           read.cuda_graphs == "launches" && read.clock == "fastest" && !read.probes_libgomp &&
           read.openmp_runtime[0] == '\0' && read.counters[0] == '\0';
  }));
}

TEST(Environment, IsReadOnce) {
  EXPECT_TRUE(with({{"CULPRIT_RANKS", "1-2"}}, [](const Environment& read) {
    setenv("CULPRIT_RANKS", "7", 1);
    return strcmp(read.ranks, "1-2") == 0 && strcmp(environment().ranks, "1-2") == 0;
  }));
}

TEST(Environment, WithoutSamplesThereIsNoRate) {
  EXPECT_TRUE(with({{"CULPRIT_WITHOUT", "samples,tests"}, {"CULPRIT_SAMPLING", "500"}},
                   [](const Environment& read) {
                     return read.sampling == 0 && read.without.tests && !read.without.locks;
                   }));
}

TEST(Environment, LibgompIsObservedOrReplaced) {
  EXPECT_TRUE(with({{"CULPRIT_OPENMP_RUNTIME", "libgomp"}}, [](const Environment& read) {
    return read.probes_libgomp && read.openmp_runtime[0] == '\0';
  }));
  EXPECT_TRUE(with({{"CULPRIT_OPENMP_RUNTIME", "/l/libomp.so"}}, [](const Environment& read) {
    return !read.probes_libgomp && strcmp(read.openmp_runtime, "/l/libomp.so") == 0;
  }));
  EXPECT_TRUE(with({{"CULPRIT_OPENMP_RUNTIME", "libomp.so"}}, [](const Environment& read) {
    return !read.probes_libgomp && read.openmp_runtime[0] == '\0';
  }));
}

TEST(Environment, WantsNothingWhereItIsDisabled) {
  const auto inert = [](const Environment& read) { return !read.wanted; };
  EXPECT_TRUE(with({{"CULPRIT_DISABLE", "1"}}, inert));
  EXPECT_FALSE(with({{"CULPRIT_DISABLE", "0"}}, inert));
  EXPECT_TRUE(with({{"CULPRIT_EXPERIMENT", "not/absolute"}}, inert));
}

}  // namespace
}  // namespace culprit::tests
