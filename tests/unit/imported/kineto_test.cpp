// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Traces of PyTorch's profiler become events: who launched what, who waits for what. And what such
// files can be instead: cut short, no JSON, full of nonsense.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "folder.h"
#include "kineto_text.h"
#include "opened.h"
#include "trace/any/open_trace.h"
#include "trace/kineto/json.h"
#include "trace/kineto/kineto.h"

namespace culprit::trace {
namespace {

namespace fs = std::filesystem;
bool lost(const Opened& opened, LossKind kind) {
  return opened.losses.contains(kind);
}

/// A launch, its kernel, and a wait for it by name.
KinetoText small(std::optional<int> rank = {}) {
  KinetoText text(rank);
  text.call("cpu_op", "aten::mm", 10, 30)
      .call("cuda_runtime", "cudaLaunchKernel", 12, 14, 5)
      .operation("kernel", "gemm", 7, 20, 50, 5)
      .call("cuda_runtime", "cudaDeviceSynchronize", 32, 51, 6);
  return text;
}

TEST(Kineto, LaunchesAndWaits) {
  Opened opened = open(small().text());
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(opened.lines("master thread"),
            (Lines{"0 enter aten::mm", "2000 enter cudaLaunchKernel", "2000 device_launch 1 0 0",
                   "4000 leave cudaLaunchKernel", "20000 leave aten::mm",
                   "22000 enter cudaDeviceSynchronize", "22000 device_wait 2 4294967295 0 -1",
                   "41000 leave cudaDeviceSynchronize"}));
  EXPECT_EQ(
      opened.lines("stream 7 of device 0"),
      (Lines{"10000 enter gemm", "10000 device_operation 1 0 0 0 0 -1 0", "40000 leave gemm"}));
  const Definitions& definitions = opened.source->definitions();
  ASSERT_EQ(definitions.devices.size(), 1u);
  EXPECT_EQ(definitions.devices[0].name, "Toy");
  EXPECT_TRUE(definitions.numbers_operations());
  EXPECT_TRUE(opened.losses.all().empty());
}

TEST(Kineto, CallPathsArePythonsAndTheFrameworks) {
  KinetoText text = small();
  text.call("python_function", "train.py(31): step", 5, 60)
      .call("python_function", "<built-in method mm of object at 0x7f01ab>", 9, 31)
      .call("user_annotation", "ProfilerStep#12", 4, 61);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  const Lines lines = opened.lines("master thread");
  EXPECT_EQ(Lines(lines.begin(), lines.begin() + 5),
            (Lines{"0 enter ProfilerStep", "0 iteration 12", "1000 enter step", "5000 enter mm",
                   "6000 enter aten::mm"}));
  const auto& regions = opened.source->definitions().regions;
  const auto step = std::find_if(regions.begin(), regions.end(),
                                 [](const Region& region) { return region.name == "step"; });
  ASSERT_NE(step, regions.end());
  EXPECT_EQ(step->file, "train.py");
  EXPECT_EQ(step->line, 31u);
}

const Region* region_of(const Opened& opened, std::string_view name) {
  const auto& regions = opened.source->definitions().regions;
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [&](const Region& region) { return region.name == name; });
  return found != regions.end() ? &*found : nullptr;
}

/// What the user cannot change is a library's: operators, built-in functions, packages, Python.
TEST(Kineto, FrameworksWorkForTheFunctionsOfTheUser) {
  KinetoText text = small();
  text.call("python_function", "model.py(7): forward", 8, 31)
      .call("python_function", "nn.Module: Linear_3", 9, 31)
      .call("python_function", "torch/nn/modules/linear.py(130): forward", 9, 31)
      .call("python_function", "typing.py(2154): cast", 9, 9.5)
      .call("python_function", "<frozen os>(680): __getitem__", 9.5, 9.7)
      .call("python_function", "<built-in method item of Tensor object at 0x7f01ab>", 10, 30.5)
      .call("python_function", "flow/__init__.py(1): <module>", 60, 70)
      .call("python_function", "torch/__init__.py(1): <module>", 61, 69);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  for (const char* name :
       {"aten::mm", "nn.Module: Linear_3", "cast", "__getitem__", "Tensor.item", "import torch"}) {
    const Region* const region = region_of(opened, name);
    ASSERT_NE(region, nullptr) << name;
    EXPECT_EQ(region->paradigm, Paradigm::library) << name;
  }
  for (const char* name : {"forward", "import flow"}) {
    const Region* const region = region_of(opened, name);
    ASSERT_NE(region, nullptr) << name;
    EXPECT_EQ(region->paradigm, Paradigm::compiler) << name;
  }
}

/// A range is opened and closed by calls: it begins within the one, and ends within the other.
TEST(Kineto, RangesLieBetweenTheCallsThatOpenAndCloseThem) {
  KinetoText text = small();
  text.call("python_function", "train.py(31): step", 5, 60)
      .call("python_function", "torch/autograd/profiler.py(854): __enter__", 6, 8)
      .call("python_function", "<built-in method open of type object at 0x7f>", 6.5, 7.75)
      .call("user_annotation", "forward", 7, 54)
      .call("python_function", "torch/autograd/profiler.py(860): __exit__", 53, 56)
      .call("python_function", "<built-in method close of type object at 0x7f>", 53.5, 55);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  EXPECT_TRUE(opened.losses.all().empty());
  const Lines lines = opened.lines("master thread");
  const auto at = [&](const char* line) {
    return std::find(lines.begin(), lines.end(), line) - lines.begin();
  };
  EXPECT_LT(at("3000 leave __enter__"), at("3000 enter forward"));
  EXPECT_LT(at("48000 leave forward"), at("48000 enter __exit__"));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "51000 leave __exit__"), 1);
  ASSERT_NE(region_of(opened, "forward"), nullptr);
  EXPECT_EQ(region_of(opened, "forward")->role, RegionRole::code);
}

