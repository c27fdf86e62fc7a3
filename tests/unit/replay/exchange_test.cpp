// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What analysis ranks tell each other arrives, by whom it came from; shares cover all processes.
#include "base/ranks/exchange.h"

#include <gtest/gtest.h>

#include "replay/model/shares.h"
#include "tests/support/rank_threads.h"

namespace culprit::replay {
namespace {

using testing_support::RankThreads;

TEST(Exchange, EverybodyGetsWhatEachHadForIt) {
  const size_t size = 3;
  RankThreads(size).run([size](Transport& ranks) {
    std::vector<Column<uint32_t>> to(size);
    // Rank r has r + t values for t: rank 0 has none for itself.
    for (uint32_t t = 0; t < size; ++t) {
      for (uint32_t i = 0; i < ranks.rank() + t; ++i) {
        to[t].push_back(static_cast<uint32_t>(100 * ranks.rank() + 10 * t + i));
      }
    }
    const auto got = exchange(ranks, std::move(to));
    ASSERT_EQ(got.size(), size);
    for (uint32_t r = 0; r < size; ++r) {
      ASSERT_EQ(got[r].size(), r + ranks.rank());
      for (uint32_t i = 0; i < got[r].size(); ++i) {
        EXPECT_EQ(got[r][i], 100 * r + 10 * ranks.rank() + i);
      }
    }
  });
}

TEST(Exchange, ReducesInTheOrderOfRanks) {
  RankThreads(4).run([](Transport& ranks) {
    const auto digits =
        reduce(ranks, static_cast<int>(ranks.rank()) + 1, [](int a, int b) { return 10 * a + b; });
    EXPECT_EQ(digits, 1234);
    EXPECT_EQ(sum(ranks, uint64_t{ranks.rank()}), 6u);
  });
}

TEST(Exchange, GathersOnTheFirstAndSharesWhatTheFirstHas) {
  RankThreads(3).run([](Transport& ranks) {
    Packer packer;
    packer.put("rank " + std::to_string(ranks.rank()));
    packer.put_list(std::span<const double>({0.5, 1.5}));
    const auto all = gather(ranks, packer.take());
    if (ranks.rank() == 0) {
      for (size_t r = 0; r < 3; ++r) {
        Unpacker unpacker(all[r]);
        EXPECT_EQ(unpacker.get_string(), "rank " + std::to_string(r));
        EXPECT_EQ(unpacker.get_list<double>(), (std::vector{0.5, 1.5}));
        EXPECT_TRUE(unpacker.done());
      }
    } else {
      for (const Parcel& parcel : all) EXPECT_TRUE(parcel.empty());
    }
    Packer own;
    own.put(ranks.rank() + 7);
    EXPECT_EQ(Unpacker(share_of_first(ranks, own.take())).get<size_t>(), 7u);
  });
}

TEST(Exchange, AddsUpListsOfAnyLengthPlaceByPlace) {
  for (const size_t length : {0u, 1u, 3u, 10u}) {
    RankThreads(4).run([length](Transport& ranks) {
      std::vector<uint64_t> values(length);
      for (size_t i = 0; i < length; ++i) values[i] = 10 * i + ranks.rank();
      add_up(ranks, values);
      ASSERT_EQ(values.size(), length);
      for (size_t i = 0; i < length; ++i) EXPECT_EQ(values[i], 40 * i + 6);
    });
  }
}

TEST(Shares, OfProcessesWithoutLocations) {
  trace::Definitions definitions;
  definitions.processes.resize(3);
  const Shares shares(definitions, 2);
  for (size_t p = 0; p < 3; ++p) EXPECT_LT(shares.owner(ProcessId(p)), 2u);
}

TEST(Shares, AreRunsOfProcessesWithAboutAsManyEvents) {
  trace::Definitions definitions;
  for (uint64_t events : {90, 10, 30, 30, 40, 100}) {
    const ProcessId process(definitions.processes.size());
    definitions.processes.emplace_back();
    definitions.locations.push_back({"", trace::LocationKind::cpu_thread, process, 0, 0, events});
  }
  const auto owners = [&](size_t ranks) {
    const Shares shares(definitions, ranks);
    std::vector<size_t> all;
    for (size_t p = 0; p < definitions.processes.size(); ++p) {
      all.push_back(shares.owner(ProcessId(p)));
    }
    return all;
  };
  EXPECT_EQ(owners(1), (std::vector<size_t>{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(owners(3), (std::vector<size_t>{0, 0, 1, 1, 1, 2}));
  // More ranks than processes: the largest still goes to one, and none is lost.
  const std::vector<size_t> many = owners(10);
  EXPECT_TRUE(std::is_sorted(many.begin(), many.end()));
  EXPECT_LT(many.back(), 10u);
}

}  // namespace
}  // namespace culprit::replay
