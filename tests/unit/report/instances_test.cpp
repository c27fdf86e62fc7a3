// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/words/instances.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace culprit::report::test {
namespace {

constexpr size_t kWidth = 40;

std::string called(const std::string& name, std::vector<std::string> names) {
  names.push_back(name);
  const auto texts = short_instances(names, kWidth);
  const auto found = texts.find(name);
  return found == texts.end() ? name : found->second;
}

TEST(Instances, ShortNamesStay) {
  EXPECT_EQ(called("apply<Late>", {"apply<Early>"}), "apply<Late>");
  EXPECT_EQ(called("relax", {}), "relax");
}

TEST(Instances, WhatTheyShareIsLeftOut) {
  const std::string shared = "field::Vector<double, field::Aligned<64> >";
  EXPECT_EQ(called("apply<" + shared + ", Late>", {"apply<" + shared + ", Early>"}),
            "apply<..., Late>");
  EXPECT_EQ(called("apply<" + shared + ", " + shared + ", Late, 3>",
                   {"apply<" + shared + ", " + shared + ", Early, 3>"}),
            "apply<..., Late, 3>");
}

TEST(Instances, WhatDiffersStaysHoweverDeep) {
  const auto name = [](const std::string& policy) {
    return "solve<std::vector<double, pool::Allocator<double> >, Grid<mesh::Cell, " + policy +
           "> >::run";
  };
  EXPECT_EQ(called(name("Late"), {name("Early")}), "solve<..., Grid<..., Late>>::run");
}

TEST(Instances, TheOnlyOneNeedsNoArguments) {
  EXPECT_EQ(called("apply<std::vector<double>, std::map<int, double>, Late>", {"apply<int>"}),
            "apply<...>");
}

TEST(Instances, OperatorsAreNoBrackets) {
  const std::string name = "field::operator<< <field::Vector<double>, field::Aligned<64> >";
  EXPECT_EQ(called(name, {}), "field::operator<< <...>");
  EXPECT_EQ(called("a::operator-><std::vector<double, std::allocator<double>>>", {}),
            "a::operator-><...>");
}

TEST(Instances, DamagedNamesStay) {
  for (const std::string name : {"apply<std::vector<double, pool::Allocator<double> ", "f>>>>>>>",
                                 "(((((((((((((((((((((((((((((((((((((((((((((((<a, b"}) {
    EXPECT_EQ(called(name, {}), name);
  }
}

TEST(Instances, DifferentOnesRemainDifferent) {
  std::vector<std::string> names;
  for (const char* first : {"std::vector<double, std::allocator<double> >", "std::list<double>"}) {
    for (const char* second : {"Late", "Early", "policy::Guided<policy::Static<4>, 16>",
                               "policy::Guided<policy::Static<8>, 16>"}) {
      names.push_back(std::string("kernel::apply<") + first + ", " + second + ">::operator()");
    }
  }
  const auto texts = short_instances(names, kWidth);
  std::set<std::string> all;
  for (const std::string& name : names) {
    const auto found = texts.find(name);
    all.insert(found == texts.end() ? name : found->second);
  }
  EXPECT_EQ(all.size(), names.size()) << testing::PrintToString(all);
}

}  // namespace
}  // namespace culprit::report::test
