// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// driver.cpp under `culprit run`, with a fake CUPTI: what the trace says must be what it played.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/losses.h"
#include "trace/otf2/reader.h"

namespace culprit::tests {
namespace {

namespace fs = std::filesystem;
using namespace trace;

/// What a location tells, without times; of streams, how many milliseconds each visit takes.
class Tale : public EventSink {
 public:
  explicit Tale(const Definitions& definitions, bool stream)
      : definitions_(definitions), stream_(stream) {}
  std::string text() const { return text_.str(); }

  void enter(Time time, RegionId region) override {
    entered_ = time;
    const Region& entered = definitions_.regions[region.index()];
    // Samples may find the program's own functions between the calls.
    if (stream_ || entered.paradigm == Paradigm::cuda || entered.name == kDeviceStartUp) {
      text_ << entered.name << '\n';
    }
  }
  void leave(Time time, RegionId) override {
    if (!stream_) return;
    text_ << "  " << ((time - entered_).nanos() + 500'000) / 1'000'000 << " ms\n";
  }
  void device_launch(Time, const DeviceLaunch& launch) override {
    text_ << "  launches " << number(launch.operation) << " kind " << static_cast<int>(launch.kind)
          << " on " << static_cast<int>(launch.queue);
    for (const OperationNumber each : launch.after) text_ << " after " << number(each);
    text_ << '\n';
  }
  void device_wait(Time, const DeviceWait& wait) override {
    if (wait.what == DeviceWaitFor::operation) text_ << "  waits for " << number(wait.operation);
    if (wait.what == DeviceWaitFor::queue) text_ << "  waits for queue " << wait.queue;
    if (wait.what == DeviceWaitFor::device) text_ << "  waits for device " << wait.device.index();
    text_ << '\n';
  }
  void device_operation(Time, const DeviceOperation& op) override {
    text_ << "  is " << number(op.operation) << " kind " << static_cast<int>(op.kind);
    if (op.bytes != 0) text_ << " bytes " << op.bytes;
    if (op.direction != CopyDirection::none) text_ << " dir " << static_cast<int>(op.direction);
    if (op.memory != HostMemory::unknown) text_ << " memory " << static_cast<int>(op.memory);
    if (op.graph_node != 0) text_ << " node " << op.graph_node;
    text_ << '\n';
  }

 private:
  static uint64_t number(OperationNumber operation) { return static_cast<uint64_t>(operation); }
  const Definitions& definitions_;
  bool stream_;
  Time entered_;
  std::ostringstream text_;
};

size_t occurrences(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++count;
  return count;
}

class CudaTest : public testing::Test {
 protected:
  CudaTest() {
    std::string pattern = (fs::temp_directory_path() / "culprit-cuda.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~CudaTest() override { fs::remove_all(folder_); }

  int run(const std::string& way, const std::string& options = "") {
    const std::string line = environment_ + " timeout 60 " CULPRIT_PROGRAM " run --full --otf2 " +
                             options + " -o " + (folder_ / "e").string() +
                             " -- " CULPRIT_DRIVER " " + way + " 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output_.append(buffer, n);
    return WEXITSTATUS(pclose(pipe));
  }

  void record(const std::string& way, const std::string& options = "") {
    ASSERT_EQ(run(way, options), 0) << output_;
    auto source = open_otf2(folder_ / "e" / "trace" / "traces.otf2", losses_);
    ASSERT_TRUE(source.ok()) << source.error().sentence << output_;
    definitions_ = (*source)->definitions();
    for (size_t i = 0; i < definitions_.locations.size(); ++i) {
      const bool stream = definitions_.locations[i].kind == LocationKind::accelerator_stream;
      Tale tale(definitions_, stream);
      ASSERT_TRUE((*source)->read(LocationId(i), tale, losses_).ok());
      tales_[definitions_.locations[i].name] = tale.text();
    }
  }
  bool reports(const std::string& words) const { return output_.find(words) != std::string::npos; }

  /// The number in front of the words; 0 where they are missing.
  double percent_before(const std::string& words) const {
    const size_t at = output_.find(words);
    if (at == std::string::npos) return 0;
    return std::stod(output_.substr(output_.rfind(' ', at - 1)));
  }

  /// What the report says the measurement cost, in percent of the run.
  double overhead() const {
    const std::string words = "Measurement overhead: about ";
    const size_t at = output_.find(words);
    return at == std::string::npos ? 0 : std::stod(output_.substr(at + words.size()));
  }

  fs::path folder_;
  std::string environment_;  ///< of the program
  std::string output_;
  Definitions definitions_;
  std::map<std::string, std::string> tales_;  ///< by location
  Losses losses_;
};

TEST_F(CudaTest, EveryKindOfRecordInAnyOrder) {
  record("everything");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], R"(saxpy
  is 10 kind 0
  10 ms
copy to device
  is 11 kind 1 bytes 21474836480 dir 1 memory 2
  5 ms
copy from device
  is 12 kind 1 bytes 64 dir 2 memory 1
  5 ms
fill
  is 13 kind 2 bytes 32
  1 ms
)");
  EXPECT_EQ(tales_["stream 8 of CUDA device 0"], R"(daxpy
  is 16 kind 0
  4 ms
graph
  is 19 kind 7
  6 ms
copy between devices
  is 23 kind 1 bytes 128 dir 4
  2 ms
)");
  EXPECT_EQ(tales_["page migration of CUDA device 0"], R"(migration
  is 0 kind 4 bytes 4096 dir 1 memory 3
  1 ms
)");
  const auto queue = [this](const std::string& stream) {
    for (const Location& location : definitions_.locations) {
      if (location.name == stream + " of CUDA device 0") return std::to_string(location.queue);
    }
    return std::string("none");
  };
  const std::string seven = queue("stream 7"), eight = queue("stream 8");
  const std::string host = tales_["Master thread"];
  EXPECT_EQ(
      host.substr(host.find("cudaLaunchKernel")),
      "cudaLaunchKernel\n  launches 10 kind 0 on " + seven +
          "\ncudaMemcpyAsync\n  launches 11 kind 1 on " + seven +
          "\ncudaMemcpy\n  launches 12 kind 1 on " + seven +
          "\n  waits for 12\ncudaMemsetAsync\n  launches 13 kind 2 on " + seven +
          "\ncudaEventRecord\n  launches 14 kind 6 on " + seven +
          "\ncudaStreamWaitEvent\n  launches 15 kind 5 on " + eight +
          " after 14\ncuLaunchKernel\n  launches 16 kind 0 on " + eight +
          "\ncudaEventSynchronize\n  waits for 14\ncudaStreamSynchronize\n  waits for queue " +
          eight + "\ncudaGraphLaunch\n  launches 19 kind 7 on " + eight +
          "\ncudaDeviceSynchronize\n  waits for device 0\ncudaFree\n  waits for device "
          "0\ncudaMemcpyAsync\n  launches 23 kind 1 on " +
          eight + "\n");
  ASSERT_EQ(definitions_.devices.size(), 1u);
  EXPECT_EQ(definitions_.devices[0].name, "CUDA device 0");
}

TEST_F(CudaTest, ManyBuffersBeforeTheCalls) {
  record("small_buffers");
  EXPECT_EQ(occurrences(tales_["stream 7 of CUDA device 0"], "saxpy"), 100u);
}

TEST_F(CudaTest, TimesThatCannotBeAreLeftOut) {
  record("bad_times");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"],
            "saxpy\n  is 10 kind 0\n  10 ms\nsaxpy\n  is 77 kind 0\n  1 ms\n");
  for (const char* loss :
       {"device_times_missing", "device_times_reversed", "device_ops_without_launch",
        "device_starts_before_launch", "device_records_dropped"}) {
    EXPECT_TRUE(reports(loss)) << loss << output_;
  }
}

TEST_F(CudaTest, TheLastFlushBringsTheRest) {
  record("late");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
}

TEST_F(CudaTest, AFlushThatHangsHoldsNobodyUp) {
  record("hang");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
  EXPECT_TRUE(reports("device_flushes_hung")) << output_;
}

TEST_F(CudaTest, CuptisOwnClockWillDo) {
  record("old_clock");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
  EXPECT_FALSE(reports("device_starts_before_launch")) << output_;
}

TEST_F(CudaTest, NodesOfAGraphOnRequest) {
  record("graph_nodes", "--cuda-graphs nodes");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0 node 1\n  10 ms\n");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0 (2)"], "saxpy\n  is 10 kind 0 node 2\n  10 ms\n");
}

