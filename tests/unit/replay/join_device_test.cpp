// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which call launched which operation, in traces that are as they should be and in others: what
// cannot be told is counted, and never guessed.
#include "replay/read/join_device.h"

#include <gtest/gtest.h>

#include <functional>

#include "trace/source.h"

namespace culprit::replay {
namespace {

using trace::DeviceOpKind;
using trace::OperationNumber;

constexpr RegionId kMain(0), kCall(1), kKernel(2), kWait(3), kCopyOut(4), kFinish(5), kEnqueue(6);

Time at(int64_t us) {
  return Time::from_nanos(us * 1000);
}

/// One process: a host, and streams.
class Program : public trace::Source {
 public:
  explicit Program(size_t streams, bool numbered) : events_(1 + streams) {
    definitions_.regions = {
        {"main", trace::RegionRole::function, trace::Paradigm::user, "", 0},
        {"cuLaunchKernel", trace::RegionRole::function, trace::Paradigm::cuda, "", 0},
        {"kernel", trace::RegionRole::kernel, trace::Paradigm::cuda, "", 0},
        {"cuCtxSynchronize", trace::RegionRole::function, trace::Paradigm::cuda, "", 0},
        {"cuMemcpyDtoH_v2", trace::RegionRole::function, trace::Paradigm::cuda, "", 0},
        {"clFinish", trace::RegionRole::function, trace::Paradigm::opencl, "", 0},
        {"clEnqueueNDRangeKernel", trace::RegionRole::function, trace::Paradigm::opencl, "", 0}};
    definitions_.processes.push_back({"rank", "node", 0, {LocationId(0)}});
    definitions_.locations.push_back(
        {"host", trace::LocationKind::cpu_thread, ProcessId(0), 0, 0, 0, DeviceId::none(), 0});
    if (numbered) definitions_.devices.push_back({"device", "node", ""});
    for (uint32_t s = 0; s < streams; ++s) {
      definitions_.processes[0].locations.emplace_back(1 + s);
      definitions_.locations.push_back({"stream", trace::LocationKind::accelerator_stream,
                                        ProcessId(0), 1 + s, 0, 0,
                                        numbered ? DeviceId(0) : DeviceId::none(), s});
    }
    tell(0, [](trace::EventSink& sink) { sink.enter(at(0), kMain); });
  }

  /// As newer archives of other tools have it: the device is told of, and no more.
  void tell_of_device() {
    definitions_.devices.push_back({"device", "node", ""});
    definitions_.devices_untold = true;
    for (size_t s = 1; s < definitions_.locations.size(); ++s) {
      definitions_.locations[s].device = DeviceId(0);
    }
  }

  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, trace::EventSink& sink, Losses&) const override {
    for (const auto& event : events_[location.index()]) event(sink);
    if (location == LocationId(0)) sink.leave(at(100'000), kMain);
    return {};
  }

  /// Returns its number.
  size_t add_thread() {
    const size_t location = definitions_.locations.size();
    definitions_.processes[0].locations.emplace_back(location);
    definitions_.locations.push_back({"thread", trace::LocationKind::cpu_thread, ProcessId(0),
                                      static_cast<uint32_t>(location), 0, 0, DeviceId::none(), 0});
    events_.emplace_back();
    return location;
  }
  RegionId add_call(const char* name) {
    definitions_.regions.push_back(
        {name, trace::RegionRole::function, trace::Paradigm::cuda, "", 0});
    return RegionId(definitions_.regions.size() - 1);
  }
  void visit(int64_t begin, int64_t end, RegionId call, size_t thread = 0) {
    tell(thread, [=](trace::EventSink& sink) {
      sink.enter(at(begin), call);
      sink.leave(at(end), call);
    });
  }
  void launch(int64_t begin, uint64_t number, uint32_t queue = 0,
              DeviceOpKind kind = DeviceOpKind::kernel) {
    tell(0, [=](trace::EventSink& sink) {
      sink.enter(at(begin), kCall);
      sink.device_launch(at(begin), {OperationNumber{number}, kind, queue, {}});
      sink.leave(at(begin + 1), kCall);
    });
  }
  void execute(size_t stream, int64_t begin, int64_t end, uint64_t number = 0) {
    tell(stream, [=](trace::EventSink& sink) {
      sink.enter(at(begin), kKernel);
      if (number > 0) {
        trace::DeviceOperation operation;
        operation.operation = OperationNumber{number};
        sink.device_operation(at(begin), operation);
      }
      sink.leave(at(end), kKernel);
    });
  }
  void copy_out(size_t stream, int64_t begin, int64_t end) {
    tell(stream, [=](trace::EventSink& sink) {
      trace::RmaOperation what{};
      what.op = trace::RmaOp::put;
      what.bytes_sent = 4;
      sink.rma_operation(at(begin), what);
      sink.rma_complete(at(end), WindowId(0), {}, {});
    });
  }

 private:
  void tell(size_t location, std::function<void(trace::EventSink&)> event) {
    events_[location].push_back(std::move(event));
  }
  trace::Definitions definitions_;
  std::vector<std::vector<std::function<void(trace::EventSink&)>>> events_;
};

/// Of a stream's operations, when their calls were entered, in us; -1: unknown.
std::vector<int64_t> launches(const Run& run, size_t stream = 1) {
  std::vector<int64_t> enters;
  for (const DeviceOperation& operation : run.at(LocationId(stream)).device.operations) {
    const LaunchRef& ref = operation.launch;
    enters.push_back(
        ref.valid()
            ? run.call(ref.host, run.at(ref.host).device.launches[ref.launch].call).enter.nanos() /
                  1000
            : -1);
  }
  return enters;
}

uint64_t lost(const Run& run, const char* name) {
  const auto found = run.losses.all().find(name);
  return found == run.losses.all().end() ? 0 : found->second.count;
}

Run read(const Program& program) {
  static Alone alone;
  auto run = read_run(program, alone, 1);
  EXPECT_TRUE(run.ok());
  return std::move(run).value();
}

using Enters = std::vector<int64_t>;

/// An archive may number its operations, and tell of some copy as other tools do.
TEST(JoinDevice, NamesCopiesAmongNumberedOperations) {
  Program program(1, true);
  program.launch(10, 1);
  program.execute(1, 40, 50, 1);
  program.copy_out(1, 60, 70);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, -1}));
  const DeviceOperation& copy = run.at(LocationId(1)).device.operations[1];
  ASSERT_LT(copy.region.index(), run.regions.size());
  EXPECT_EQ(run.regions[copy.region.index()].name, "copy from device");
  EXPECT_EQ(copy.begin, at(60));
  EXPECT_EQ(copy.end, at(70));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 1u);
}

