// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Source lines are shown only where there is no doubt about the file.
#include "report/text_page/source.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

namespace culprit::report {
namespace {

namespace fs = std::filesystem;

class SourceLines : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("culprit-source-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "src");
    fs::create_directories(folder_ / "other");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  std::vector<std::string> lines(const char* region, const char* file, uint32_t line,
                                 const char* model = "user") const {
    return Sources({folder_}).lines({"main", region, file, line, {}, false, model},
                                    {line, line + 1});
  }
  fs::path folder_;
};

using Lines = std::vector<std::string>;

TEST_F(SourceLines, AreThoseOfTheFunction) {
  write("src/a.c", "#include <x.h>\n\nstatic void solve(int n) {\n  work(n);\n}\n");
  EXPECT_EQ(lines("solve", "a.c", 3), (Lines{"static void solve(int n) {", "  work(n);"}));
  EXPECT_EQ(lines("sim::Grid<int>::solve", "a.c", 3).size(), 2u);
}

TEST_F(SourceLines, AreNotThoseOfAnotherVersion) {
  write("src/a.c", "\n\n\n\n\n\n\nvoid solve() {}\n");
  EXPECT_TRUE(lines("solve", "a.c", 3).empty());
  EXPECT_TRUE(lines("solve", "a.c", 300).empty());
  EXPECT_TRUE(lines("solve", "b.c", 3).empty());
  EXPECT_TRUE(lines("solve", "", 0).empty());
}

TEST_F(SourceLines, AreNotThoseOfOneOfSeveral) {
  write("src/a.c", "void solve() { fast(); }\n");
  write("other/a.c", "void solve() { slow(); }\n");
  EXPECT_TRUE(lines("solve", "a.c", 1).empty());
  write("other/a.c", "void solve() { fast(); }\n");
  EXPECT_EQ(lines("solve", "a.c", 1), Lines{"void solve() { fast(); }"});
}

TEST_F(SourceLines, AreFoundForConstructs) {
  write("src/a.c", "void f() {\n#pragma omp parallel for\n  for (;;) {}\n}\n");
  EXPECT_EQ(lines("!$omp parallel @a.c:2", "a.c", 2, "openmp").front(), "#pragma omp parallel for");
}

TEST_F(SourceLines, AreLookedForBesideTheProgram) {
  write("src/a.c", "void solve() {}\n");
  blame::Findings findings;
  findings.run.command = "mpirun -n 2 " + (folder_ / "app").string() + " input";
  findings.run.program = "app";
  Sources sources = Sources::around(findings, "/nowhere/experiment");
  EXPECT_EQ(sources.lines({"solve", "solve", "a.c", 1, {}, false, "user"}, {1, 2}).size(), 1u);
}

}  // namespace
}  // namespace culprit::report
