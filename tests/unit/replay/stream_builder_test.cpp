// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a stream's events become, also of those that are missing, late, or make no sense.
#include "replay/read/stream_builder.h"

#include <gtest/gtest.h>

namespace culprit::replay {
namespace {

using trace::CopyDirection;
using trace::DeviceOpKind;
using trace::RegionRole;

constexpr RegionId kKernel(0), kBarrier(1), kFlush(2), kTransfer(3), kIn(4), kOut(5);

Time at(int64_t ns) {
  return Time::from_nanos(ns);
}

class Stream {
 public:
  StreamBuilder& operator()() { return builder_; }

  void get(int64_t time, uint64_t bytes) {
    trace::RmaOperation what{};
    what.op = trace::RmaOp::get;
    what.bytes_received = bytes;
    builder_.rma_operation(at(time), what);
  }
  void put(int64_t time, uint64_t bytes) {
    trace::RmaOperation what{};
    what.op = trace::RmaOp::put;
    what.bytes_sent = bytes;
    builder_.rma_operation(at(time), what);
  }
  void complete(int64_t time) { builder_.rma_complete(at(time), WindowId(0), {}, {}); }

 private:
  const std::vector<trace::Region> regions_{
      {"kernel", RegionRole::kernel, trace::Paradigm::cuda, "", 0},
      {"wait", RegionRole::barrier, trace::Paradigm::cuda, "", 0},
      {"flush", RegionRole::artificial, trace::Paradigm::cuda, "", 0},
      {"copy", RegionRole::data_transfer, trace::Paradigm::cuda, "", 0}};
  StreamBuilder builder_{regions_, {kIn, kOut}};
};

void expect(const DeviceOperation& operation, int64_t begin, int64_t end, RegionId region,
            DeviceOpKind kind) {
  EXPECT_EQ(operation.begin, at(begin));
  EXPECT_EQ(operation.end, at(end));
  EXPECT_EQ(operation.region, region);
  EXPECT_EQ(operation.kind, kind);
}

TEST(StreamBuilder, TakesVisitsForOperations) {
  Stream stream;
  stream().enter(at(1), kKernel);
  stream().leave(at(3), kKernel);
  stream().enter(at(3), kBarrier);
  stream().leave(at(4), kBarrier);
  stream().enter(at(4), kFlush);  // no operation
  stream().leave(at(8), kFlush);
  stream().enter(at(9), kTransfer);
  trace::DeviceOperation told;
  told.operation = trace::OperationNumber{7};
  told.kind = DeviceOpKind::copy;
  told.direction = CopyDirection::within_device;
  told.memory = trace::HostMemory::pinned;
  told.bytes = 64;
  stream().device_operation(at(9), told);
  stream().leave(at(12), kTransfer);
  const Timeline line = stream().take();
  ASSERT_EQ(line.device.operations.size(), 3u);
  expect(line.device.operations[0], 1, 3, kKernel, DeviceOpKind::kernel);
  expect(line.device.operations[1], 3, 4, kBarrier, DeviceOpKind::wait);
  expect(line.device.operations[2], 9, 12, kTransfer, DeviceOpKind::copy);
  EXPECT_EQ(line.device.operations[2].operation, trace::OperationNumber{7});
  EXPECT_EQ(line.device.operations[2].direction, CopyDirection::within_device);
  EXPECT_EQ(line.device.operations[2].memory, trace::HostMemory::pinned);
  EXPECT_EQ(line.device.operations[2].bytes, 64u);
  EXPECT_EQ(line.events, 6u);
  EXPECT_EQ(line.first, at(1));
  EXPECT_EQ(line.last, at(12));
}

/// What the device gets from its host goes to the device.
TEST(StreamBuilder, TakesOneSidedCommunicationForCopies) {
  Stream stream;
  stream.get(1, 100);
  stream.complete(4);
  stream.put(5, 200);
  stream.complete(9);
  const Timeline line = stream().take();
  ASSERT_EQ(line.device.operations.size(), 2u);
  expect(line.device.operations[0], 1, 4, kIn, DeviceOpKind::copy);
  EXPECT_EQ(line.device.operations[0].direction, CopyDirection::to_device);
  EXPECT_EQ(line.device.operations[0].bytes, 100u);
  expect(line.device.operations[1], 5, 9, kOut, DeviceOpKind::copy);
  EXPECT_EQ(line.device.operations[1].direction, CopyDirection::from_device);
  EXPECT_EQ(line.device.operations[1].bytes, 200u);
}

TEST(StreamBuilder, EndsWhatNobodyEnded) {
  Stream stream;
  stream.get(1, 8);
  stream().enter(at(3), kKernel);  // the copy's completion is missing
  stream.complete(5);              // of no copy that is under way
  stream().leave(at(6), kKernel);
  stream().enter(at(8), kKernel);  // its end is missing
  const Timeline line = stream().take();
  ASSERT_EQ(line.device.operations.size(), 3u);
  expect(line.device.operations[0], 1, 3, kIn, DeviceOpKind::copy);
  expect(line.device.operations[1], 3, 6, kKernel, DeviceOpKind::kernel);
  expect(line.device.operations[2], 8, 8, kKernel, DeviceOpKind::kernel);
}

TEST(StreamBuilder, IgnoresWhatBelongsToNoOperation) {
  Stream stream;
  stream().leave(at(1), kKernel);
  stream.complete(2);
  stream().device_operation(at(3),
                            {trace::OperationNumber{1}, DeviceOpKind::copy, {}, {}, 0, {}, 0});
  EXPECT_TRUE(stream().take().empty());
  Stream next;
  next().enter(at(4), kKernel);
  next().enter(at(5), kBarrier);  // inside: not of its own
  next().leave(at(6), kBarrier);
  next().leave(at(7), kKernel);
  next().device_operation(at(8), {trace::OperationNumber{1}, DeviceOpKind::copy, {}, {}, 0, {}, 0});
  const Timeline line = next().take();
  ASSERT_EQ(line.device.operations.size(), 1u);
  expect(line.device.operations[0], 4, 7, kKernel, DeviceOpKind::kernel);
  EXPECT_EQ(line.device.operations[0].operation, trace::OperationNumber::none);
}

TEST(StreamBuilder, KeepsOperationsInOrderWhateverTheirTimes) {
  Stream stream;
  stream().enter(at(10), kKernel);
  stream().leave(at(4), kKernel);  // ends before it begins
  stream().enter(at(10), kKernel);
  stream().leave(at(20), kKernel);
  stream().enter(at(15), kKernel);  // begins before the one before has ended
  stream().leave(at(18), kKernel);
  stream().enter(at(20), kKernel);
  stream().leave(at(20), kKernel);
  const Timeline line = stream().take();
  ASSERT_EQ(line.device.operations.size(), 4u);
  expect(line.device.operations[0], 10, 10, kKernel, DeviceOpKind::kernel);
  expect(line.device.operations[1], 10, 20, kKernel, DeviceOpKind::kernel);
  expect(line.device.operations[2], 20, 20, kKernel, DeviceOpKind::kernel);
  expect(line.device.operations[3], 20, 20, kKernel, DeviceOpKind::kernel);
  EXPECT_EQ(line.last, at(20));
}

}  // namespace
}  // namespace culprit::replay
