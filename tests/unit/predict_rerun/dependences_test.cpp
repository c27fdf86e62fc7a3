// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What waits for what in drawn runs, and who a change is for: told by how long they take then. Each
// answer is worked out by hand.
#include "tests/unit/predict_rerun/drawn.h"

namespace culprit::predict {
namespace {

TEST(Dependences, ACallThatLastsForAnotherMessageTellsNothingOfItsSend) {
  // Rank 0's Waitall lasts for rank 2; that rank 1 receives meanwhile has no part in it.
  constexpr const char* kOther = R"(
unit 1s
regions
  c comp
  d slow
  e late
  S MPI_Isend
  I MPI_Irecv
  W MPI_Waitall
  R MPI_Recv
  T MPI_Send
  m main
lanes
  0.0 |SIWWWWWWWWWcccccccccccccccccccc
  1.0 |dddddRm
  2.0 |eeeeeeeeeeTm
events
  isend 0.0@0 wait 2 -> 1.0@5
  send 2.0@10 -> irecv 0.0@1 wait 2
)";
  expect_wall(kOther, scale("slow", 3), 31);
  expect_wall(kOther, scale("late", 2), 41);
}

TEST(Dependences, AnOperationWaitsForAllThatItWasToldTo) {
  // K3 waits for K1 until 11 and for K2 until 10.
  constexpr const char* kThree = R"(
unit 1s
regions
  L main/cudaLaunchKernel
  Y main/cudaDeviceSynchronize
  1 K1
  2 K2
  3 K3
lanes
  0.0 |LLLYYYYYYYYYY
  0.1 |.1111111111..
  0.2 |..22222222...
  0.3 |...........33
events
  device 0 0.1 0.2 0.3
  launch 0.0@0 -> 0.1@1
  launch 0.0@1 -> 0.2@2
  launch 0.0@2 -> 0.3@11 after 0.1@1,0.2@2
  device_wait 0.0@3 for device 0
)";
  expect_wall(kThree, scale("K1", 0.1), 12);
  Scenario other = scale("K1", 0.1);
  other.ranks = {0};
  expect_wall(kThree, other, 12);
}

TEST(Dependences, KernelsOfOtherRanksKeepTheirPaceAndHaveNoNoise) {
  constexpr const char* kTwo = R"(
unit 1s
regions
  L main/cudaLaunchKernel
  Y main/cudaDeviceSynchronize
  1 K1
lanes
  0.0 |LYYYYY
  0.1 |.11111
  1.0 |LYYYYY
  1.1 |.11111
events
  device 0 0.1
  device 1 1.1
  launch 0.0@0 -> 0.1@1
  device_wait 0.0@1 for device 0
  launch 1.0@0 -> 1.1@1
  device_wait 1.0@1 for device 1
)";
  expect_wall(kTwo, scale("K1", 0.2), 2);
  Scenario one = scale("K1", 0.2);
  one.ranks = {0};
  expect_wall(kTwo, one, 6);
  Scenario noisy;  // a host works for a second at most, the kernel for five
  noisy.perturbation.noise = {{{Distribution(Constant{1e6}), 1000}, 1}};
  const auto found = predict(kTwo, noisy);
  ASSERT_TRUE(found.ok());
  EXPECT_LT(found->predicted_wall_s, 8);
}

TEST(Globs, MeanWhatTheyName) {
  constexpr const char* kSolver = R"(
unit 1s
regions
  m main
  s main/solve
  A main/solve/MPI_Allreduce
lanes
  0.0 |mssAAm
  1.0 |mssAAm
events
  allreduce 0.0@3 1.0@3
)";
  expect_wall(kSolver, scale("main/solve*", 0.5),
              5);  // what lies below it fits, too, and is no code
  expect_wall(kSolver, scale("*", 0.5), 4);
  expect_wall(kSolver, scale("MPI_All*", 0.5), 5);
  expect_wall(kSolver, scale("main/solve/MPI_*", 0.5), 5);
  expect_wall(kSolver, scale("main/solve*MPI_All*", 0.5), 5);
  const auto none = predict(kSolver, scale("main/solve/*", 0.5));
  ASSERT_FALSE(none.ok());
  EXPECT_NE(none.error().sentence.find("fits no code"), std::string::npos);
}

}  // namespace
}  // namespace culprit::predict
