// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What devices did: records in any order become time lines, on the host's axis.

#include <cstring>
#include <sstream>

#include "assemble/device/device_clock.h"
#include "fixture.h"
#include "trace/device.h"

namespace culprit::assemble::test {
namespace {

using trace::CopyDirection;
using trace::DeviceApi;
using trace::DeviceOpKind;
using trace::RawDeviceLoss;
using trace::RawKind;

std::vector<uint64_t> packed(const std::string& text, std::vector<uint64_t> words = {}) {
  const size_t first = words.size();
  words.resize(first + (text.size() + 7) / 8);
  std::memcpy(words.data() + first, text.data(), text.size());
  return words;
}

/// Records of a device whose clock is 5000 behind the trace's: known to a nanosecond, at 0.
class DeviceLog {
 public:
  static constexpr uint64_t kBehind = 5000;
  static constexpr uint32_t kFirst = 1u << trace::kRawDeviceApiShift;  ///< of OpenCL's numbers

  explicit DeviceLog(RawThread& thread, DeviceApi api = DeviceApi::opencl,
                     bool out_of_order = false, uint64_t begun = 0)
      : thread_(thread) {
    thread_.put(RawKind::device_runtime, begun, static_cast<uint16_t>(api), 0, packed("runtime"));
    thread_.put(RawKind::device_def, 0, static_cast<uint16_t>(api), kFirst,
                packed("deviceuuid", {6 | uint64_t{4} << 32}));
    thread_.put(RawKind::device_queue_def, 0, out_of_order ? 1 : 0, kFirst, {kFirst, 3});
    thread_.put(RawKind::device_clock, 0, 0, kFirst, {kBehind, kTicksAtZero, kTicksAtZero});
    thread_.put(RawKind::string_def, 0, 6, 1, packed("kernel"));
  }

  /// Times as the trace has them; 0: not told.
  DeviceLog& op(uint64_t number, uint64_t begin, uint64_t end,
                DeviceOpKind kind = DeviceOpKind::kernel) {
    const uint64_t name = kind == DeviceOpKind::kernel ? 1 : 0;
    const auto direction = static_cast<unsigned>(CopyDirection::to_device);
    thread_.put(
        RawKind::device_op, 0, static_cast<uint16_t>(static_cast<unsigned>(kind) | direction << 8),
        kFirst,
        {number, begin == 0 ? 0 : begin + kBehind, end == 0 ? 0 : end + kBehind, name, 64, 0, 0});
    return *this;
  }

 private:
  RawThread& thread_;
};

class DevicesTest : public AssembleTest {
 protected:
  /// When which operations begin and end.
  std::string visits(const std::string& location) {
    std::istringstream lines(listing.text(location));
    std::string result;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("operation") == std::string::npos) result += line + "\n";
    }
    return result;
  }

  static constexpr uint32_t kLog = 7;  ///< of no thread
  static constexpr uint32_t kFirst = DeviceLog::kFirst;

  void launch(RawThread& thread, uint64_t time, uint64_t number) {
    thread.put(RawKind::string_def, time, 4, 9, packed("clGo"));
    thread.put(RawKind::device_enter, time, 9, thread.path(in_main({"run"})));
    thread.put(RawKind::device_launch, time + 1, 0, kFirst, {number});
    thread.put(RawKind::device_leave, time + 2, 9, 0);
  }
};

TEST_F(DevicesTest, AQueueIsALocationOfItsProcess) {
  {
    auto p = process();
    p->ended(100);
    launch(p->thread(0), 10, 1);
    launch(p->thread(0), 20, 2);
    // As they became known: the second first.
    DeviceLog(p->thread(kLog)).op(2, 40, 60, DeviceOpKind::copy).op(1, 15, 40);
  }
  const RunFacts facts = play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   run
10     clGo
11       launch 1 kind 0 on 0
12     -
20     clGo
21       launch 2 kind 0 on 0
22     -
22   -
100 -
)");
  EXPECT_EQ(listing.text("0.1"), R"(15 kernel
15   operation 1 kind 0 direction 1 bytes 64
40 -
40 copy to device
40   operation 2 kind 1 direction 1 bytes 64
60 -
)");
  ASSERT_EQ(listing.definitions.locations.size(), 2u);
  const trace::Location& stream = listing.definitions.locations[1];
  EXPECT_EQ(stream.kind, trace::LocationKind::accelerator_stream);
  EXPECT_EQ(stream.name, "queue 3 of device");
  EXPECT_EQ(stream.process, ProcessId(0));
  EXPECT_EQ(stream.queue, 0u);
  EXPECT_EQ(stream.device, DeviceId(0));
  ASSERT_EQ(listing.definitions.devices.size(), 1u);
  EXPECT_EQ(listing.definitions.devices[0].name, "device");
  EXPECT_EQ(listing.definitions.devices[0].node, "node1");
  EXPECT_EQ(listing.definitions.devices[0].identity, "uuid");
  EXPECT_EQ(facts.losses.all().size(), 0u);
}

