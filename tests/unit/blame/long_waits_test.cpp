// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A life can be counted in nanoseconds of 64 bits (292 years); what all locations of a run wait
// together may be more.
#include <gtest/gtest.h>

#include "blame/analyze.h"

namespace culprit {
namespace {

constexpr int64_t kYear = int64_t{365} * 86'400 * 1'000'000'000;

/// Processes of one thread, each in main() for as many years as it says.
class Lives final : public trace::Source {
 public:
  explicit Lives(std::vector<int64_t> years) : years_(std::move(years)) {
    definitions_.regions.push_back(
        {"main", trace::RegionRole::function, trace::Paradigm::user, {}, 0});
    for (size_t p = 0; p < years_.size(); ++p) {
      definitions_.processes.push_back({"rank", "node", static_cast<uint32_t>(p), {LocationId(p)}});
      definitions_.locations.push_back(
          {"thread", trace::LocationKind::cpu_thread, ProcessId(p), 0, 0, 0});
    }
  }
  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    sink.enter(Time::from_nanos(0), RegionId(0));
    sink.leave(Time::from_nanos(years_[id.index()] * kYear), RegionId(0));
    return {};
  }

 private:
  const std::vector<int64_t> years_;
  trace::Definitions definitions_;
};

/// Three wait for the last to end: 146 + 145 + 144 = 435 years. On the path is the last one's life,
/// 150 years; of that, 150 - (4 + 5 + 6 + 150) / 4 = 108.75 are imbalance.
TEST(LongWaits, AddUpToMoreThanALife) {
  const Lives trace({4, 5, 6, 150});
  const auto found = blame::analyze(trace, {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  const double year = static_cast<double>(kYear) * 1e-9;
  const blame::Identities& sums = found.value().identities;
  EXPECT_DOUBLE_EQ(sums.waiting_s, 435 * year);
  EXPECT_DOUBLE_EQ(sums.delay_costs_s, 435 * year);
  EXPECT_DOUBLE_EQ(sums.imbalance_costs_s, 435 * year);
  ASSERT_EQ(found.value().critical_callpaths.size(), 1u);
  EXPECT_DOUBLE_EQ(found.value().critical_callpaths[0].imbalance_s, 108.75 * year);
  for (const std::string& sentence : sums.violations) ADD_FAILURE() << sentence;
}

/// The same for what they do: 4 * 150 years.
TEST(LongWaits, SoDoesWhatAllDo) {
  const Lives trace({150, 150, 150, 150});
  const auto found = blame::analyze(trace, {.threads = 1}, {});
  ASSERT_TRUE(found.ok());
  const double year = static_cast<double>(kYear) * 1e-9;
  EXPECT_DOUBLE_EQ(found.value().run.allocation_s, 600 * year);
  ASSERT_EQ(found.value().critical_callpaths.size(), 1u);
  EXPECT_DOUBLE_EQ(found.value().critical_callpaths[0].activity_s, 600 * year);
  EXPECT_NEAR(found.value().critical_callpaths[0].imbalance_s, 0, 1e-6);
}

}  // namespace
}  // namespace culprit
