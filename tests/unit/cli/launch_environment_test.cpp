// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/launch_environment.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace culprit::cli {
namespace {

using Words = std::vector<std::string>;

Launch prepared(const Words& command, const Words& environment = {}) {
  LaunchSettings settings{"/c/lib/libculprit.so",
                          {{Setting::sampling, "100"},
                           {Setting::experiment, "/x/exp"},
                           {Setting::openmp_runtime, "/l/libomp.so.5"}}};
  return prepare_launch(Command(command), settings, environment);
}

std::string value(const Launch& launch, const std::string& name) {
  for (const std::string& entry : launch.environment) {
    if (entry.starts_with(name + "=")) return entry.substr(name.size() + 1);
  }
  return "(unset)";
}

TEST(PrepareLaunch, SetsTheContract) {
  const Launch launch = prepared({"./app"}, {"HOME=/h", "LD_PRELOADED=no"});
  EXPECT_EQ(value(launch, "LD_PRELOAD"), "/c/lib/libculprit.so");
  EXPECT_EQ(value(launch, "CULPRIT_EXPERIMENT"), "/x/exp");
  EXPECT_EQ(value(launch, "CULPRIT_OPENMP_RUNTIME"), "/l/libomp.so.5");
  EXPECT_EQ(value(launch, "CULPRIT_SAMPLING"), "100");
  EXPECT_EQ(value(launch, "HOME"), "/h");
  EXPECT_EQ(value(launch, "LD_PRELOADED"), "no");
  EXPECT_EQ(value(launch, "OMPI_MCA_mca_base_env_list"), "(unset)");
  EXPECT_EQ(launch.command, Words({"./app"}));
}

TEST(PrepareLaunch, GoesInFrontOfOtherPreloads) {
  EXPECT_EQ(value(prepared({"./app"}, {"LD_PRELOAD=/other.so"}), "LD_PRELOAD"),
            "/c/lib/libculprit.so:/other.so");
}

TEST(PrepareLaunch, LetsSanitizersRunBehindIt) {
  const std::string ours = "verify_asan_link_order=0:intercept_tls_get_addr=0";
  EXPECT_EQ(value(prepared({"./app"}), "ASAN_OPTIONS"), ours);
  EXPECT_EQ(value(prepared({"./app"}, {"ASAN_OPTIONS=detect_leaks=0"}), "ASAN_OPTIONS"),
            "detect_leaks=0:" + ours);
  // What the command sets, it sets to more; what follows the program is the program's.
  EXPECT_EQ(
      prepared({"mpirun", "-x", "ASAN_OPTIONS=a=1", "./app", "ASAN_OPTIONS=b=1"}).command.back(),
      "ASAN_OPTIONS=b=1");
  const Words set = prepared({"mpirun", "-x", "ASAN_OPTIONS=a=1", "./app"}).command;
  EXPECT_EQ(std::count(set.begin(), set.end(), "ASAN_OPTIONS"), 0);
  EXPECT_EQ(std::count(set.begin(), set.end(), "ASAN_OPTIONS=a=1:" + ours), 1);
  const Words env = prepared({"env", "ASAN_OPTIONS=a=1", "./app"}).command;
  EXPECT_EQ(env, Words({"env", "ASAN_OPTIONS=a=1:" + ours, "./app"}));
}

TEST(PrepareLaunch, LetsDeviceRuntimesOpenTheirProbes) {
  LaunchSettings settings{"/c.so", {}};
  EXPECT_EQ(value(prepare_launch(Command({"./app"}), settings, {}), "OPENCL_LAYERS"), "(unset)");
  settings.probes[Probe::opencl] = "/c-opencl.so";
  settings.probes[Probe::cuda] = "/c-cuda.so";
  settings.probes[Probe::nvtx] = "/c-nvtx.so";
  const Launch launch = prepare_launch(Command({"mpirun", "./app"}), settings, {});
  EXPECT_EQ(value(launch, "OPENCL_LAYERS"), "/c-opencl.so");
  EXPECT_EQ(value(launch, "CUDA_INJECTION64_PATH"), "/c-cuda.so");
  EXPECT_EQ(value(launch, "NVTX_INJECTION64_PATH"), "/c-nvtx.so");
  EXPECT_NE(value(launch, "OMPI_MCA_mca_base_env_list")
                .find(";OPENCL_LAYERS;CUDA_INJECTION64_PATH;NVTX_INJECTION64_PATH"),
            std::string::npos);
  // Layers stand behind each other; of tools for CUDA there is one, and the user's stays.
  const Launch beside = prepare_launch(
      Command({"./app"}), settings,
      {"OPENCL_LAYERS=/mine.so", "CUDA_INJECTION64_PATH=/other.so", "NVTX_INJECTION64_PATH=/o.so"});
  EXPECT_EQ(value(beside, "OPENCL_LAYERS"), "/mine.so:/c-opencl.so");
  EXPECT_EQ(value(beside, "CUDA_INJECTION64_PATH"), "/other.so");
  EXPECT_EQ(value(beside, "NVTX_INJECTION64_PATH"), "/o.so");
}

TEST(PrepareLaunch, TellsOpenMpiWhatToCarry) {
  const std::string ours =
      "LD_PRELOAD;CULPRIT_SAMPLING;CULPRIT_EXPERIMENT;CULPRIT_OPENMP_RUNTIME;ASAN_OPTIONS";
  EXPECT_EQ(value(prepared({"mpirun", "./app"}), "OMPI_MCA_mca_base_env_list"), ours);
  EXPECT_EQ(value(prepared({"mpirun", "./app", "-x"}), "OMPI_MCA_mca_base_env_list"), ours);
  EXPECT_EQ(value(prepared({"mpiexec", "./app"}, {"OMPI_MCA_mca_base_env_list=A;B=1"}),
                  "OMPI_MCA_mca_base_env_list"),
            "A;B=1;" + ours);
}

TEST(PrepareLaunch, GoesBesideAnOptionX) {
  const Launch launch = prepared({"mpirun", "-x", "A", "-n", "2", "./app"});
  EXPECT_EQ(value(launch, "OMPI_MCA_mca_base_env_list"), "(unset)");
  const Words expected = {"mpirun",
                          "-x",
                          "LD_PRELOAD",
                          "-x",
                          "CULPRIT_SAMPLING",
                          "-x",
                          "CULPRIT_EXPERIMENT",
                          "-x",
                          "CULPRIT_OPENMP_RUNTIME",
                          "-x",
                          "ASAN_OPTIONS",
                          "-x",
                          "A",
                          "-n",
                          "2",
                          "./app"};
  EXPECT_EQ(launch.command, expected);
}

TEST(PrepareLaunch, GoesBesideAnOptionXOfAnyProgram) {
  const LaunchSettings settings{"/c.so",
                                {{Setting::sampling, "0"}, {Setting::experiment, "/x/exp"}}};
  const Words command = {"mpirun", "-n", "1", "./a", ":", "-x", "A", "-n", "1", "./b", ":", "./c"};
  const Launch launch = prepare_launch(Command(command), settings, {});
  EXPECT_EQ(value(launch, "OMPI_MCA_mca_base_env_list"), "(unset)");
  EXPECT_EQ(launch.command.size(), command.size() + 3 * 8);
  EXPECT_EQ(launch.command[1], "-x");
  EXPECT_EQ(launch.command[2], "LD_PRELOAD");
  const Words last(launch.command.end() - 10, launch.command.end());
  EXPECT_EQ(last, Words({":", "-x", "LD_PRELOAD", "-x", "CULPRIT_SAMPLING", "-x",
                         "CULPRIT_EXPERIMENT", "-x", "ASAN_OPTIONS", "./c"}));
  const Words plain = {"mpirun", "./a", "-x", ":", "./b", "-x"};
  EXPECT_EQ(prepare_launch(Command(plain), settings, {}).command, plain);
}

TEST(PrepareLaunch, JoinsWhatSlurmIsToldToExport) {
  const std::string ours =
      "LD_PRELOAD,CULPRIT_SAMPLING,CULPRIT_EXPERIMENT,CULPRIT_OPENMP_RUNTIME,ASAN_OPTIONS";
  const auto option = [](const std::string& given) {
    return prepared({"srun", given, "-n", "2", "./app", "--export=NONE"}).command[1];
  };
  EXPECT_EQ(option("--export=NONE"), "--export=" + ours);
  EXPECT_EQ(option("--export=nil"), "--export=" + ours);
  EXPECT_EQ(option("--export=A,B='x,y'"), "--export=A,B='x,y'," + ours);
  EXPECT_EQ(option("--export=ALL"), "--export=ALL");
  EXPECT_EQ(option("--export=ALL,A=1"), "--export=ALL,A=1");
  EXPECT_EQ(option("--export=A=1,ALL"), "--export=A=1,ALL");
  EXPECT_EQ(option("--exclusive"), "--exclusive");
  const Launch apart = prepared({"srun", "--export", "NONE", "./app", "--export=NONE"});
  EXPECT_EQ(apart.command, Words({"srun", "--export", ours, "./app", "--export=NONE"}));
  EXPECT_EQ(value(prepared({"bash", "job"}, {"SLURM_EXPORT_ENV=NONE"}), "SLURM_EXPORT_ENV"), ours);
  EXPECT_EQ(value(prepared({"bash", "job"}), "SLURM_EXPORT_ENV"), "(unset)");
}

TEST(PrepareLaunch, SaysNothingOfSettingsThatNobodyMentioned) {
  const Launch launch =
      prepare_launch(Command({"./app"}), {"/c.so", {{Setting::experiment, "/x/exp"}}}, {"HOME=/h"});
  for (const std::string& entry : launch.environment) {
    EXPECT_TRUE(!entry.starts_with("CULPRIT_") || entry == "CULPRIT_EXPERIMENT=/x/exp") << entry;
  }
}

TEST(PrepareLaunch, WhatIsGivenGoesBeforeWhatIsInherited) {
  const LaunchSettings settings{"/c.so", {{Setting::cuda_graphs, "launches"}}};
  EXPECT_EQ(value(prepare_launch(Command({"./app"}), settings, {"CULPRIT_CUDA_GRAPHS=nodes"}),
                  "CULPRIT_CUDA_GRAPHS"),
            "launches");
}

TEST(PrepareLaunch, CarriesTheCountersToRemoteRanks) {
  const LaunchSettings settings{"/c.so", {{Setting::counters, "rusage,sde:::a::b"}}};
  const Launch launch = prepare_launch(Command({"mpirun", "./app"}), settings, {});
  EXPECT_EQ(value(launch, "CULPRIT_COUNTERS"), "rusage,sde:::a::b");
  EXPECT_NE(value(launch, "OMPI_MCA_mca_base_env_list").find(";CULPRIT_COUNTERS"),
            std::string::npos);
}

}  // namespace
}  // namespace culprit::cli