/// PyTorch's optimizers name ranges, too: these are its own.
TEST(Kineto, RangesThatAFrameworkNamesAreItsOwn) {
  KinetoText text = small();
  text.call("python_function", "torch/optim/optimizer.py(512): wrapper", 5, 60)
      .call("user_annotation", "Optimizer.step#SGD.step", 7, 55);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  const auto& regions = opened.source->definitions().regions;
  EXPECT_TRUE(std::any_of(regions.begin(), regions.end(), [](const Region& region) {
    return region.name == "Optimizer.step#SGD.step" && region.paradigm == Paradigm::library;
  }));
}

TEST(Kineto, CopiesAreWaitedForAsTheirCallsSay) {
  KinetoText text;
  text.call("cuda_runtime", "cudaMemcpyAsync", 1, 9, 1)
      .operation("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, 3, 8, 1, R"("bytes": 64)")
      .call("cuda_runtime", "cudaMemcpyAsync", 11, 12, 2)
      .operation("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 7, 13, 18, 2, R"("bytes": 32)")
      .call("cuda_runtime", "hipMemcpyWithStream", 21, 29, 3)
      .operation("gpu_memcpy", "CopyHostToDevice", 7, 23, 28, 3);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  const Lines lines = opened.lines("master thread");
  const auto waits = [&](const char* line) { return std::count(lines.begin(), lines.end(), line); };
  EXPECT_EQ(waits("0 device_wait 0 0 1 -1"), 1);      // into pageable memory
  EXPECT_EQ(waits("10000 device_wait 0 0 2 -1"), 0);  // returns at once
  EXPECT_EQ(waits("20000 device_wait 0 0 3 -1"), 1);  // by its name
  EXPECT_EQ(opened.lines("stream 7 of device 0")[1], "2000 device_operation 1 1 2 1 64 -1 0");
}

TEST(Kineto, RecordsTellForWhichStreamOrEventACallWaits) {
  KinetoText text;
  text.call("cuda_runtime", "cudaLaunchKernel", 1, 2, 1)
      .operation("kernel", "first", 7, 3, 9, 1)
      .call("cuda_runtime", "cudaEventRecord", 3, 4, 2)
      .call("cuda_runtime", "cudaLaunchKernel", 5, 6, 3)
      .operation("kernel", "second", 7, 9, 19, 3)
      .call("cuda_runtime", "cudaStreamWaitEvent", 6, 7, 4)
      .sync("Stream Wait Event", 4, 20, 7, 2)
      .call("cuda_runtime", "cudaLaunchKernel", 7, 8, 5)
      .operation("kernel", "other", 20, 10, 12, 5)
      .call("cuda_runtime", "cudaEventSynchronize", 8, 10, 6)
      .sync("Event Sync", 6, -1, 7, 2)
      .call("cuda_runtime", "cudaStreamSynchronize", 11, 13, 7)
      .sync("Stream Sync", 7, 20)
      .call("cuda_runtime", "cudaDeviceSynchronize", 14, 20, 8)
      .sync("Event Sync", 8, -1);  // as CUDA 12.x says of it
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  const Lines lines = opened.lines("master thread");
  const auto has = [&](const char* line) {
    return std::find(lines.begin(), lines.end(), line) != lines.end();
  };
  // Streams 7 and 20 are queues 0 and 1; first, second and other are operations 1, 2 and 3.
  EXPECT_TRUE(has("5000 device_launch 4 5 1 after 1"));
  EXPECT_TRUE(has("7000 device_wait 0 0 1 -1"));
  EXPECT_TRUE(has("10000 device_wait 1 1 0 -1"));
  EXPECT_TRUE(has("13000 device_wait 2 4294967295 0 -1"));
}

TEST(Kineto, KernelsThatCommunicateAreOfTheirGroup) {
  const auto name = [](std::string_view more) {
    KinetoText text = small();
    text.operation("kernel", "ncclDevKernel_Generic(ncclDevComm*)", 20, 60, 70, 9, more);
    return open(text.text()).lines("stream 20 of device 0").at(0);
  };
  EXPECT_EQ(name(R"("Collective name": "_allgather_base", "Process Group Name": "3", )"
                 R"("Process Group Description": "tp", "Process Group Ranks": "[0, 1]")"),
            "50000 enter ncclDevKernel_Generic (AllGather of tp, ranks 0 and 1)");
  EXPECT_EQ(name(R"("Collective name": "allreduce", "Process Group Name": "3", )"
                 R"("Process Group Ranks": "[0, 1, ..., 9]")"),
            "50000 enter ncclDevKernel_Generic (AllReduce of group 3, ranks 0, 1, ..., 9)");
  EXPECT_EQ(name(R"("bytes": 4)"), "50000 enter ncclDevKernel_Generic(ncclDevComm*)");
}

TEST(Kineto, TimesAreExact) {
  EXPECT_EQ(nanos_of_micros("1684789123456789.123"), 1684789123456789123);
  EXPECT_EQ(nanos_of_micros("12"), 12000);
  EXPECT_EQ(nanos_of_micros("-3.5"), -3500);
  EXPECT_EQ(nanos_of_micros("1.5e3"), 1'500'000);
  for (const char* text : {"", "x", "nan", "inf", "1e300", "9223372036854775807", "1.2.3"}) {
    EXPECT_FALSE(nanos_of_micros(text)) << text;
  }
}

TEST(Kineto, RanksComeInOrderWhateverTheirFilesAreCalled) {
  const Folder folder;
  const fs::path a = folder.write("a.json", small(1).text());
  const fs::path b = folder.write("b.json", small(0).text());
  Opened opened = open({a, b});
  ASSERT_EQ(opened.error, "");
  ASSERT_EQ(opened.source->definitions().processes.size(), 2u);
  EXPECT_TRUE(opened.notes.empty());
  EXPECT_EQ(find_traces(folder.path()), (std::vector<fs::path>{a, b}));

  const fs::path c = folder.write("c.json", small(0).text());
  EXPECT_NE(open({a, b, c}).error.find("both of rank 0"), std::string::npos);
}

TEST(Kineto, OperationsOfAStreamThatOverlapAreOnSeveralLanes) {
  KinetoText text = small();
  text.operation("kernel", "late", 7, 40, 70, 0).operation("kernel", "early", 7, 1, 9, 0);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  EXPECT_EQ(opened.lines("stream 7 of device 0").size(), 6u);
  EXPECT_EQ(opened.lines("stream 7 of device 0 (2)").size(), 3u);
}

TEST(Kineto, WhatContradictsItselfIsCountedAndLeftOut) {
  KinetoText text = small();
  text.call("cpu_op", "reversed", 80, 70)
      .call("cpu_op", "outlives its caller", 20, 90)
      .raw(R"({"ph": "X", "cat": "cpu_op", "name": "no times", "tid": 4711})")
      .raw(
          R"({"ph": "X", "cat": "cpu_op", "name": "not a time", "tid": 4711, "ts": NaN, "dur": 1})")
      .raw(R"({"ph": "X", "cat": "cpu_op", "name": "never", "tid": 4711, "ts": 1e300, "dur": 1})")
      .raw(
          R"({"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 1, "args": {"stream": "7", "est. achieved occupancy %": -Infinity, "correlation": -1}})");
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  EXPECT_TRUE(lost(opened, LossKind::times_absurd));
  EXPECT_TRUE(lost(opened, LossKind::regions_never_left));
  EXPECT_EQ(opened.losses.all().at("device_times_missing").count, 3u);
  const Lines lines = opened.lines("master thread");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "29000 leave outlives its caller"), 1);
}

