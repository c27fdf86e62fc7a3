// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What it takes to write findings to their file, and to read them, a row: a million rows in the
// lists that grow with the run (profile, waits, delays, critical path).
#include <chrono>
#include <cstdio>
#include <filesystem>

#include <unistd.h>

#include "report/db/findings_db.h"

namespace {

using namespace culprit;
namespace fs = std::filesystem;

blame::Findings findings_of(size_t rows) {
  constexpr size_t kPaths = 5000, kLocations = 1000;
  blame::Findings f;
  f.run.wall_s = 100;
  for (size_t i = 0; i < kPaths; ++i) {
    const std::string region = "function_number_" + std::to_string(i);
    f.callpaths.push_back({"main/solve/step/" + region, region, "step.cpp", 1});
  }
  for (size_t i = 0; i < kLocations; ++i) {
    f.locations.push_back(
        {std::to_string(i) + ".0", static_cast<uint32_t>(i), 0, "node", 100, 1, ""});
  }
  for (size_t i = 0; i < rows / 5; ++i) {
    const CallPathId path(i * 7919 % kPaths);
    const LocationId location(i * 104729 % kLocations);
    const double time = 1.0 / static_cast<double>(i + 1);
    f.waits.push_back({"mpi.late_sender", path, location, i, time, time / 2, time / 3});
    f.delays.push_back({"mpi.late_sender", path, location, time, time / 2});
    f.critical_path.push_back({path, location, time});
    f.segments.push_back({location, path, static_cast<double>(i), static_cast<double>(i + 1)});
    f.profile.push_back({path, location, i, time});
  }
  return f;
}

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  constexpr size_t kRows = 1'000'000;
  const blame::Findings findings = findings_of(kRows);
  const fs::path file =
      fs::temp_directory_path() / ("culprit-findings-bench-" + std::to_string(::getpid()) + ".db");
  bool good = true;
  const double writing = seconds_of([&] { good &= report::save_findings(findings, file).ok(); });
  const auto bytes = static_cast<double>(fs::file_size(file));
  const double reading = seconds_of([&] { good &= report::load_findings(file).ok(); });
  fs::remove(file);
  std::printf("findings: %zu rows: %.2f us a row to write, %.2f us to read, %.0f bytes\n", kRows,
              writing / kRows * 1e6, reading / kRows * 1e6, bytes / kRows);
  return good ? 0 : 1;
}