TEST(JoinDevice, GoesByNumbersWhateverTheOrder) {
  Program program(2, true);
  program.launch(10, 3);
  program.launch(20, 1);
  program.launch(30, 2);
  program.execute(1, 40, 50, 2);
  program.execute(1, 50, 60, 3);
  program.execute(2, 41, 42, 1);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{30, 10}));
  EXPECT_EQ(launches(run, 2), (Enters{20}));
  EXPECT_TRUE(run.losses.all().empty());
}

/// Also where as many are missing on one side as on the other.
TEST(JoinDevice, CountsWhatIsLostOnEitherSide) {
  Program program(1, true);
  program.launch(10, 1);
  program.launch(20, 2);
  program.launch(25, 4, 9);                        // on a queue that no stream shows
  program.launch(30, 5, 0, DeviceOpKind::marker);  // may leave no trace
  program.execute(1, 40, 50, 1);
  program.execute(1, 50, 60, 3);
  program.execute(1, 60, 70);  // without a number
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, -1, -1}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 2u);
  EXPECT_EQ(lost(run, "device_launches_without_operation"), 2u);
}

/// A graph's nodes have the number of its launch; it hides no other's loss.
TEST(JoinDevice, LetsSeveralOperationsBeOfOneLaunch) {
  Program program(1, true);
  program.launch(10, 1, 0, DeviceOpKind::graph);
  program.launch(20, 2);
  for (int i = 0; i < 3; ++i) program.execute(1, 40 + i, 41 + i, 1);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, 10, 10}));
  EXPECT_EQ(lost(run, "device_launches_without_operation"), 1u);
}

TEST(JoinDevice, TakesTheFirstOfTwoCallsWithOneNumber) {
  Program program(1, true);
  program.launch(10, 1);
  program.launch(20, 1);
  program.execute(1, 40, 50, 1);
  EXPECT_EQ(launches(read(program)), (Enters{10}));
}

TEST(JoinDevice, GoesByOrderWhereThereAreNoNumbers) {
  Program program(1, false);
  program.visit(10, 11, kCall);
  program.visit(20, 21, kCall);
  program.execute(1, 30, 40);
  program.execute(1, 40, 50);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, 20}));
  EXPECT_TRUE(run.losses.all().empty());
}

/// Two kernels and a call that waits for them, three times; of the second two one is missing.
TEST(JoinDevice, LosesOnlyTheStretchInWhichOneIsMissing) {
  Program program(1, false);
  for (int64_t t : {0, 1000, 2000}) {
    program.visit(t + 10, t + 11, kCall);
    program.visit(t + 20, t + 21, kCall);
    program.visit(t + 30, t + 500, kWait);
    program.execute(1, t + 100, t + 200);
    if (t != 1000) program.execute(1, t + 200, t + 499);
  }
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, 20, -1, 2010, 2020}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 1u);
  EXPECT_EQ(lost(run, "device_launches_without_operation"), 2u);
}