TEST_F(CudaTest, AGraphIsOneOperationOtherwise) {
  record("graph", "--cuda-graphs launches");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "graph\n  is 10 kind 7\n  15 ms\n");
}

TEST_F(CudaTest, GraphsAreToldInNoOtherWay) {
  EXPECT_EQ(run("graph", "--cuda-graphs edges"), 2);
  EXPECT_TRUE(reports("--cuda-graphs")) << output_;
}

TEST_F(CudaTest, AContextThatGoesIsFlushedBefore) {
  record("destroyed_context");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
}

TEST_F(CudaTest, AStreamBelongsToItsContext) {
  record("two_contexts");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
  EXPECT_EQ(tales_["stream 7 of CUDA device 1"], "daxpy\n  is 11 kind 0\n  5 ms\n");
  EXPECT_EQ(definitions_.devices.size(), 2u);
}

TEST_F(CudaTest, AForkedChildHasNoPart) {
  record("forked");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n");
  EXPECT_EQ(definitions_.devices.size(), 1u);
  EXPECT_EQ(tales_["Master thread"].find("launches 50"), std::string::npos);
}

TEST_F(CudaTest, BuffersAreBounded) {
  record("no_buffers");
  EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 11 kind 0\n  10 ms\n");
  EXPECT_TRUE(reports("device_records_dropped")) << output_;
}

