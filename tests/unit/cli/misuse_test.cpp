// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/help/misuse.h"

#include <gtest/gtest.h>

namespace culprit::cli {
namespace {

TEST(Misuse, TakesHelpAsACommand) {
  using Words = std::vector<std::string>;
  const Words known{"report", "run"};
  EXPECT_EQ(without_help_command({"help"}, known), Words{"--help"});
  EXPECT_EQ(without_help_command({"help", "report"}, known), (Words{"report", "--help"}));
  EXPECT_EQ(without_help_command({"report", "help"}, known), (Words{"report", "help"}));
  EXPECT_EQ(without_help_command({"help", "rnu"}, known), Words{"rnu"}) << "it is to be refused";
  EXPECT_EQ(without_help_command({}, known), Words{});
}

TEST(Misuse, SaysWhichArgumentsAreMissing) {
  CLI::App app("", "culprit");
  std::vector<std::string> many, one;
  app.add_subcommand("diff")->add_option("experiments", many)->expected(2, 9);
  app.add_subcommand("attach")->add_option("process", one)->required();
  const auto said = [&](std::vector<std::string> words) {
    const std::vector<std::string> arguments = words;
    std::reverse(words.begin(), words.end());
    try {
      app.parse(words);
    } catch (const CLI::ParseError& error) {
      return misuse(app, arguments, error);
    }
    return std::string();
  };
  EXPECT_EQ(said({"attach"}), "PROCESS is missing (see `culprit attach --help`)");
  EXPECT_EQ(said({"diff", "a"}),
            "EXPERIMENTS: at least 2 are needed, and 1 was given (see `culprit diff --help`)");
}

TEST(Misuse, SuggestsOptionsWhicheverWayTheyAreSpelled) {
  CLI::App app("", "culprit");
  std::string output;
  app.add_subcommand("run")->add_option("-o,--output", output)->group("Options");
  const auto said = [&](const std::string& word) {
    return misuse(app, {"run", word}, CLI::ExtrasError("run", {word}));
  };
  EXPECT_EQ(said("--outptu=x"),
            "there is no option '--outptu': did you mean '--output'? (see `culprit run --help`)");
  EXPECT_EQ(said("-n"), "there is no option '-n' (see `culprit run --help`)");
}

}  // namespace
}  // namespace culprit::cli