/// The device's clock is 5 us early: kernels begin before their launch, and copies end before their
/// call. Blocking copies are known by the time that they took, and end stretches.
TEST(JoinDevice, BearsClocksThatDisagreeALittle) {
  Program program(1, false);
  for (int64_t t : {0, 1000, 2000}) {
    program.visit(t + 10, t + 11, kCall);
    program.visit(t + 300, t + 310, kCopyOut);
    if (t != 1000) program.execute(1, t + 5, t + 295);
    program.copy_out(1, t + 296, t + 299);
  }
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, 300, 1300, 2010, 2300}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 0u);
  EXPECT_EQ(lost(run, "device_launches_without_operation"), 1u);
}

TEST(JoinDevice, GoesByOrderWhereDevicesAreToldOfWithoutNumbers) {
  Program program(1, false);
  program.tell_of_device();
  program.visit(10, 11, kCall);
  program.visit(20, 60, kCopyOut);
  program.execute(1, 30, 40);
  program.copy_out(1, 40, 50);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{10, 20}));
  EXPECT_TRUE(run.losses.all().empty());
}

TEST(JoinDevice, GuessesNothingWhereClocksDisagreeMuch) {
  Program program(1, false);
  program.visit(1000, 1001, kCall);
  program.execute(1, 500, 600);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{-1}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 1u);
}

/// OpenCL's queues may execute in any order. That a call waits for all is known.
TEST(JoinDevice, GuessesNothingOfQueuesWithoutOrder) {
  Program program(1, false);
  program.visit(10, 11, kEnqueue);
  program.visit(20, 50, kFinish);
  program.execute(1, 30, 40);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{-1}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 1u);
  ASSERT_EQ(run.at(LocationId(0)).device.waits.size(), 1u);
  EXPECT_EQ(run.at(LocationId(0)).device.waits[0].what, trace::DeviceWaitFor::queue);
}

/// Two threads are in the call at the same time: either may have handed over first. What comes
/// after both is known again.
TEST(JoinDevice, GuessesNothingOfCallsAtTheSameTime) {
  Program program(1, false);
  const size_t other = program.add_thread();
  program.visit(10, 100, kCall);
  program.visit(11, 20, kCall, other);
  program.visit(200, 210, kCall, other);
  program.visit(220, 230, kCall);
  program.execute(1, 25, 40);
  program.execute(1, 110, 120);
  program.execute(1, 240, 250);
  program.execute(1, 250, 260);
  const auto run = read(program);
  EXPECT_EQ(launches(run), (Enters{-1, -1, 200, 220}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 2u);
}

/// The kernel may be of the call that is not known to launch one.
TEST(JoinDevice, GuessesNothingWhereThereAreCallsThatItDoesNotKnow) {
  for (const char* name : {"cuLaunchKernelEx", "cudaGraphLaunch", "cuMemcpyDtoD_v2"}) {
    Program program(1, false);
    program.visit(10, 11, program.add_call(name));
    program.visit(20, 21, kCall);
    program.execute(1, 30, 40);
    const auto run = read(program);
    EXPECT_EQ(launches(run), (Enters{-1})) << name;
    EXPECT_EQ(lost(run, "device_launches_without_operation"), 1u) << name;
  }
}

/// Which event a call waits for is not recorded. Of what it may have waited for, one operation
/// ended when it returned; where none did, nothing is known.
TEST(JoinDevice, TakesAWaitForAnEventForOneForTheOperationThatEndedThen) {
  for (const char* name : {"hipEventSynchronize", "cudaEventSynchronize"}) {
    Program program(2, false);
    const RegionId event = program.add_call(name);
    program.visit(50, 902, event);
    program.visit(1600, 1603, event);  // was done already
    program.visit(2000, 3000, event);
    program.execute(1, 60, 900);
    program.execute(1, 910, 2100);
    program.execute(2, 60, 1500);
    const auto run = read(program);
    const auto& waits = run.at(LocationId(0)).device.waits;
    ASSERT_EQ(waits.size(), 1u) << name;
    EXPECT_EQ(waits[0].what, trace::DeviceWaitFor::operation);
    EXPECT_EQ(waits[0].operation, run.at(LocationId(1)).device.operations[0].operation);
    EXPECT_NE(waits[0].operation, OperationNumber::none);
    EXPECT_EQ(lost(run, "device_waits_for_unknown_queues"), 1u) << name;
  }
}

TEST(JoinDevice, GuessesNothingOfSeveralStreams) {
  Program program(2, false);
  program.visit(10, 11, kCall);
  program.visit(20, 21, kCall);
  program.execute(1, 30, 40);
  program.execute(2, 30, 40);
  const auto run = read(program);
  EXPECT_EQ(launches(run, 1), (Enters{-1}));
  EXPECT_EQ(launches(run, 2), (Enters{-1}));
  EXPECT_EQ(lost(run, "device_operations_without_launch"), 2u);
  EXPECT_EQ(lost(run, "device_launches_without_operation"), 2u);
}

}  // namespace
}  // namespace culprit::replay