TEST_F(DevicesTest, WhatCannotBeIsLeftOutAndCounted) {
  {
    auto p = process();
    p->ended(100);
    launch(p->thread(0), 10, 1);
    launch(p->thread(0), 50, 2);
    auto& log = p->thread(kLog);
    DeviceLog(log)
        .op(1, 20, 30)
        .op(1, 0, 30)    // no begin
        .op(1, 25, 0)    // no end
        .op(1, 30, 25)   // reversed
        .op(2, 45, 60)   // before the call that hands it over
        .op(77, 70, 80)  // nobody handed it over
        ;
    log.put(RawKind::device_op, 0, 0, 5, {1, 1, 2, 0, 0, 0, 0});           // of no queue
    log.put(RawKind::device_op, 0, 0, kFirst, {1, 1, ~0ull, 0, 0, 0, 0});  // in the year 2600
    log.put(RawKind::device_clock, 0, 0, kFirst, {1, 9, 8});               // empty interval
    log.put(RawKind::device_queue_def, 0, 0, 9, {0, 0});                   // numbers have gaps
    log.put(RawKind::device_lost, 0, static_cast<uint16_t>(RawDeviceLoss::dropped), 0, {11});
    log.put(RawKind::device_lost, 0, static_cast<uint16_t>(RawDeviceLoss::dropped), 0, {12});
    log.put(RawKind::device_lost, 0, static_cast<uint16_t>(RawDeviceLoss::unfinished), 0, {3});
    log.put(RawKind::device_lost, 0, static_cast<uint16_t>(RawDeviceLoss::hung_flush), 0, {1});
    log.put(RawKind::device_lost, 0, 99, 0, {1});
  }
  const RunFacts facts = play();
  EXPECT_EQ(visits("0.1"), "20 kernel\n30 -\n50 kernel\n60 -\n70 kernel\n80 -\n");
  EXPECT_EQ(losses(facts, "device_times_missing"), 2u);
  EXPECT_EQ(losses(facts, "device_times_reversed"), 1u);
  EXPECT_EQ(losses(facts, "device_starts_before_launch"), 1u);
  EXPECT_EQ(losses(facts, "device_ops_without_launch"), 1u);
  EXPECT_EQ(losses(facts, "device_records_senseless"), 4u);
  EXPECT_EQ(losses(facts, "device_records_dropped"), 23u);
  EXPECT_EQ(losses(facts, "device_ops_unfinished"), 3u);
  EXPECT_EQ(losses(facts, "device_flushes_hung"), 1u);
}

