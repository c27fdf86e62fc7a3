// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A backend that only talks: what becomes of its words. All tests share one
// begin_device_log(trace::DeviceApi::opencl), as a process does, so numbers of devices, queues and
// names go on from test to test.

#include "gpu/face.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/fakes/fake_recorder.h"

namespace culprit::gpu {
namespace {

using tests::fake_count;
using tests::fake_name;
using tests::fake_records;
using tests::FakeRecord;
using trace::RawKind;

std::string text(const FakeRecord& record, size_t first_word, size_t bytes) {
  std::string result(bytes, '\0');
  memcpy(result.data(), record.words.data() + first_word, bytes);
  return result;
}

class Face : public testing::Test {
 protected:
  void SetUp() override {
    tests::fake_recorder_reset();
    ASSERT_TRUE(begin_device_log(trace::DeviceApi::opencl));
  }
};

TEST_F(Face, DevicesAndQueuesAreNumbered) {
  const DeviceNumber device = add_device({DeviceApi::opencl, "fast", "uuid 7"});
  const QueueNumber first = add_queue({device, 2, 40, false});
  const QueueNumber second = add_queue({device, 2, 41, true});
  EXPECT_NE(first, second);
  const auto& records = fake_records();
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0].kind, RawKind::device_def);
  EXPECT_EQ(records[0].arg, static_cast<uint32_t>(device));
  EXPECT_EQ(records[0].flags, static_cast<uint16_t>(DeviceApi::opencl));
  EXPECT_EQ(records[0].words[0], 4 | uint64_t{6} << 32);
  EXPECT_EQ(text(records[0], 1, 10), "fastuuid 7");
  EXPECT_EQ(records[2].kind, RawKind::device_queue_def);
  EXPECT_EQ(records[2].flags, 1);
  EXPECT_EQ(records[2].words[0], static_cast<uint32_t>(device) | uint64_t{2} << 32);
  EXPECT_EQ(records[2].words[1], 41u);
}

TEST_F(Face, EqualNamesAreWrittenOnce) {
  const NameNumber one = number_of_name("saxpy");
  EXPECT_EQ(number_of_name("saxpy"), one);
  EXPECT_NE(number_of_name("daxpy"), one);
  EXPECT_EQ(fake_count(RawKind::string_def), 2u);
  EXPECT_EQ(text(fake_records()[0], 0, fake_records()[0].flags), "saxpy");
}

