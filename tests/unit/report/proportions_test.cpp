// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// No part exceeds its whole, in any picture: what the text shows as a percentage is at most 100,
// and what JSON calls a share at most 1. And which quotients there cannot be.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <regex>

#include "blame/amount.h"
#include "blame/analyze.h"
#include "report/formats.h"
#include "tests/support/pictures.h"
#include "tests/support/text/text.h"

namespace culprit::report {
namespace {

using blame::Amount;
using blame::Proportion;
using Json = nlohmann::json;

template <class Part, class Whole>
concept Divides = requires(Amount<Part> part, Amount<Whole> whole) { Proportion::of(part, whole); };

static_assert(Divides<blame::OwnWaiting, blame::OwnWaiting>);
static_assert(Divides<blame::OwnWaiting, blame::OwnAllocation>);
static_assert(Divides<blame::OwnWaiting, blame::Allocation>);
static_assert(Divides<blame::Waiting, blame::Allocation>);
static_assert(!Divides<blame::Waiting, blame::OwnWaiting>);
static_assert(!Divides<blame::Waiting, blame::OwnAllocation>);
static_assert(!Divides<blame::Allocation, blame::OwnAllocation>);
static_assert(!Divides<blame::OwnWaiting, blame::Run>);
static_assert(!Divides<blame::Run, blame::Allocation>);

constexpr double kRounding = 1e-9;

/// Percentages above 100 in a text, with what stands before them.
std::vector<std::string> too_large(const std::string& text) {
  static const std::regex kPercentage("[^\n]{0,60}?([0-9]+(\\.[0-9]+)?) %");
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), kPercentage), end; at != end; ++at) {
    if (std::stod((*at)[1]) > 100) found.push_back(at->str());
  }
  return found;
}

/// Everything called a share, and how deep down.
void look_for_shares(const Json& value, const std::string& path, std::vector<std::string>& found) {
  if (value.is_object() || value.is_array()) {
    for (const auto& [key, each] : value.items()) look_for_shares(each, path + '/' + key, found);
  } else if (value.is_number() && path.ends_with("share") &&
             (value.get<double>() > 1 + kRounding || value.get<double>() < -kRounding)) {
    found.push_back(path + " = " + value.dump());
  }
}

TEST(Proportions, OfNothingAreUnknown) {
  const Amount<blame::Run> nothing, second(1);
  EXPECT_FALSE(Proportion::of(nothing, nothing).known());
  EXPECT_DOUBLE_EQ(Proportion::of(nothing, second).value(), 0);
  EXPECT_DOUBLE_EQ(Proportion::of(0.5 * second, second).value(), 0.5);
}

TEST(Proportions, AreSeenWhereTheyAreTooLarge) {
  EXPECT_EQ(too_large("12.5 % of it, 100.0 %\n 115.1 % and 181.8 %").size(), 2);
  std::vector<std::string> found;
  look_for_shares(Json::parse(R"({"causes": [{"share": 0.5}, {"share": 1.2}]})"), "", found);
  EXPECT_EQ(found.size(), 1);
}

class InPicture : public testing::TestWithParam<std::string> {};

TEST_P(InPicture, NoPartExceedsItsWhole) {
  std::ifstream file(std::filesystem::path(PICTURES) / (GetParam() + ".txt"));
  const std::string drawing((std::istreambuf_iterator<char>(file)), {});
  const auto picture = trace::TextTrace::parse(drawing);
  ASSERT_TRUE(picture.ok()) << picture.error().sentence;
  const auto found = blame::analyze(**picture, {.threads = 1}, {});
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_EQ(too_large(text(*found, {})), std::vector<std::string>());
  std::vector<std::string> shares;
  look_for_shares(Json::parse(json(*found, {})), "", shares);
  EXPECT_EQ(shares, std::vector<std::string>());
}

INSTANTIATE_TEST_SUITE_P(All, InPicture, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace culprit::report