TEST_F(DevicesTest, WhatOverlapsGetsLanesOfItsOwn) {
  {
    auto p = process();
    p->ended(100'000);
    for (uint64_t number : {1, 2, 3}) launch(p->thread(0), number, number);
    DeviceLog(p->thread(kLog), DeviceApi::opencl, true)
        .op(1, 10'000, 40'000)
        .op(2, 20'000, 30'000)
        .op(3, 35'000, 50'000);
  }
  play();
  EXPECT_EQ(visits("0.1"), "10000 kernel\n40000 -\n");
  EXPECT_EQ(visits("0.2"), "20000 kernel\n30000 -\n35000 kernel\n50000 -\n");
  EXPECT_EQ(listing.definitions.locations[2].name, "queue 3 of device (2)");
}

TEST_F(DevicesTest, AQueueThatKeepsItsOrderHasOneLane) {
  {
    auto p = process();
    p->ended(100'000);
    for (uint64_t number : {1, 2, 3}) launch(p->thread(0), number, number);
    DeviceLog(p->thread(kLog)).op(1, 10'000, 40'000).op(2, 20'000, 30'000).op(3, 35'000, 50'000);
  }
  play();
  EXPECT_EQ(visits("0.1"), "10000 kernel\n40000 -\n40000 kernel\n40000 -\n40000 kernel\n50000 -\n");
  EXPECT_EQ(listing.definitions.locations.size(), 2u);
}

TEST_F(DevicesTest, CallsTellWhatTheyHandOverAndWaitFor) {
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    thread.put(RawKind::string_def, 10, 4, 9, packed("clGo"));
    thread.put(RawKind::device_enter, 10, 9, thread.path(in_main({})));
    thread.put(RawKind::device_launch, 20, 1, kFirst, {7});
    thread.put(RawKind::device_after, 20, 0, 0, {5, 6});
    thread.put(RawKind::device_after, 20, 0, 0, {4});
    thread.put(RawKind::device_launch, 30, 9, trace::kRawNoQueue, {8});
    thread.put(RawKind::device_wait, 40, 0, 0, {7});
    thread.put(RawKind::device_wait, 50, 1, kFirst, {0});
    thread.put(RawKind::device_wait, 60, 2, kFirst, {0});
    thread.put(RawKind::device_wait, 60, 77, 0, {0});  // no such kind
    thread.put(RawKind::device_leave, 70, 9, 0);
    DeviceLog(p->thread(kLog)).op(7, 20, 30);
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   clGo
20     launch 7 kind 1 on 0 after 5 after 6 after 4
30     launch 8 kind 9 on none
40     wait for operation 7
50     wait for queue 0
60     wait for device 0
70   -
100 -
)");
}

// The first call began before anything was recorded; in the second a module is loaded.
TEST_F(DevicesTest, WhatIsMadeForTheRuntimeStandsApart) {
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    thread.put(RawKind::string_def, 30, 4, 9, packed("clGo"));
    thread.put(RawKind::device_start_up, 30, 0, 0, {kTicksAtZero + 10});
    thread.put(RawKind::device_enter, 30, 9, thread.path(in_main({})));
    thread.put(RawKind::device_leave, 50, 9, 0);
    thread.put(RawKind::device_start_up, 55, 0, 0, {0});  // in no call: of nobody
    thread.put(RawKind::device_enter, 60, 9, thread.path(in_main({})));
    thread.put(RawKind::device_start_up, 70, 0, 0, {0});
    thread.put(RawKind::device_launch, 75, 0, kFirst, {7});
    thread.put(RawKind::device_leave, 80, 9, 0);
    DeviceLog(p->thread(kLog)).op(7, 76, 90);
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   clGo
10     device start-up
30     -
50   -
60   clGo
60     device start-up
70     -
75     launch 7 kind 0 on 0
80   -
100 -
)");
}

// Before there is a context no call of the runtime is seen, but samples see its code.
TEST_F(DevicesTest, WhatARuntimeDoesBeforeItCanBeUsedIsStartUp) {
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    const auto in_runtime = in_main({"prepare", "libcudart_static_1a", "libcudart_static_2b"});
    thread.sample(20, in_main({"read_input"}));
    thread.sample(40, in_runtime);
    thread.sample(60, in_runtime);
    thread.sample(80, in_runtime);  // it works as any library does
    DeviceLog(p->thread(kLog), DeviceApi::cuda, false, 70);
  }
  play();
  EXPECT_EQ(listing.text("0.0"), R"(0 main
10   read_input
30   -
30   prepare
30     device start-up
70     -
90   -
100 -
)");
}

// Work of the collector on the log of devices says nothing of them.
TEST_F(DevicesTest, TheCollectorMayWorkOnTheLogOfDevices) {
  {
    auto p = process();
    p->ended(100);
    launch(p->thread(0), 10, 1);
    RawThread& log = p->thread(kLog);
    DeviceLog(log).op(1, 20, 30);
    log.put(RawKind::tool_begin, 40, 0, 0);
    log.put(RawKind::tool_end, 50, 0, 0);
  }
  EXPECT_EQ(losses(play(), "device_records_senseless"), 0u);
}

