// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The same run, as culprit records it and as PyTorch's profiler would have: waits and their causes
// are the same.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

#include "blame/analyze.h"
#include "folder.h"
#include "kineto_writer.h"
#include "tests/support/text/text.h"
#include "trace/any/open_trace.h"

namespace culprit::trace {
namespace {

/// Seconds by wait state or delay: its pattern, its call path, its rank, and whether on a device.
using Costs = std::map<std::tuple<std::string, std::string, uint32_t, bool>, double>;

struct Verdict {
  Costs waits, delays;
};

Verdict analyzed(const Source& source) {
  const Losses losses;
  const auto findings = blame::analyze(source, {}, losses);
  Verdict verdict;
  EXPECT_TRUE(findings) << (findings ? "" : findings.error().sentence);
  if (!findings) return verdict;
  const auto key = [&](const auto& row) {
    const auto& location = findings->locations[row.location.index()];
    return std::tuple(row.pattern, findings->callpaths[row.callpath.index()].name, location.rank,
                      !location.stream.empty());
  };
  for (const auto& row : findings->waits) verdict.waits[key(row)] += row.time_s;
  for (const auto& row : findings->delays) verdict.delays[key(row)] += row.short_s + row.long_s;
  return verdict;
}

void expect_equal(const Costs& ours, const Costs& theirs) {
  for (const auto& [key, cost] : ours) {
    const auto other = theirs.find(key);
    EXPECT_NEAR(other != theirs.end() ? other->second : 0, cost, 1e-6)
        << std::get<0>(key) << " at " << std::get<1>(key) << " of rank " << std::get<2>(key);
  }
  EXPECT_EQ(ours.size(), theirs.size());
}

class SameVerdict : public testing::TestWithParam<std::tuple<const char*, SyncRecords>> {};

TEST_P(SameVerdict, AsOfCulpritsOwnTrace) {
  const auto& [name, syncs] = GetParam();
  std::ostringstream picture;
  picture << std::ifstream(std::string(PICTURES) + "/" + name + ".txt").rdbuf();
  const auto ours = TextTrace::parse(picture.str());
  ASSERT_TRUE(ours) << ours.error().sentence;
  const Folder folder;
  size_t rank = 0;
  for (const std::string& text : as_kineto(**ours, syncs)) {
    folder.write(std::to_string(rank++) + ".json", text);
  }
  Losses losses;
  std::vector<std::string> notes;
  const auto theirs = open_traces(find_traces(folder.path()), 2, losses, notes);
  ASSERT_TRUE(theirs) << theirs.error().sentence;
  EXPECT_TRUE(losses.all().empty());
  const Verdict expected = analyzed(**ours), found = analyzed(**theirs);
  EXPECT_FALSE(expected.waits.empty());
  expect_equal(expected.waits, found.waits);
  expect_equal(expected.delays, found.delays);
}

std::string name_of(const testing::TestParamInfo<SameVerdict::ParamType>& info) {
  const bool with = std::get<1>(info.param) == SyncRecords::written;
  return std::string(std::get<0>(info.param)) + (with ? "" : "_by_name");
}

INSTANTIATE_TEST_SUITE_P(Pictures, SameVerdict,
                         testing::Values(std::tuple("device_latency", SyncRecords::written),
                                         std::tuple("device_launch_bound", SyncRecords::written),
                                         std::tuple("device_no_more_work", SyncRecords::written),
                                         std::tuple("device_two_streams", SyncRecords::written),
                                         std::tuple("device_communication", SyncRecords::written),
                                         std::tuple("device_communication", SyncRecords::left_out),
                                         std::tuple("device_latency", SyncRecords::left_out)),
                         name_of);

}  // namespace
}  // namespace culprit::trace
