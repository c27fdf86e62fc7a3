// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Machines on their way through a file, links fitted to times that are known, and files that are
// wrong in each way there is.
#include "predict/machine/machine.h"

#include <gtest/gtest.h>

#include "predict/machine/ping_pong.h"
#include "tests/support/rank_threads.h"

namespace culprit::predict {
namespace {

constexpr Duration nanos(int64_t ns) {
  return Duration::from_nanos(ns);
}

/// 1 us and a nanosecond a byte, and 5 us more from `step` on.
Link measured_link(uint64_t step = 0) {
  Link link;
  for (uint64_t bytes = 1; bytes <= (1u << 20); bytes *= 2) {
    const double more = step != 0 && bytes >= step ? 5'000 : 0;
    const double ns = 1'000 + static_cast<double>(bytes) + more;
    link.sizes.push_back({bytes, Distribution::of({ns * 0.99, ns, ns, ns, ns * 3})});
  }
  fit(link);
  return link;
}

Machine full_machine() {
  Machine machine{"1.2", "2026-01-02T03:04:05+0000", {"a", "b"}, "openmpi", {}, {}};
  machine.noise.measured = nanos(2'000'000'000);
  machine.noise.quantum = nanos(1'000'000);
  machine.noise.shortest = nanos(1'000);
  machine.noise.detours = {Distribution::of({1'500, 2'500, 4e6}), 12.25};
  machine.noise.stolen = Distribution::of({0, 0, 0, 25'000.5});
  machine.noise.cores = {{"a", 0, 2, nanos(4'000'000), 0.125}, {"b", 7, 1, nanos(1'500), 0}};
  machine.links = {measured_link(4096)};
  machine.links[0].hosts = {"a", "a"};
  machine.links[0].send_overhead = nanos(120);
  machine.links[0].receive_overhead = nanos(80);
  return machine;
}

TEST(Machine, ComesBackFromItsFile) {
  const Machine machine = full_machine();
  const auto read = from_json(to_json(machine), "m.json");
  ASSERT_TRUE(read.ok()) << read.error().sentence;
  Machine back = *read;
  // Of the bandwidth, the file has the inverse.
  EXPECT_NEAR(back.links[0].ns_per_byte, machine.links[0].ns_per_byte, 1e-12);
  back.links[0].ns_per_byte = machine.links[0].ns_per_byte;
  EXPECT_EQ(back, machine);
}

TEST(Machine, MayBeWrittenByHand) {
  const auto machine = from_json(
      R"json({"format": "culprit machine 1", "noise": {"detours": "exponential(10us)",
          "detours_per_second_of_work": 100},
          "links": [{"between": "other node", "latency_ns": 1500, "bytes_per_second": 2e9}]})json",
      "m.json");
  ASSERT_TRUE(machine.ok()) << machine.error().sentence;
  EXPECT_EQ(machine->noise.detours.length, Distribution(Exponential{10'000}));
  ASSERT_NE(machine->link(LinkKind::other_node), nullptr);
  EXPECT_EQ(machine->link(LinkKind::same_node), nullptr);
  EXPECT_EQ(message_time(machine->links[0], 1'000).nanos(), 2'000);
}

TEST(Machine, IsRefusedWithASentence) {
  const std::string whole = to_json(full_machine());
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const size_t at = text.find(from);
    EXPECT_NE(at, text.npos) << from;
    return text.replace(at, from.size(), to);
  };
  const std::vector<std::string> texts = {
      "",
      "[]",
      "{",
      "{}",
      whole.substr(0, whole.size() / 2),
      changed("culprit machine 1", "culprit machine 2"),
      changed("\"detours_per_second_of_work\": 12.25", "\"detours_per_second_of_work\": -1"),
      changed("\"detours_per_second_of_work\": 12.25", "\"detours_per_second_of_work\": \"many\""),
      changed("detours_per_second_of_work", "something_else"),
      changed("\"values_ns\"", "\"values\""),
      changed("1500.0", "9500.0"),
      changed("same node", "same room"),
      changed("\"latency_ns\"", "\"latency\""),
      changed("\"bytes\": 2,", "\"bytes\": 1,"),
      changed("\"links\": [", "\"links\": [7, "),
      R"({"format": "culprit machine 1"})",
      R"({"format": "culprit machine 1", "noise": {"detours": "often",
          "detours_per_second_of_work": 1}})",
  };
  for (const std::string& text : texts) {
    const auto read = from_json(text, "m.json");
    ASSERT_FALSE(read.ok()) << text.substr(0, 200);
    EXPECT_EQ(read.error().sentence.find("'m.json' is no file of culprit machine: "), 0u);
    EXPECT_EQ(read.error().sentence.find('\n'), std::string::npos);
  }
  EXPECT_EQ(read_machine("/nowhere/m.json").error().sentence, "cannot read '/nowhere/m.json'");
}

TEST(NoiseOf, TakesFormulasAndFiles) {
  EXPECT_EQ(noise_of("constant(1us)@1Hz").value().per_second_of_work, 1);
  EXPECT_NE(noise_of("/nowhere/m.json").error().sentence.find("/nowhere/m.json"),
            std::string::npos);
}

TEST(Fit, FindsLatencyAndBandwidth) {
  const Link link = measured_link();
  EXPECT_EQ(link.latency.nanos(), 1'001);
  EXPECT_NEAR(link.ns_per_byte, 1, 1e-9);
  EXPECT_NEAR(link.bytes_per_second(), 1e9, 1);
  EXPECT_EQ(link.step_bytes, 0u);
}

TEST(Fit, FindsWhereTheProtocolChanges) {
  const Link link = measured_link(4096);
  EXPECT_EQ(link.step_bytes, 4096u);
  EXPECT_EQ(link.step.nanos(), 5'000);
}

TEST(Fit, TakesNoChanceForAStep) {
  Link link = measured_link();
  // One size is slower in its median, but its times and those before overlap.
  link.sizes[8].time = Distribution::of({1'100, 1'200, 3'000, 3'100, 9'000});
  link.sizes[7].time = Distribution::of({1'000, 1'100, 1'128, 1'500, 9'000});
  fit(link);
  EXPECT_EQ(link.step_bytes, 0u);
}

TEST(MessageTime, LiesBetweenSizesMeasured) {
  const Link link = measured_link(4096);
  EXPECT_EQ(message_time(link, 0).nanos(), 1'001);
  EXPECT_EQ(message_time(link, 1).nanos(), 1'001);
  EXPECT_EQ(message_time(link, 1'500).nanos(), 2'500);
  EXPECT_EQ(message_time(link, 4'096).nanos(), 10'096);
  EXPECT_NEAR(static_cast<double>(message_time(link, 1 << 21).nanos()),
              6'000 + (1 << 20) + link.ns_per_byte * (1 << 20), 1);
}

TEST(MeasureLinks, AsksNobodyWhoCannotTimeMessages) {
  Alone alone;
  EXPECT_TRUE(measure_links(alone, {}).empty());
  testing_support::RankThreads(3).run(
      [](Transport& ranks) { EXPECT_TRUE(measure_links(ranks, {}).empty()); });
}

}  // namespace
}  // namespace culprit::predict
