// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Graphs of waiting, drawn as one line a node: "0: 1&2 3|4" waits for 1 and for 2, and for 3 or 4;
// "-" is a need that nobody can meet; a node without a line goes on.
#include "assemble/stuck/wait_graph.h"

#include <gtest/gtest.h>

#include <sstream>

namespace culprit::assemble::stuck {
namespace {

std::vector<Node> graph(size_t size, const std::string& lines) {
  std::vector<Node> nodes(size);
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line, ';');) {
    std::istringstream words(line);
    size_t node;
    char colon;
    words >> node >> colon;
    nodes[node].waits = true;
    for (std::string word; words >> word;) {
      Need need;
      std::istringstream others(word == "-" ? "" : word);
      for (std::string other; std::getline(others, other, '|');) {
        need.any_of.push_back(std::stoul(other));
      }
      nodes[node].needs.push_back(need);
    }
  }
  return nodes;
}

/// "deadlock 0 1 behind 2; unanswered 3"
std::string found(size_t size, const std::string& lines) {
  std::string text;
  for (const Group& group : find_stuck(graph(size, lines))) {
    if (!text.empty()) text += "; ";
    text += group.kind == Kind::deadlock ? "deadlock" : "unanswered";
    for (const size_t node : group.circle) text += " " + std::to_string(node);
    if (group.kind == Kind::deadlock && !group.behind.empty()) text += " behind";
    for (const size_t node : group.behind) text += " " + std::to_string(node);
  }
  return text;
}

TEST(WaitGraph, NobodyWaits) {
  EXPECT_EQ(found(3, ""), "");
}
TEST(WaitGraph, WhoWaitsForOneThatGoesOnIsNotStuck) {
  EXPECT_EQ(found(3, "0: 1;1: 2"), "");
}
TEST(WaitGraph, TwoForEachOther) {
  EXPECT_EQ(found(2, "0: 1;1: 0"), "deadlock 0 1");
}
TEST(WaitGraph, ForItself) {
  EXPECT_EQ(found(2, "1: 1;0: 1"), "deadlock 1 behind 0");
}
TEST(WaitGraph, ACircleIsToldInItsOrder) {
  EXPECT_EQ(found(4, "0: 2;2: 1;1: 3;3: 0"), "deadlock 0 2 1 3");
}
TEST(WaitGraph, AllNeedsMustBeMet) {
  EXPECT_EQ(found(3, "0: 1 2;1: 0"), "deadlock 0 1");
  EXPECT_EQ(found(3, "0: 1|2;1: 0"), "");
}
TEST(WaitGraph, AnyOfSeveralThatAreAllStuck) {
  EXPECT_EQ(found(3, "0: 1|2;1: 0;2: 0"), "deadlock 0 1 2");
}
TEST(WaitGraph, NobodyIsLeft) {
  EXPECT_EQ(found(3, "0: -;1: 0;2: 1"), "unanswered 0 1 2");
}
TEST(WaitGraph, DeadlocksComeFirst) {
  EXPECT_EQ(found(5, "0: -;1: 2;2: 1;3: 4;4: 3"), "deadlock 1 2; deadlock 3 4; unanswered 0");
}
TEST(WaitGraph, WhoWaitsForAMetNeedTooIsStillBehind) {
  EXPECT_EQ(found(4, "0: 3 1;1: 2;2: 1"), "deadlock 1 2 behind 0");
}
TEST(WaitGraph, VeryManyInACircle) {
  constexpr size_t kMany = 200'000;
  std::vector<Node> nodes(kMany);
  for (size_t i = 0; i < kMany; ++i) {
    nodes[i].waits = true;
    nodes[i].needs.push_back({{(i + 1) % kMany}, 0, ""});
  }
  const std::vector<Group> groups = find_stuck(nodes);
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].circle.size(), kMany);
}

}  // namespace
}  // namespace culprit::assemble::stuck
