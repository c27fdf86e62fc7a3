// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit adds to single OpenMP constructs or MPI calls: runs a program that times them,
// without and with the preload library, in pairs, and prints medians. The build makes one benchmark
// of this file for each such program. Usage: openmp_bench [pairs], mpi_openmpi_bench [pairs], ...
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

/// Nanoseconds by construct; empty if the program failed.
std::map<std::string, double> run(const std::string& settings) {
  std::map<std::string, double> times;
  FILE* pipe = popen((settings + " " CULPRIT_CONSTRUCTS).c_str(), "r");
  if (pipe == nullptr) return times;
  char name[64];
  double time = 0;
  while (fscanf(pipe, "%63s %lf", name, &time) == 2) times[name] = time;
  if (pclose(pipe) != 0) times.clear();
  return times;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(1, atoi(argv[1])) : 5;
  std::string scratch = (fs::temp_directory_path() / "culprit-constructs-bench-XXXXXX").string();
  if (mkdtemp(scratch.data()) == nullptr) return 1;
  std::map<std::string, std::vector<double>> plain, under, added;
  for (int pair = 0; pair < pairs; ++pair) {
    const fs::path experiment = fs::path(scratch) / std::to_string(pair);
    fs::create_directories(experiment);
    const auto without = run("env -u LD_PRELOAD");
    const auto with =
        run("env LD_PRELOAD=" CULPRIT_PRELOAD_LIBRARY " OPENCL_LAYERS=" CULPRIT_OPENCL_LAYER
            " CULPRIT_OPENMP_RUNTIME=libgomp CULPRIT_SAMPLING=0 CULPRIT_EXPERIMENT=" +
            experiment.string());
    const bool recorded = fs::exists(experiment / "raw") && !fs::is_empty(experiment / "raw");
    for (const auto& [name, time] : without) {
      if (!with.contains(name)) continue;
      plain[name].push_back(time);
      under[name].push_back(with.at(name));
      added[name].push_back(with.at(name) - time);
    }
    fs::remove_all(experiment);
    if (without.empty() || with.empty() || !recorded) {
      std::cerr << CULPRIT_CONSTRUCTS " failed, or was not recorded\n";
      fs::remove_all(scratch);
      return 1;
    }
  }
  fs::remove_all(scratch);
  printf("%-18s %10s %10s %10s   medians of %d pairs, ns on one thread\n", "construct", "plain",
         "culprit", "added", pairs);
  for (const auto& [name, times] : plain) {
    printf("%-18s %10.1f %10.1f %10.1f\n", name.c_str(), median(times), median(under[name]),
           median(added[name]));
  }
  return 0;
}