// What is handed over to a stream whose operations become a graph is not executed; to another
// stream it is.
TEST_F(DevicesTest, WhatIsCapturedIsNotLaunched) {
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    const auto path = thread.path(in_main({}));
    const auto call = [&](uint64_t time, uint16_t name, uint64_t number) {
      thread.put(RawKind::device_enter, time, name, path);
      if (number != 0) {
        thread.put(RawKind::device_launch, time + 1, 0, trace::kRawNoQueue, {number});
      }
      thread.put(RawKind::device_leave, time + 2, name, 0);
    };
    thread.put(RawKind::string_def, 5, 4, 9, packed("cuGo"));
    thread.put(RawKind::string_def, 5, 22, 10, packed("cudaStreamBeginCapture"));
    thread.put(RawKind::string_def, 5, 20, 11, packed("cudaStreamEndCapture"));
    call(10, 10, 0);
    call(20, 9, 6);
    call(30, 9, 7);
    call(40, 11, 0);
    call(50, 9, 8);
    DeviceLog(p->thread(kLog), DeviceApi::cuda).op(7, 60, 70);
  }
  play();
  const std::string text = listing.text("0.0");
  EXPECT_EQ(text.find("launch 6"), text.npos) << text;
  EXPECT_NE(text.find("launch 7"), text.npos) << text;
  EXPECT_NE(text.find("launch 8"), text.npos) << text;
}

// The first two copy memory that the system may move: the call waits for the first, and not for the
// second, which the runtime has put aside. The third copies pinned memory.
TEST_F(DevicesTest, ACopyOfPageableMemoryIsWaitedFor) {
  {
    auto p = process();
    p->ended(200);
    RawThread& thread = p->thread(0);
    thread.put(RawKind::string_def, 5, 15, 9, packed("cudaMemcpyAsync"));
    RawThread& log = p->thread(kLog);
    DeviceLog(log, DeviceApi::cuda);
    const auto copy = [&](uint64_t number, uint64_t enter_us, uint64_t leave_us, uint64_t end_us,
                          trace::HostMemory memory) {
      constexpr uint64_t kMicrosecond = 1000;
      thread.put(RawKind::device_enter, enter_us * kMicrosecond, 9, thread.path(in_main({})));
      thread.put(RawKind::device_launch, enter_us * kMicrosecond + 1,
                 static_cast<uint16_t>(DeviceOpKind::copy), trace::kRawNoQueue, {number});
      thread.put(RawKind::device_leave, leave_us * kMicrosecond, 9, 0);
      const auto what = static_cast<uint16_t>(static_cast<unsigned>(DeviceOpKind::copy) |
                                              static_cast<unsigned>(memory)
                                                  << trace::raw_device_op::kMemoryShift);
      log.put(RawKind::device_op, 0, what, kFirst,
              {number, enter_us * kMicrosecond + 10 + DeviceLog::kBehind,
               end_us * kMicrosecond + DeviceLog::kBehind, 0, 64, 0, 0});
    };
    copy(5, 100, 200, 202, trace::HostMemory::pageable);
    copy(6, 300, 310, 400, trace::HostMemory::pageable);
    copy(7, 500, 600, 601, trace::HostMemory::pinned);
  }
  play();
  const std::string text = listing.text("0.0");
  EXPECT_NE(text.find("wait for operation 5"), text.npos) << text;
  EXPECT_EQ(text.find("wait for operation 6"), text.npos) << text;
  EXPECT_EQ(text.find("wait for operation 7"), text.npos) << text;
}