/// Cut anywhere, what comes before counts, and the loss of the rest is said.
TEST(Kineto, FilesMayBeCutShort) {
  const std::string whole = small().text();
  const size_t first = whole.find("cudaDeviceSynchronize");
  for (const size_t size : {first, first + 30, whole.rfind(']')}) {
    Opened opened = open(whole.substr(0, size));
    ASSERT_EQ(opened.error, "") << size;
    EXPECT_TRUE(lost(opened, LossKind::truncated_locations)) << size;
    EXPECT_EQ(opened.lines("stream 7 of device 0").size(), 3u) << size;
  }
  for (const size_t size : {size_t{0}, size_t{1}, size_t{20}, whole.find("[\n")}) {
    EXPECT_NE(open(whole.substr(0, size)).error, "") << size;
  }
}

std::string packed(const std::string& text) {
  z_stream stream = {};
  if (deflateInit2(&stream, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
    return "";
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<unsigned char*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Kineto, FilesMayBePacked) {
  const std::string whole = small().text();
  const size_t half = whole.size() / 2;
  for (const std::string& file :
       {packed(whole), packed(whole.substr(0, half)) + packed(whole.substr(half))}) {
    Opened opened = open(file);
    ASSERT_EQ(opened.error, "");
    EXPECT_TRUE(opened.losses.all().empty());
    EXPECT_EQ(opened.lines("stream 7 of device 0").size(), 3u);
  }
  KinetoText longer = small();
  for (int i = 0; i < 1000; ++i) longer.call("cpu_op", "aten::add", 100 + i, 100.5 + i * 1.01);
  const std::string file = packed(longer.text());
  EXPECT_TRUE(lost(open(file.substr(0, file.size() * 3 / 4)), LossKind::truncated_locations));
  EXPECT_NE(open(file.substr(0, 12)).error, "");
}

TEST(Kineto, IsRefusedWhereNothingCouldBeFound) {
  const auto refusal = [](const KinetoText& text) { return open(text.text()).error; };
  EXPECT_NE(refusal(KinetoText().call("cpu_op", "aten::mm", 1, 2)).find("ProfilerActivity.CUDA"),
            std::string::npos);
  EXPECT_NE(refusal(KinetoText().operation("kernel", "gemm", 7, 1, 2, 3)).find("calls"),
            std::string::npos);
  EXPECT_NE(open(R"({"nodes": [1, 2]})").error.find("traceEvents"), std::string::npos);
  EXPECT_NE(open(R"({"traceEvents": []})").error, "");
  EXPECT_NE(open("[1, 2, 3]").error, "");
  EXPECT_NE(open("{]").error, "");
}

TEST(Kineto, NestingAndLengthAreLimited) {
  const std::string deep(200'000, '[');
  EXPECT_NE(open("{\"a\": " + deep).error, "");
  KinetoText text = small();
  text.raw(R"({"args": {"x": )" + deep);
  Opened opened = open(text.text());
  ASSERT_EQ(opened.error, "");
  EXPECT_TRUE(lost(opened, LossKind::truncated_locations));
  // A packed text of a few kilobytes that is one endless name.
  EXPECT_NE(open(packed("{\"" + std::string(size_t{20} << 20, 'x'))).error, "");
}

TEST(Kineto, AReportOfNsightSystemsSaysWhatToRun) {
  const Folder folder;
  const fs::path file = folder.write("run.nsys-rep", "whatever");
  EXPECT_NE(open({file}).error.find("nsys export"), std::string::npos);
}

}  // namespace
}  // namespace culprit::trace