TEST_F(Face, NamesOfAnyLengthFitARecord) {
  const std::string endless(100'000, 'x');
  const NameNumber number = number_of_name(endless);
  EXPECT_EQ(number_of_name(endless + "y"), number);
  EXPECT_EQ(fake_records()[0].flags, 2000);
  add_device({DeviceApi::cuda, endless, endless});
  EXPECT_LE(fake_records()[1].words.size(), 255u);
}

TEST_F(Face, AnOperationSaysAllThatIsKnown) {
  Operation op;
  op.queue = QueueNumber{5};
  op.kind = DeviceOpKind::copy;
  op.number = OperationNumber{99};
  op.queued = 1;
  op.submitted = 2;
  op.begin = 3;
  op.end = 4;
  op.name = NameNumber{6};
  op.graph_node = 8;
  op.bytes = uint64_t{5} << 32;  // more than 32 bits hold
  op.direction = CopyDirection::between_devices;
  op.memory = HostMemory::pinned;
  operation_executed(op);
  ASSERT_EQ(fake_records().size(), 1u);
  const FakeRecord& record = fake_records()[0];
  EXPECT_EQ(record.kind, RawKind::device_op);
  EXPECT_EQ(record.arg, 5u);
  EXPECT_EQ(record.flags, 1 | 4 << 8 | 2 << 12);
  EXPECT_EQ(record.words,
            (std::vector<uint64_t>{99, 3, 4, 6 | uint64_t{8} << 32, uint64_t{5} << 32, 1, 2}));
}

TEST_F(Face, CallsThatAskInVainAreOneRecord) {
  const auto ask = [](uint64_t operation, bool done) {
    const uint64_t begin = begin_to_ask();
    ASSERT_NE(begin, 0u);
    EXPECT_EQ(tests::fake_waiting(), 1);
    asked("cudaEventQuery", begin, {OperationNumber{operation}, QueueNumber::none}, done);
    EXPECT_EQ(tests::fake_waiting(), 0);
  };
  ask(7, true);
  EXPECT_EQ(fake_records().size(), 0u);
  for (int i = 0; i < 1000; ++i) ask(7, false);
  ask(7, true);
  ASSERT_EQ(fake_records().size(), 1u);
  const FakeRecord first = fake_records()[0];
  EXPECT_EQ(first.kind, RawKind::device_polls);
  EXPECT_EQ(fake_name(first.flags), "cudaEventQuery");
  EXPECT_EQ(first.words[1], 1001u);
  EXPECT_GE(first.words[0], first.time + first.words[2]);
  EXPECT_EQ(first.words[3], 7u);
  ask(8, false);  // for something else
  ASSERT_EQ(fake_records().size(), 2u);
  EXPECT_EQ(fake_records()[1].words[3], 8u);
}

TEST_F(Face, ACallHoldsWhatItHandsOverAndWaitsFor) {
  ASSERT_TRUE(call_begins("clEnqueueReadBuffer"));
  EXPECT_EQ(tests::fake_waiting(), 1);
  call_handed_over(DeviceOpKind::copy, QueueNumber{2}, OperationNumber{7});
  std::vector<OperationNumber> after(300);
  for (size_t i = 0; i < after.size(); ++i) after[i] = OperationNumber{i};
  call_ordered_after(after.data(), after.size());
  call_waited_for(OperationNumber{7});
  call_ends("clEnqueueReadBuffer");
  EXPECT_EQ(tests::fake_waiting(), 0);
  const auto& records = fake_records();
  ASSERT_EQ(records.size(), 7u);
  EXPECT_EQ(records[0].kind, RawKind::device_enter);
  EXPECT_EQ(fake_name(records[0].flags), "clEnqueueReadBuffer");
  EXPECT_EQ(records[0].arg, 7u);  // the fake's call path
  EXPECT_EQ(records[1].kind, RawKind::device_launch);
  EXPECT_EQ(records[1].flags, static_cast<uint16_t>(DeviceOpKind::copy));
  EXPECT_EQ(records[1].words, std::vector<uint64_t>{7});
  std::vector<uint64_t> waited_for;
  for (size_t i = 2; i < 5; ++i) {
    EXPECT_EQ(records[i].kind, RawKind::device_after);
    waited_for.insert(waited_for.end(), records[i].words.begin(), records[i].words.end());
  }
  ASSERT_EQ(waited_for.size(), 300u);
  EXPECT_EQ(waited_for[299], 299u);
  EXPECT_EQ(records[5].kind, RawKind::device_wait);
  EXPECT_EQ(records[5].flags, static_cast<uint16_t>(DeviceWaitFor::operation));
  EXPECT_EQ(records[6].kind, RawKind::device_leave);
}

TEST_F(Face, NothingIsKeptOnceRecordingIsOver) {
  tests::fake_recorder_reset(false);
  EXPECT_FALSE(is_on());
  EXPECT_FALSE(begin_device_log(trace::DeviceApi::opencl));
  EXPECT_FALSE(call_begins("clFinish"));
  operation_executed({});
  device_records_lost(RawDeviceLoss::dropped);
  EXPECT_EQ(add_queue({}), QueueNumber::none);
  EXPECT_TRUE(fake_records().empty());
}

TEST_F(Face, NumbersOfOperationsAreUnique) {
  std::vector<std::vector<OperationNumber>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 1000; ++i) mine.push_back(next_operation());
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<OperationNumber> all;
  for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  EXPECT_EQ(std::unique(all.begin(), all.end()), all.end());
  // CUPTI numbers its own with 32 bits.
  EXPECT_GT(static_cast<uint64_t>(all.front()), uint64_t{UINT32_MAX});
}

}  // namespace
}  // namespace culprit::gpu
