// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/command.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace culprit::cli {
namespace {

std::string name(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return Command(words).program_name();
}

TEST(ProgramName, LooksBehindLaunchers) {
  EXPECT_EQ(name("./app arg"), "app");
  EXPECT_EQ(name("mpirun -n 2 ./app"), "app");
  EXPECT_EQ(name("/usr/bin/mpirun.openmpi -np 2 --bind-to none -x A -mca btl self ./bin/app -n 3"),
            "app");
  EXPECT_EQ(name("mpiexec.hydra -genv A B -ppn 2 app"), "app");
  EXPECT_EQ(name("srun -n 4 --cpus-per-task=2 -p debug ./app"), "app");
  EXPECT_EQ(name("mpirun --use-hwthread-cpus app"), "app");
  EXPECT_EQ(name("mpirun -n 1 app : -n 1 other"), "app");
}

TEST(ProgramName, LooksBehindHelpers) {
  EXPECT_EQ(name("env OMP_NUM_THREADS=2 mpirun -n 2 app"), "app");
  EXPECT_EQ(name("timeout 60 mpirun -n 2 env A=B numactl -m 0 ./app"), "app");
}

TEST(ProgramName, FitsIntoAFolderName) {
  EXPECT_EQ(name("./my:app~1"), "my_app_1");
  EXPECT_EQ(Command({"./a b"}).program_name(), "a_b");
  EXPECT_EQ(Command().program_name(), "program");
}

TEST(ProgramName, FallsBackToTheCommand) {
  EXPECT_EQ(name("mpirun --version"), "mpirun");
  EXPECT_EQ(name("make test"), "make");
}

TEST(Command, MpirunStartsProgramsSideBySide) {
  const Command command({"mpirun", "-n", "1", "a", "x", ":", "-n", "2", "b", ":", "c"});
  ASSERT_EQ(command.parts().size(), 3u);
  EXPECT_EQ(command.parts()[0].program, 3u);
  EXPECT_EQ(command.parts()[1].options, 6u);
  EXPECT_EQ(command.parts()[1].program, 8u);
  EXPECT_EQ(command.parts()[2].program, 10u);
  EXPECT_EQ(command.parts()[2].end, 11u);
}

TEST(Command, AColonOfTheProgramSeparatesNothing) {
  EXPECT_EQ(Command({"./app", ":", "b"}).parts().size(), 1u);
}

TEST(Command, ArgumentsEndWhereTheNextProgramBegins) {
  const Command command({"mpirun", "./a", "1", "2", ":", "./b", "3"});
  EXPECT_EQ(command.arguments_of("a").size(), 2u);
  ASSERT_EQ(command.arguments_of("b").size(), 1u);
  EXPECT_EQ(command.arguments_of("b")[0], "3");
  EXPECT_TRUE(command.arguments_of("c").empty());
}

TEST(Command, ItsLineCanBePastedIntoAShellAndReadAgain) {
  const std::vector<std::string> words = {"mpirun", "-n", "2", "./app", "a b", "it's", ""};
  EXPECT_EQ(Command(words).line(), "mpirun -n 2 ./app 'a b' 'it'\\''s' ''");
  EXPECT_EQ(Command::of_line(Command(words).line()).words(), words);
}

}  // namespace
}  // namespace culprit::cli
