// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/words/layout.h"
#include "report/words/short_name.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit::report {
namespace {

TEST(TimeFormat, HasOneUnitForAReport) {
  EXPECT_EQ(TimeFormat(11)(11.25), "11.25 s");
  EXPECT_EQ(TimeFormat(11)(0.001), "< 0.01 s");
  EXPECT_EQ(TimeFormat(11)(0), "0.00 s");
  EXPECT_EQ(TimeFormat(11)(-1e-12), "0.00 s");
  EXPECT_EQ(TimeFormat(4000)(3600), "3600.0 s");
  EXPECT_EQ(TimeFormat(0.5)(0.0034), "3.40 ms");
  EXPECT_EQ(TimeFormat(0.0005)(0.0005), "500.00 us");
  EXPECT_EQ(TimeFormat(0)(0), "0.00 s");
}

TEST(TimeFormat, GivesLargeSumsOfShortRunsALargerUnit) {
  const TimeFormat time(382e-6);
  EXPECT_EQ(time(9999e-6), "9999.00 us");
  EXPECT_EQ(time(1.56644147), "1566.44 ms");
  EXPECT_EQ(time(-0.0273), "-27.30 ms");
  EXPECT_EQ(time(15), "15.00 s");
  EXPECT_EQ(TimeFormat(11)(123456), "123456.00 s");
}

TEST(Percent, NeverClaimsMoreThanItShows) {
  using blame::Proportion;
  EXPECT_EQ(percent(Proportion::by_itself(1.0 / 3)), "33.3 %");
  EXPECT_EQ(percent(Proportion::by_itself(1e-9)), "< 0.1 %");
  EXPECT_EQ(percent(Proportion::by_itself(0)), "0.0 %");
  EXPECT_EQ(percent(Proportion()), "");
}

TEST(Counted, SpeaksEnglish) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(1234567, "thread"), "1 234 567 threads");
  EXPECT_EQ(counted(2, "process", "processes"), "2 processes");
}

TEST(Wrapped, KeepsThePageWidth) {
  const std::string text = wrapped(
      std::string(40, 'a') + ' ' + std::string(40, 'b') + ' ' + std::string(120, 'c') + " d", 4);
  EXPECT_EQ(text, "    " + std::string(40, 'a') + ' ' + std::string(40, 'b') + "\n    " +
                      std::string(120, 'c') + "\n    d\n");
  EXPECT_EQ(wrapped("", 2), "");
}

TEST(Shortened, KeepsRootAndEnd) {
  EXPECT_EQ(shortened("main/a/b", 20), "main/a/b");
  EXPECT_EQ(shortened("main/first/second/third/MPI_Recv", 26), "main/.../third/MPI_Recv");
  EXPECT_EQ(shortened("main/first/second/third/MPI_Recv", 18), "main/.../MPI_Recv");
}

TEST(Shortened, CutsAnEndlessNameBelowItsRoot) {
  const std::string cut = shortened("main/" + std::string(50, 'x') + std::string(50, 'y'), 23);
  EXPECT_EQ(cut, "main/" + std::string(7, 'x') + "..." + std::string(8, 'y'));
}

TEST(Shortened, NeverLosesTheCallersOfALongName) {
  const std::string path =
      "<module>/train/prepare_batch/at::native::templates::cpu::(anonymous namespace)::"
      "normal_kernel<at::CPUGeneratorImpl*, at::native::NormalStub>";
  EXPECT_EQ(shortened(path, 75), "<module>/train/prepare_batch/normal_kernel<...>");
  EXPECT_EQ(shortened(path, 40), "<module>/.../normal_kernel<...>");
}

TEST(ShortName, LeavesOutWhatSaysLeast) {
  const std::string name =
      "void at::native::templates::cpu::(anonymous namespace)::normal_kernel<at::Generator*>"
      "(at::TensorBase const&, double)";
  EXPECT_EQ(short_name(name, 200), name);
  EXPECT_EQ(short_name(name, 90),
            "at::native::templates::cpu::(anonymous namespace)::normal_kernel<at::Generator*>");
  EXPECT_EQ(short_name(name, 75),
            "at::native::templates::cpu::(anonymous namespace)::normal_kernel<...>");
  EXPECT_EQ(short_name(name, 50), "cpu::(anonymous namespace)::normal_kernel<...>");
  EXPECT_EQ(short_name(name, 20), "normal_kernel<...>");
}

TEST(ShortName, KnowsOperatorsFromBrackets) {
  EXPECT_EQ(short_name("bool space::room::Key<int, long>::operator<(Key const&) const", 24),
            "Key<...>::operator<");
  EXPECT_EQ(short_name("space::room::Loop<(lambda at a.cpp:3)>::operator()(int)", 26),
            "Loop<...>::operator()");
}

TEST(ShortName, CutsBetweenWords) {
  EXPECT_EQ(
      short_name("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_aligna4_execute_kernel__"
                 "5x_cublas",
                 48),
      "sm80_xmma_gemm_f32f32_..._kernel__5x_cublas");
}

TEST(ShortName, TellsNamesApartThatDifferInTheMiddle) {
  const std::string begin = "sm80_xmma_gemm_f32f32_f32f32_f32_";
  const std::string end = "_n_tilesize256x128x8_stage3_aligna4_alignc4_execute_kernel__5x_cublas";
  const auto names = distinct_short_names({begin + "nn" + end, begin + "tn" + end, "short"}, 48);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_NE(names.at(begin + "nn" + end).find("nn_n"), std::string::npos);
  EXPECT_NE(names.at(begin + "tn" + end).find("tn_n"), std::string::npos);
  for (const auto& [name, text] : names) EXPECT_LE(text.size(), 48u);
  const auto paths = shortened({"a/b/" + begin + "nn" + end, "a/b/" + begin + "tn" + end}, 50);
  EXPECT_NE(paths[0], paths[1]);
}

TEST(Wrapped, KeepsNumbersInOnePiece) {
  const std::string text = std::string(93, 'x') + " and 1 299 other";
  EXPECT_EQ(wrapped(text, 0), std::string(93, 'x') + " and\n1 299 other\n");
  const std::string shorter = std::string(91, 'x') + " only 0.58 s (12 %) shorter";
  EXPECT_EQ(wrapped(shorter, 0), std::string(91, 'x') + " only\n0.58 s (12 %) shorter\n");
}

TEST(Shortened, KeepsWordsWhole) {
  const std::string call = "(blocked, unknown) in or between calls of multiprocessing.context";
  EXPECT_EQ(shortened(call, 59), "(blocked, unknown) in or ... of multiprocessing.context");
  EXPECT_EQ(shortened("a " + std::string(60, 'x'), 23),
            "a " + std::string(8, 'x') + "..." + std::string(10, 'x'));
}

TEST(Shortened, CountsCharactersNotBytes) {
  const std::string accents = "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9";
  EXPECT_EQ(shortened(accents, 4), accents);
  EXPECT_EQ(left(accents, 6), accents + "  ");
  EXPECT_EQ(right(accents, 6), "  " + accents);
}

TEST(Listed, JoinsWithCommasAndAnAnd) {
  EXPECT_EQ(listed(std::vector<std::string>{}), "");
  EXPECT_EQ(listed(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace culprit::report