TEST_F(CudaTest, ThreadsLaunchWhileRecordsAreFetched) {
  record("storm");
  for (int thread = 0; thread < 4; ++thread) {
    const std::string name = "stream " + std::to_string(7 + thread) + " of CUDA device 0";
    EXPECT_EQ(occurrences(tales_[name], "saxpy"), 2000u) << name;
  }
  EXPECT_FALSE(reports("Data loss")) << output_;
}

TEST_F(CudaTest, EachThreadMayHaveABufferOfItsOwn) {
  record("per_thread");
  size_t kernels = 0;
  for (const auto& [location, tale] : tales_) {
    if (location.starts_with("stream")) kernels += occurrences(tale, "saxpy");
  }
  EXPECT_EQ(kernels, 64u * 20 + 2 * 300);
  EXPECT_FALSE(reports("Data loss")) << output_;
}

TEST_F(CudaTest, TheNameOfACallSaysWhatItWaitsFor) {
  record("waits");
  const std::string host = tales_["Master thread"];
  const auto told = [&](const std::string& call, size_t nth = 0) {
    size_t at = 0;
    for (size_t i = 0; i <= nth; ++i) at = host.find("cu" + call + "\n", at) + 1;
    const size_t line = host.find('\n', at) + 1;
    return host.substr(line, host.find('\n', line) - line);
  };
  EXPECT_EQ(told("daDeviceSynchronize"), "  waits for device 0") << host;
  EXPECT_EQ(told("daStreamSynchronize").substr(0, 17), "  waits for queue") << host;
  EXPECT_EQ(told("daEventSynchronize"), "  waits for 22") << host;
  EXPECT_EQ(told("CtxSynchronize"), "  waits for device 0") << host;
  EXPECT_EQ(told("daThreadSynchronize"), "  waits for device 0") << host;
  EXPECT_TRUE(reports("device_waits_by_name: 4")) << output_;
  EXPECT_TRUE(reports("device_waits_unknown: 2")) << output_;
}

// Of 13.0, and as an export of Nsight Systems 2024.5 has it.
TEST_F(CudaTest, WaitsForADeviceNeedNoRecord) {
  for (const char* wish : {"FAKE_CUPTI_VERSION=130000", "FAKE_CUPTI_EVENT_SYNC=1"}) {
    environment_ = wish;
    output_.clear();
    record("everything");
    EXPECT_NE(tales_["Master thread"].find("cudaDeviceSynchronize\n  waits for device 0"),
              std::string::npos)
        << wish << tales_["Master thread"];
    EXPECT_TRUE(reports("device_waits_by_name: 1")) << wish << output_;
    fs::remove_all(folder_ / "e");
  }
}

/// When the calls and the one kernel were.
struct Times : EventSink {
  explicit Times(const Definitions& of) : definitions(of) {}
  void enter(Time time, RegionId region) override {
    begin[definitions.regions[region.index()].name] = time;
    inside.push_back(region);
  }
  void leave(Time time, RegionId region) override {
    end[definitions.regions[region.index()].name] = time;
    inside.pop_back();
  }
  const Definitions& definitions;
  std::map<std::string, Time> begin, end;
  std::vector<RegionId> inside;
};

// On a clock of ours, or on CUPTI's where it would give kernels no times with ours.
TEST_F(CudaTest, KernelsHaveTheirTimesInEveryVersion) {
  for (const char* version : {"23", "24", "28", "130000", "130001", "130100"}) {
    environment_ = std::string("FAKE_CUPTI_VERSION=") + version;
    output_.clear();
    record("clock");
    EXPECT_EQ(tales_["stream 7 of CUDA device 0"], "saxpy\n  is 10 kind 0\n  10 ms\n") << version;
    EXPECT_FALSE(reports("device_times_missing")) << version << output_;
    auto source = open_otf2(folder_ / "e" / "trace" / "traces.otf2", losses_);
    ASSERT_TRUE(source.ok());
    Times times(definitions_);
    for (size_t i = 0; i < definitions_.locations.size(); ++i) {
      ASSERT_TRUE((*source)->read(LocationId(i), times, losses_).ok());
    }
    EXPECT_LT(times.end["cudaLaunchKernel"], times.begin["saxpy"]) << version;
    EXPECT_LT(times.end["saxpy"], times.begin["cudaDeviceSynchronize"]) << version;
    fs::remove_all(folder_ / "e");
  }
}

