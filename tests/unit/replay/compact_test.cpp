// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What ranks send each other in few bytes arrives as it was, field by field, whatever it says.
#include "replay/model/compact.h"

#include <gtest/gtest.h>

#include <random>

#include "replay/match/remote_parts.h"
#include "replay/match/remote_sends.h"

namespace culprit::replay {
namespace {

/// Numbers of all sizes, among them the smallest, the largest and "none".
class Numbers {
 public:
  template <class T>
  T any() {
    const auto number = static_cast<typename CompactField<T>::Number>(
        random_() % 8 == 0 ? ~uint64_t{0} : random_() >> (random_() % 64));
    return std::bit_cast<T>(number);
  }
  Call call() { return {any<Time>(), any<Time>(), any<CallPathId>()}; }

 private:
  std::mt19937_64 random_{1};
};

void expect_same(const Call& a, const Call& b) {
  EXPECT_EQ(a.enter, b.enter);
  EXPECT_EQ(a.leave, b.leave);
  EXPECT_EQ(a.path, b.path);
}

TEST(Compact, BringsEveryFieldOfAPart) {
  Numbers numbers;
  std::vector<RemotePart> sent(1000);
  PartWriter writer;
  for (RemotePart& part : sent) {
    part.op.root = numbers.any<uint32_t>();
    part.op.sends_to = numbers.any<culprit::GroupId>();
    part.op.receives_from = numbers.any<culprit::GroupId>();
    part.op.op = numbers.any<trace::CollectiveOp>();
    part.op.may_wait = numbers.any<uint8_t>() % 2 == 1;
    part.posted_by = numbers.any<LocationId>();
    part.location = numbers.any<LocationId>();
    part.posted = numbers.call();
    part.completed = numbers.call();
    writer.add(
        {&part.op, 0, Side::whole, part.posted_by, part.location, part.posted, part.completed});
  }
  PartReader reader(writer.bytes());
  for (const RemotePart& part : sent) {
    const RemotePart& came = reader.next(CommId(7));
    EXPECT_EQ(came.op.comm, CommId(7));
    EXPECT_EQ(came.op.root, part.op.root);
    EXPECT_EQ(came.op.sends_to, part.op.sends_to);
    EXPECT_EQ(came.op.receives_from, part.op.receives_from);
    EXPECT_EQ(came.op.op, part.op.op);
    EXPECT_EQ(came.op.may_wait, part.op.may_wait);
    EXPECT_EQ(came.posted_by, part.posted_by);
    EXPECT_EQ(came.location, part.location);
    expect_same(came.posted, part.posted);
    expect_same(came.completed, part.completed);
  }
}

TEST(Compact, BringsEveryFieldOfASend) {
  Numbers numbers;
  std::vector<RemoteSend> sent(1000);
  CompactWriter writer;
  RemoteSend before;
  for (RemoteSend& send : sent) {
    send.channel = {numbers.any<CommId>(), numbers.any<int32_t>(), numbers.any<uint32_t>()};
    send.bytes = numbers.any<uint32_t>();
    send.post = {numbers.any<LocationId>(), numbers.call()};
    send.message = {numbers.call(),
                    numbers.call(),
                    numbers.any<LocationId>(),
                    numbers.any<LocationId>(),
                    numbers.any<uint8_t>() % 2 == 1,
                    numbers.any<uint8_t>()};
    code_send(writer, send, before);
    before = send;
  }
  const RemoteSends::Pair pair{ProcessId(0), ProcessId(1), true, writer.bytes()};
  std::vector<RemoteSend> all;
  RemoteSends::unpack(pair, all);
  ASSERT_EQ(all.size(), sent.size());
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].channel, sent[i].channel);
    EXPECT_EQ(all[i].bytes, sent[i].bytes);
    EXPECT_EQ(all[i].post.location, sent[i].post.location);
    expect_same(all[i].post.call, sent[i].post.call);
    expect_same(all[i].message.met, sent[i].message.met);
    expect_same(all[i].message.completed, sent[i].message.completed);
    EXPECT_EQ(all[i].message.met_at, sent[i].message.met_at);
    EXPECT_EQ(all[i].message.completed_at, sent[i].message.completed_at);
    EXPECT_EQ(all[i].message.may_wait, sent[i].message.may_wait);
    EXPECT_EQ(all[i].message.flow, sent[i].message.flow);
  }
}

/// A process that sends again and again: an enter of four bytes, little else that changes.
TEST(Compact, TakesFewBytes) {
  CompactWriter writer;
  RemoteSend before;
  constexpr int64_t kSends = 1000;
  for (int64_t i = 0; i < kSends; ++i) {
    const Call call{Time::from_nanos(i * 1'000'000), Time::from_nanos(i * 1'000'000 + 1500 + i),
                    CallPathId(12)};
    RemoteSend send{{CommId(0), 3, 0},
                    4096,
                    {LocationId(9), call},
                    {call, call, LocationId(9), LocationId(9), true}};
    code_send(writer, send, before);
    before = send;
  }
  EXPECT_LE(writer.bytes().size(), size_t{26 * kSends});
}

}  // namespace
}  // namespace culprit::replay