// The runtime tells of it later, by its clock: loading in the first launch, and in the second a
// wait that ended when the first operation did.
TEST_F(DevicesTest, WhatTheRuntimeTookInALaunchIsWhatItIs) {
  using trace::RawDeviceTime;
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    launch(thread, 10, 1);
    thread.put(RawKind::device_enter, 20, 9, thread.path(in_main({"run"})));
    thread.put(RawKind::device_launch, 40, 0, kFirst, {2});
    thread.put(RawKind::device_leave, 41, 9, 0);
    thread.put(RawKind::device_enter, 50, 9, thread.path(in_main({"run"})));
    thread.put(RawKind::device_launch, 70, 0, kFirst, {3});
    thread.put(RawKind::device_leave, 71, 9, 0);
    RawThread& log = p->thread(kLog);
    DeviceLog(log).op(1, 15, 65).op(2, 65, 75).op(3, 75, 80);
    const auto took = [&](RawDeviceTime what, uint64_t begin, uint64_t time, uint64_t number) {
      log.put(RawKind::device_overhead, 90, static_cast<uint16_t>(what), 0,
              {time, number, begin + DeviceLog::kBehind});
    };
    took(RawDeviceTime::start_up, 25, 10, 2);
    took(RawDeviceTime::full_queue, 55, 12, 3);
    took(RawDeviceTime::full_queue, 45, 5, 2);  // nothing ended meanwhile
    log.put(RawKind::device_overhead, 90, 9, 0, {5});
  }
  const RunFacts facts = play();
  const std::string host = listing.text("0.0");
  EXPECT_EQ(host.substr(host.find("20     clGo")), R"(20     clGo
25       device start-up
35       -
40       launch 2 kind 0 on 0
41     -
50     clGo
70       launch 3 kind 0 on 0
70       wait for operation 1
71     -
71   -
100 -
)");
  EXPECT_EQ(losses(facts, "device_records_senseless"), 1u);
}

// What a call waits for is told by its name; which queue or event that is, by the runtime's record.
TEST_F(DevicesTest, TheRuntimesRecordOfAWaitMayBeMissingOrWrong) {
  using trace::RawDevicePoint;
  {
    auto p = process();
    p->ended(100);
    RawThread& thread = p->thread(0);
    launch(thread, 10, 1);
    thread.put(RawKind::device_enter, 20, 9, thread.path(in_main({"run"})));
    const auto waits = [&](uint64_t time, trace::DeviceWaitFor what, uint32_t place,
                           uint64_t number) {
      thread.put(RawKind::device_wait, time, static_cast<uint16_t>(what), place, {number});
    };
    const auto some_queue = trace::kRawNoQueue;
    using enum trace::DeviceWaitFor;
    waits(30, device, kFirst, 11);     // confirmed
    waits(31, device, kFirst, 12);     // said to be an event
    waits(32, device, kFirst, 13);     // no record
    waits(33, queue, some_queue, 14);  // confirmed
    waits(34, queue, some_queue, 15);  // said to be an event, of this queue
    waits(35, operation, 0, 16);       // an event, confirmed; never recorded
    waits(36, operation, 0, 17);       // an event without a type, recorded by 9
    waits(37, operation, 0, 18);       // no record
    thread.put(RawKind::device_leave, 50, 9, 0);
    RawThread& log = p->thread(kLog);
    DeviceLog(log).op(1, 15, 65);
    const auto point = [&](RawDevicePoint what, uint64_t number, uint32_t place, uint64_t event) {
      log.put(RawKind::device_point, 90, static_cast<uint16_t>(what), place, {number, event, 0});
    };
    point(RawDevicePoint::event_recorded, 9, kFirst, 77);
    point(RawDevicePoint::host_waits_for_device, 11, kFirst, 0);
    point(RawDevicePoint::host_waits_for_event, 12, some_queue, 0);
    point(RawDevicePoint::host_waits_for_queue, 14, kFirst, 0);
    point(RawDevicePoint::host_waits_for_event, 15, kFirst, 0);
    point(RawDevicePoint::host_waits_for_event, 16, some_queue, 78);
    point(RawDevicePoint::host_waits, 17, some_queue, 77);
  }
  const RunFacts facts = play();
  const std::string host = listing.text("0.0");
  EXPECT_EQ(host.substr(host.find("20     clGo")), R"(20     clGo
30       wait for device 0
31       wait for device 0
32       wait for device 0
33       wait for queue 0
34       wait for queue 0
36       wait for operation 9
50     -
50   -
100 -
)");
  EXPECT_EQ(losses(facts, "device_waits_by_name"), 4u);
  EXPECT_EQ(losses(facts, "device_waits_unknown"), 1u);
}