// A sample in between begins a new record: so it is not known how often each stands there.
TEST_F(CudaTest, CallsThatAskInVainWait) {
  record("polls");
  const std::string host = tales_["Master thread"];
  const auto count = [&](const std::string& words) { return occurrences(host, words); };
  EXPECT_GE(count("cudaEventQuery\n  waits for 13\n"), 1u) << host;
  EXPECT_EQ(count("cudaEventQuery\n  waits for 13\n"), count("cudaEventQuery\n")) << host;
  std::string eight;
  for (const Location& location : definitions_.locations) {
    if (location.name == "stream 8 of CUDA device 0") eight = std::to_string(location.queue);
  }
  EXPECT_GE(count("cudaStreamQuery\n  waits for queue " + eight + "\n"), 1u) << host;
  EXPECT_EQ(count("cuStreamQuery"), 0u) << host;
  EXPECT_GE(count("cuEventQuery\n"), 1u) << host;
  EXPECT_LE(count("Query\n"), 10u) << host;
  EXPECT_TRUE(reports("device_waits_unknown: ")) << output_;
}

TEST_F(CudaTest, WhatHandsNothingOverIsNotMissed) {
  record("nothing");
  EXPECT_FALSE(reports("the trace does not show")) << output_;
  EXPECT_FALSE(reports("device_waits_unknown")) << output_;
}

TEST_F(CudaTest, AFunctionOfTheHostIsWhereItsStreamCallsIt) {
  record("host_function");
  EXPECT_EQ(tales_["stream 8 of CUDA device 0"],
            "saxpy\n  is 10 kind 0\n  10 ms\n"
            "culprit::tests::(anonymous namespace)::on_host\n  is 11 kind 8\n  5 ms\n"
            "saxpy\n  is 12 kind 0\n  10 ms\n");
  const std::string host = tales_["Master thread"];
  EXPECT_NE(host.find("cudaLaunchHostFunc\n  launches 11 kind 8 on 0\n"), std::string::npos)
      << host;
  EXPECT_EQ(occurrences(host, " kind 8 "), 1u) << host;
}

TEST_F(CudaTest, StartUpStandsApart) {
  record("start_up");
  const std::string host = tales_["Master thread"];
  EXPECT_EQ(host.substr(host.find("cuda"), host.find("saxpy")),
            "cudaSetDevice\ndevice start-up\n"
            "cudaLaunchKernel\ndevice start-up\n  launches 10 kind 0 on 0\n"
            "cudaLaunchKernel\ndevice start-up\n  launches 11 kind 0 on 0\n"
            "cudaLaunchKernel\n  launches 12 kind 0 on 0\n  waits for 10\n")
      << host;
  EXPECT_TRUE(reports("Start-up and shutdown: ")) << output_;
  EXPECT_TRUE(reports("device start-up")) << output_;
}

// A minute is longer than the run.
TEST_F(CudaTest, NotAllThatCuptiCallsOverheadIsOurs) {
  ASSERT_EQ(run("tools"), 0);
  EXPECT_GT(overhead(), 100) << output_;
  for (const char* kind : {"compiling", "loading", "full_queue"}) {
    fs::remove_all(folder_ / "e");
    output_.clear();
    ASSERT_EQ(run(kind), 0) << output_;
    EXPECT_LT(overhead(), 100) << kind << output_;
  }
}

TEST_F(CudaTest, AnotherToolIsToldOf) {
  record("refused");
  EXPECT_TRUE(reports("The program's use of CUDA was not observed")) << output_;
  EXPECT_TRUE(reports("CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED")) << output_;
}

// What the program would have seen without us, it sees.
TEST_F(CudaTest, AProfilerInTheProgramHasThePlace) {
  for (const char* way : {"own_profiler", "own_profiler_by_handle"}) {
    fs::remove_all(folder_ / "e");
    output_.clear();
    record(way);
    EXPECT_TRUE(reports("The program's use of CUDA was not observed to its end")) << output_;
    const std::string host = tales_["Master thread"];
    EXPECT_EQ(occurrences(host, "cudaLaunchKernel\n"), 1u) << host;
    EXPECT_TRUE(reports("no verdict about the device")) << output_;
    // Two thirds of the run come later, and nothing is known of the device then.
    EXPECT_LT(percent_before(" %  No more work for the device"), 20) << output_;
  }
}

TEST_F(CudaTest, ALibraryThatDoesNotFitIsToldOf) {
  record("mismatched");
  EXPECT_TRUE(reports("The program's use of CUDA was not observed")) << output_;
  EXPECT_TRUE(reports("CUPTI_ERROR_NOT_INITIALIZED")) << output_;
}

TEST_F(CudaTest, WithoutAContextNothingIsRecorded) {
  EXPECT_EQ(run("no_context"), 0);
  EXPECT_TRUE(reports("neither MPI nor OpenMP nor a device")) << output_;
}

}  // namespace
}  // namespace culprit::tests
