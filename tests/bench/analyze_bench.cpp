// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The whole analysis against a bare read of the same archive with OTF2 alone, on as many threads:
// pairs of runs side by side, and the median of their ratios. Without arguments on a synthetic
// stencil trace; with the path of an archive, on that one:
//
//     analyze_bench [traces.otf2] [pairs] [threads]
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "blame/analyze.h"
#include "tests/bench/bare_read.h"
#include "tests/bench/generate/generate.h"
#include "trace/otf2/reader.h"

namespace {

namespace fs = std::filesystem;
using namespace culprit;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](timeval t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void print_passes(const blame::Findings& found) {
  for (const auto& pass : found.passes) {
    std::printf("  %-14s %8.1f ms\n", pass.name.c_str(), pass.time_s * 1e3);
  }
}

void compare(const fs::path& anchor, int pairs, unsigned threads) {
  std::vector<double> bare, whole, ratios, cpu_ratios;
  uint64_t events = 0;
  blame::Findings last;
  for (int i = 0; i < pairs; ++i) {
    const double cpu = cpu_seconds();
    bare.push_back(seconds([&] { events = bench::bare_read(anchor, threads); }));
    const double cpu_bare = cpu_seconds() - cpu;
    whole.push_back(seconds([&] {
      Losses losses;
      auto source = trace::open_otf2(anchor, losses);
      CULPRIT_CHECK(source.ok());
      auto found = blame::analyze(**source, {threads}, losses);
      CULPRIT_CHECK(found.ok());
      last = std::move(found).value();
    }));
    ratios.push_back(whole.back() / bare.back());
    cpu_ratios.push_back((cpu_seconds() - cpu - cpu_bare) / cpu_bare);
  }
  const double per_event = 1e9 / static_cast<double>(events);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%llu events, %u threads, %d pairs\n", static_cast<unsigned long long>(events),
              threads, pairs);
  std::printf("bare OTF2 read  %7.1f ns/event\n", median(bare) * per_event);
  std::printf("analysis        %7.1f ns/event\n", median(whole) * per_event);
  std::printf("ratio           %7.2f (median of pairs)\n", median(ratios));
  std::printf("ratio of CPU    %7.2f (less moved by what else runs)\n", median(cpu_ratios));
  std::printf("peak memory     %7.1f bytes/event (whole process)\n",
              static_cast<double>(usage.ru_maxrss) * 1024 / static_cast<double>(events));
  uint64_t waits = 0;
  for (const auto& row : last.waits) waits += row.count;
  std::printf("waits           %7.3f an event\n",
              static_cast<double>(waits) / static_cast<double>(events));
  print_passes(last);
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 5;
  const unsigned threads = argc > 3 ? static_cast<unsigned>(std::atoi(argv[3])) : 2;
  if (argc > 1) {
    compare(argv[1], pairs, threads);
    return 0;
  }
  const fs::path folder =
      fs::temp_directory_path() / ("culprit-analyze-bench." + std::to_string(::getpid()));
  bench::generate(folder, *bench::find_pattern("stencil"), {.iterations = 2000});
  compare(folder / "traces.otf2", pairs, threads);
  fs::remove_all(folder);
}