TEST_F(DevicesTest, ProcessesShareADevice) {
  for (const char* name : {"node1.1.a", "node1.2.b"}) {
    auto p = process(name);
    p->ended(100);
    launch(p->thread(0), 10, 1);
    DeviceLog(p->thread(kLog)).op(1, 20, 30);
  }
  play();
  ASSERT_EQ(listing.definitions.devices.size(), 1u);
  ASSERT_EQ(listing.definitions.locations.size(), 4u);
  EXPECT_EQ(listing.definitions.locations[1].device, DeviceId(0));
  EXPECT_EQ(listing.definitions.locations[3].device, DeviceId(0));
}

TEST_F(DevicesTest, TheUserIsToldWhatIsNotObserved) {
  {
    auto p = process();
    p->rank(0, 1).ended(100);
    p->thread(0).enter(10, "MPI_Send").leave(20, "MPI_Send");
    p->thread(kLog).put(RawKind::device_runtime, 0,
                        static_cast<uint16_t>(DeviceApi::cuda) |
                            static_cast<uint16_t>(trace::RawDeviceRefusal::other_tool) << 8,
                        0, packed("nsys"));
  }
  const RunFacts facts = play();
  EXPECT_EQ(losses(facts, "device_not_observed"), 1u);
  ASSERT_EQ(facts.notes.size(), 1u);
  EXPECT_EQ(facts.notes[0],
            "The program's use of CUDA was not observed: another tool is using its tools "
            "interface, which accepts only one (nsys).");
  EXPECT_EQ(listing.definitions.locations.size(), 1u);
}

TEST(DeviceClock, FollowsTheNarrowestMoments) {
  const auto moment = [](uint64_t shown, int64_t from, int64_t to) {
    return DeviceClock::Moment{shown, Time::from_nanos(from), Time::from_nanos(to)};
  };
  // Offsets: at 1000 exactly 100 +- 10; at 2000 anything from 50 to 1000 (an interrupted call);
  // at 3000 between 150 and 170.
  const DeviceClock clock(
      {moment(3000, 3150, 3170), moment(1000, 1090, 1110), moment(2000, 2050, 3000)});
  EXPECT_EQ(clock.time(1000).nanos(), 1100);
  EXPECT_EQ(clock.time(0).nanos(), 100);
  EXPECT_EQ(clock.time(2000).nanos(), 2100);
  EXPECT_EQ(clock.time(2500).nanos(), 2625);  // half way from 100 to 150
  EXPECT_EQ(clock.time(3000).nanos(), 3150);
  EXPECT_EQ(clock.time(9000).nanos(), 9150);
}

TEST(DeviceClock, WithoutMomentsTimesStay) {
  const DeviceClock clock({});
  EXPECT_FALSE(clock.known());
  EXPECT_EQ(clock.time(42).nanos(), 42);
}

TEST_F(DevicesTest, CallsThatAskInVainAreAWaitIfNothingElseIsDone) {
  {
    auto p = process();
    p->ended(30000);
    auto& t = p->thread(0);
    launch(t, 1, 1);
    t.put(RawKind::string_def, 5, 5, 8, packed("clAsk"));
    const uint32_t path = t.path(in_main({"poll"}));
    t.put(RawKind::device_polls, 10, 8, path, {kTicksAtZero + 110, 50, 90, 1, ~0ull});
    t.put(RawKind::device_polls, 200, 8, path, {kTicksAtZero + 10200, 2, 20, 0, kFirst});
    t.put(RawKind::device_polls, 20000, 8, path, {kTicksAtZero + 24000, 20, 1000, 0, ~0ull});
    DeviceLog(p->thread(kLog)).op(1, 3, 110);
  }
  play();
  // The second stretch is mostly work, the third has next to nothing between its calls.
  EXPECT_EQ(listing.text("0.0"), R"(0 main
1   run
1     clGo
2       launch 1 kind 0 on 0
3     -
3   -
10   poll
10     clAsk
10       wait for operation 1
110     -
10180     clAsk
10180       wait for queue 0
10200     -
20000     clAsk
20000       wait for queue 4294967295
24000     -
24000   -
30000 -
)");
}

}  // namespace
}  // namespace culprit::assemble::test
