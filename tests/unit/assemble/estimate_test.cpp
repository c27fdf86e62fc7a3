// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/estimate.h"

#include <cstring>
#include <fstream>

#include "fixture.h"
#include "trace/raw/packed.h"

namespace culprit::assemble::test {
namespace {

using trace::RawKind;

class EstimateTest : public AssembleTest {
 protected:
  Estimate made() { return estimate(GuardedPath(folder_) / "raw").value(); }
  static const EstimateRow* row(const Estimate& estimate, const std::string& what) {
    for (const EstimateRow& row : estimate.rows) {
      if (row.what == what) return &row;
    }
    return nullptr;
  }
};

TEST_F(EstimateTest, SortsRecordsByWhatMakesThem) {
  {
    auto p = process();
    p->rank(0, 2).ended(1'000'000);
    p->process.event_cost_ps = 1000;
    p->process.path_cost_ps = 5000;
    p->thread(0)
        .enter(10, "MPI_Send", in_main({}))
        .send(10, 1, 8)
        .leave(12, "MPI_Send")
        .enter(20, "MPI_Recv", in_main({}))
        .recv(25, 1, 8)
        .leave(25, "MPI_Recv")
        .sample(30, in_main({"f"}));
    p->thread(1)
        .put(RawKind::omp_mutex_acquire, 10, 0, 0, {1, 2})
        .put(RawKind::omp_mutex_acquired, 11, 0, 0, {1, 2})
        .put(RawKind::omp_mutex_released, 12, 0, 0, {1, 2})
        // Noted in the acquire: acquired after 1, released after 3.
        .put(RawKind::omp_mutex_acquire, 20, 0, 0, {1, 2, 1 | uint64_t{3} << 32});
  }
  const Estimate found = made();
  EXPECT_EQ(found.processes, 1u);
  EXPECT_EQ(found.threads, 2u);
  EXPECT_TRUE(found.all_kept);
  const EstimateRow* send = row(found, "MPI_Send");
  const EstimateRow* locks = row(found, "OpenMP locks and critical sections");
  ASSERT_NE(send, nullptr);
  ASSERT_NE(locks, nullptr);
  EXPECT_EQ(send->records, 3);
  EXPECT_EQ(send->left_out, "");
  EXPECT_DOUBLE_EQ(send->cost_s, (3 * 1000 + 5000) * 1e-12);
  EXPECT_EQ(locks->records, 6);
  EXPECT_EQ(locks->bytes, 3 * 32 + 40);
  EXPECT_EQ(locks->left_out, "locks");
  EXPECT_EQ(row(found, "samples of the program's call stack")->records, 1);
  EXPECT_DOUBLE_EQ(row(found, "samples of the program's call stack")->cost_s,
                   (1000 + 5000) * 1e-12);
  double bytes = 0, records = 0;
  for (const EstimateRow& each : found.rows) bytes += each.bytes, records += each.records;
  EXPECT_DOUBLE_EQ(bytes, found.bytes);
  EXPECT_DOUBLE_EQ(records, found.records);
}

TEST_F(EstimateTest, WhatWasOnlyCountedIsLikeWhatWasKept) {
  constexpr uint64_t kFilled = 40;
  double on_disk = 1;
  process()->rank(0, 1).ended(1'000'000'000);
  const std::filesystem::path log = folder_ / "raw" / "node1.1.a" / "events.0";
  {
    std::ofstream file(log.string() + trace::kRawPackedSuffix, std::ios::binary);
    const auto packer = std::make_unique<trace::RawPacker>();
    std::string window;
    for (uint64_t i = 0; i < trace::kRawWindow / 32; ++i) {
      const trace::RawHeader header{kTicksAtZero + 10 + i, 0, 0, 2, RawKind::func_enter};
      window.append(reinterpret_cast<const char*>(&header), sizeof header).append(16, '\1');
    }
    for (uint64_t number = 0; number < 4; ++number) {
      for (size_t begin = 0; begin < window.size();) {
        begin = packer->pack({window.data(), window.size(), trace::kRawWindow, number,
                              trace::raw_block_seed(kTicksAtZero, 0)},
                             begin);
        file.write(packer->block().data(), static_cast<std::streamsize>(packer->block().size()));
      }
    }
    on_disk = static_cast<double>(file.tellp()) / (4 * trace::kRawWindow);
  }
  {
    std::ofstream tail(log.string() + ".tail", std::ios::binary);
    std::string window(trace::kRawWindow, '\0');
    const trace::RawHeader last{kTicksAtZero + 1'000'000, 0, 0, 2, RawKind::func_enter};
    memcpy(window.data(), &last, sizeof last);
    const size_t words = 32 / sizeof(uint64_t);
    const uint64_t seal = trace::raw_seal(trace::raw_sum(window.data(), words),
                                          trace::raw_seed(kTicksAtZero, 0, kFilled), words);
    const trace::RawTail counted{kFilled, seal, {}, 0};
    tail << window;
    tail.write(reinterpret_cast<const char*>(&counted), sizeof counted);
  }
  const Estimate found = made();
  EXPECT_FALSE(found.all_kept);
  const EstimateRow* functions = row(found, "instrumented functions");
  ASSERT_NE(functions, nullptr);
  const auto recorded = static_cast<double>(kFilled * trace::kRawWindow + 32);
  EXPECT_NEAR(functions->records, recorded / 32, 1);
  EXPECT_NEAR(functions->bytes, recorded * on_disk, recorded * on_disk * 1e-3);
  EXPECT_EQ(functions->left_out, "functions");
}

TEST_F(EstimateTest, NothingToGoByIsAnError) {
  EXPECT_FALSE(estimate(GuardedPath(folder_) / "raw"));
}

}  // namespace
}  // namespace culprit::assemble::test
