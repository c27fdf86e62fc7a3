// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What recording costs: a record by its size, a remembered call path by its depth, an unwinding.
// Run by hand (build target collector_bench); the figures belong into docs/evidence/performance.md.
#include <benchmark/benchmark.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "collector/callpath/unwind.h"
#include "collector/counters/source.h"
#include "collector/process/recorder.h"
#include "include/culprit.h"

extern "C" const culprit_calls culprit_calls_1;
extern "C" void __cyg_profile_func_enter(void* function, void* call_site);
extern "C" void __cyg_profile_func_exit(void* function, void* call_site);

namespace {

using namespace culprit;
using collector::now;
using collector::thread_log;
using collector::ThreadLog;
using trace::RawKind;

void clock_read(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(now());
}
BENCHMARK(clock_read);

void find_log(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(thread_log());
}
BENCHMARK(find_log);

// The file grows while measuring, so this includes new windows and page faults. Few enough
// iterations that it stays below some 100 MB.
void put_without_clock(benchmark::State& state) {
  ThreadLog* log = thread_log();
  uint64_t words[255] = {};
  const auto count = static_cast<unsigned>(state.range(0));
  for (auto _ : state) log->put_words(RawKind::mpi_send, 0, 0, 1, words, count);
}
BENCHMARK(put_without_clock)->Arg(0)->Arg(2)->Arg(4)->Iterations(1 << 20);

void whole_event(benchmark::State& state) {
  for (auto _ : state) {
    const uint64_t time = now();
    if (ThreadLog* log = thread_log())
      log->put(time, trace::raw::mpi_send{.comm = 1, .peer = 2, .bytes = 3});
  }
}
BENCHMARK(whole_event)->Iterations(1 << 20);

template <class Body>
[[gnu::noinline]] void at_depth(int depth, const Body& body) {
  if (depth > 1) {
    at_depth(depth - 1, body);
  } else {
    body();
  }
  benchmark::ClobberMemory();  // no tail call
}

void path_hit(benchmark::State& state) {
  ThreadLog* log = thread_log();
  at_depth(static_cast<int>(state.range(0)), [&] {
    for (auto _ : state) benchmark::DoNotOptimize(log->current_path());
  });
}
BENCHMARK(path_hit)->Arg(1)->Arg(10)->Arg(30);

void path_by_unwinding(benchmark::State& state) {
  at_depth(static_cast<int>(state.range(0)), [&] {
    collector::Frames frames;
    for (auto _ : state) {
      collector::unwind_above(reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa()), frames);
      benchmark::DoNotOptimize(frames.count);
    }
    state.counters["frames"] = frames.count;
  });
}
BENCHMARK(path_by_unwinding)->Arg(1)->Arg(10)->Arg(30);

void read_four_system_counters(benchmark::State& state) {
  using collector::counters::Choice;
  using collector::counters::kRusage;
  static bool chosen = false;
  Choice choices[] = {{"ru_minflt", "", false, nullptr},
                      {"ru_nvcsw", "", false, nullptr},
                      {"ru_nivcsw", "", false, nullptr},
                      {"ru_utime", "", false, nullptr}};
  if (!chosen) kRusage.choose(choices, 4, false);
  chosen = true;
  uint64_t values[4];
  for (auto _ : state) {
    kRusage.read(nullptr, values);
    benchmark::DoNotOptimize(values);
  }
}
BENCHMARK(read_four_system_counters);

// As a program calls them: through the table that its header finds.

void user_region(benchmark::State& state) {
  if (state.range(0) == 0) culprit_calls_1.recording(0);
  for (auto _ : state) {
    culprit_calls_1.region_begin("forces", 6);
    culprit_calls_1.region_end("forces", 6);
  }
  culprit_calls_1.recording(1);
}
BENCHMARK(user_region)->ArgName("on")->Arg(1)->Arg(0)->Iterations(1 << 20);

void instrumented_function(benchmark::State& state) {
  if (state.range(0) == 0) culprit_calls_1.recording(0);
  auto* const function = reinterpret_cast<void*>(&instrumented_function);
  for (auto _ : state) {
    __cyg_profile_func_enter(function, __builtin_return_address(0));
    __cyg_profile_func_exit(function, __builtin_return_address(0));
  }
  culprit_calls_1.recording(1);
}
BENCHMARK(instrumented_function)->ArgName("on")->Arg(1)->Arg(0)->Iterations(1 << 20);

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "culprit-bench.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 1;
  setenv("CULPRIT_EXPERIMENT", folder.c_str(), 1);
  setenv("CULPRIT_SAMPLING", "0", 1);
  if (!collector::activate()) return 1;
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  std::filesystem::remove_all(folder);
  return 0;
}
