// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each setting on its whole way: from the command line or a variable, through the environment that
// a launch prepares, to the value that the collector reads there.

#include "cli/launch/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>

#include "base/log.h"
#include "cli/commands/measure_options.h"
#include "cli/launch/launch_environment.h"

namespace culprit::cli {
namespace {

/// What the collector reads in a program that was started with these settings.
ProgramSettings read_by_program(const GivenSettings& given,
                                const std::vector<std::string>& inherited = {}) {
  const Launch launch =
      prepare_launch(Command({"./app"}), {"/c.so", given.for_program()}, inherited);
  std::map<std::string, std::string> variables;
  for (const std::string& entry : launch.environment) {
    const size_t equals = entry.find('=');
    variables[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  ProgramSettings read;
  read_program_settings(
      [&](const char* name) {
        const auto it = variables.find(name);
        return it == variables.end() ? nullptr : it->second.c_str();
      },
      read);
  return read;
}

std::string complaint(Setting setting, const std::string& value) {
  GivenSettings given;
  given[setting] = value;
  const auto checked = given.check();
  return checked ? "" : checked.error().sentence;
}

class CommandLine : public testing::Test {
 protected:
  void SetUp() override {
    for (const SettingText& row : kSettings) unsetenv(row.variable);
  }
  void TearDown() override { SetUp(); }

  GivenSettings parsed(std::vector<std::string> arguments) {
    CLI::App app("culprit");
    GivenSettings given;
    add_settings(app, given, /*report=*/true);
    std::reverse(arguments.begin(), arguments.end());
    app.parse(arguments);
    return given;
  }
};

// A value for each setting, not the initial one.
struct Example {
  Setting setting;
  const char* good;
  std::vector<std::string> wrong;
};

const std::vector<Example>& examples() {
  static const std::string long_text(4096, 'x');
  static const std::vector<Example> all = {
      {Setting::output, "some/folder", {long_text}},
      {Setting::sampling, "1000", {"-3", "10001", "1e3", "much", "1 "}},
      {Setting::counters, "rusage,sde:::a::b", {std::string(1024, 'x')}},
      {Setting::openmp, "libomp", {"llvm", "gcc,libomp", "gc"}},
      {Setting::no_openmp, "true", {}},
      {Setting::cuda_graphs, "nodes", {"edges", "node"}},
      {Setting::window,
       "1.5..2min",
       {"10s", "..", "0..", "5s..5s", "9s..1s", "-1s..2s", "a..b", "1s..2s..3s", "1d..2d", "nan..",
        "inf..", ".s.."}},
      {Setting::ranks, "0-3,8", {"a", "3-1", "1,,2", "-1", "1-", "0 1", std::string(1024, '1')}},
      {Setting::phase,
       "step:10-20",
       {"step:20-10", "step:", ":1", "step:x", std::string(256, 'x')}},
      {Setting::without, "locks,samples", {"locks,nonsense", "Locks", "lock"}},
      {Setting::exclude, "inner_*,operator?=", {long_text}},
      {Setting::otf2, "true", {}},
      {Setting::param, "n=4,mode=fast", {long_text}},
      {Setting::wrappers, "frameworks.txt", {long_text}},
      {Setting::debuginfod, "30", {"-1", "long", "86401"}},
      {Setting::jobs, "4", {"-1", "all", "65537"}},
      {Setting::estimate, "true", {}},
      {Setting::memory, "8", {"0", "65537", "8M", "99999999999999999999"}},
      {Setting::budget, "500M", {"G", "-1", "much"}},
      {Setting::overhead, "5", {"0", "101", "2%", "-1"}},
      {Setting::max_size, "2G", {"G", "2X", "2i", "1.5G", "-1", "99999999999G"}},
      {Setting::log, "debug", {"loud"}},
      {Setting::name_cache, "off", {long_text}},
      {Setting::disable, "1", {}},
      {Setting::slot, "64", {"0", "15", "8s", "3600001"}},
      {Setting::clock, "monotonic", {"sundial"}},
      {Setting::experiment, "/x/exp", {long_text}},
      {Setting::openmp_runtime, "libgomp", {long_text}},
      {Setting::count_only, "1", {}},
  };
  return all;
}

TEST(Settings, EachHasAnExample) {
  ASSERT_EQ(examples().size(), kSettings.size());
  for (size_t i = 0; i < kSettings.size(); ++i) {
    EXPECT_EQ(examples()[i].setting, Setting(i)) << kSettings[i].id;
  }
}

TEST(Settings, InitialValuesAndGoodOnesMakeSense) {
  for (const Example& example : examples()) {
    const SettingText& row = text(example.setting);
    EXPECT_EQ(complaint(example.setting, std::string(row.initial)), "") << row.id;
    EXPECT_EQ(complaint(example.setting, example.good), "") << row.id;
    EXPECT_NE(row.initial, example.good) << row.id;
  }
}

TEST(Settings, WrongValuesAreRefusedByName) {
  for (const Example& example : examples()) {
    const SettingText& row = text(example.setting);
    for (const std::string& wrong : example.wrong) {
      const std::string sentence = complaint(example.setting, wrong);
      const std::string option = row.option;
      const std::string name = row.has_option() ? option.substr(option.rfind("--")) : row.variable;
      EXPECT_TRUE(sentence.starts_with(name + ": "))
          << row.id << " '" << wrong << "': " << sentence;
    }
  }
}

TEST(Settings, SentencesSayWhatWouldDo) {
  EXPECT_EQ(complaint(Setting::sampling, "-3"), "--sampling: '-3' is not a number from 0 to 10000");
  EXPECT_EQ(complaint(Setting::cuda_graphs, "edges"),
            "--cuda-graphs: 'edges' is not one of launches and nodes");
  EXPECT_EQ(
      complaint(Setting::without, "locks,nonsense,tasks"),
      "--without: 'nonsense' is not one of locks, tasks, loops, samples, tests, functions and "
      "regions");
  EXPECT_EQ(complaint(Setting::exclude, std::string(4096, '*')),
            "--exclude: more than the 4095 characters that there is room for");
  EXPECT_EQ(complaint(Setting::jobs, "all"), "--jobs: 'all' is not a number from 0 to 65536");
}

TEST(Settings, LevelsOfMessagesAreThoseOfTheLog) {
  for_each_word(text(Setting::log).shape.words, [](std::string_view word) {
    EXPECT_TRUE(log::level_named(word)) << word;
    return true;
  });
}

TEST(Settings, WhatIsForCulpritStaysWithIt) {
  GivenSettings given;
  for (const Example& example : examples()) given[example.setting] = example.good;
  for (const auto& [setting, value] : given.for_program()) {
    EXPECT_EQ(text(setting).reader, SettingReader::program) << text(setting).id;
  }
}

TEST(Settings, ThoseWithoutAnOptionComeFromTheEnvironment) {
  GivenSettings given;
  given.take_variables([](const std::string& name) { return "value of " + name; });
  EXPECT_EQ(given[Setting::clock], "value of CULPRIT_CLOCK");
  EXPECT_EQ(given[Setting::sampling], "") << "has an option";
  EXPECT_EQ(given[Setting::experiment], "") << "is culprit's to say";
}

TEST_F(CommandLine, NothingSaidIsWhatTheRowsHave) {
  const GivenSettings given = parsed({});
  EXPECT_TRUE(given.check());
  EXPECT_TRUE(given.for_program().empty());
  EXPECT_TRUE(given.value<Setting::openmp>() == "gcc");
  EXPECT_FALSE(given.value<Setting::no_openmp>());
  EXPECT_FALSE(given.value<Setting::otf2>());
  EXPECT_FALSE(given.value<Setting::estimate>());
  EXPECT_EQ(given.value<Setting::jobs>(), 0u);
  const ProgramSettings read = read_by_program(given);
  EXPECT_EQ(read.sampling, 100u);
  EXPECT_EQ(read.memory, 64u);
  EXPECT_EQ(read.max_size, 0u);
  EXPECT_EQ(read.budget, uint64_t{1} << 30);
  EXPECT_EQ(read.overhead, 2u);
  EXPECT_EQ(read.slot, 8000u);
  EXPECT_TRUE(read.cuda_graphs == "launches");
  EXPECT_TRUE(read.clock == "fastest");
  EXPECT_EQ(read.window.begin_s, 0);
  EXPECT_EQ(read.window.end_s, 0);
  for (const char* text : {read.counters, read.ranks, read.phase, read.exclude, read.experiment,
                           read.openmp_runtime}) {
    EXPECT_STREQ(text, "");
  }
  EXPECT_FALSE(read.without.locks || read.without.tasks || read.without.loops ||
               read.without.samples || read.without.tests || read.without.functions ||
               read.without.regions);
  EXPECT_FALSE(read.disable);
  EXPECT_FALSE(read.count_only);
}

void expect_examples(const ProgramSettings& read) {
  EXPECT_EQ(read.sampling, 1000u);
  EXPECT_STREQ(read.counters, "rusage,sde:::a::b");
  EXPECT_TRUE(read.cuda_graphs == "nodes");
  EXPECT_EQ(read.window.begin_s, 1.5);
  EXPECT_EQ(read.window.end_s, 120);
  EXPECT_STREQ(read.ranks, "0-3,8");
  EXPECT_STREQ(read.phase, "step:10-20");
  EXPECT_TRUE(read.without.locks && read.without.samples);
  EXPECT_FALSE(read.without.tasks || read.without.regions);
  EXPECT_STREQ(read.exclude, "inner_*,operator?=");
  EXPECT_EQ(read.memory, 8u);
  EXPECT_EQ(read.max_size, uint64_t{2} << 30);
}

TEST_F(CommandLine, OptionsReachTheCollector) {
  std::vector<std::string> arguments;
  for (const Example& example : examples()) {
    const SettingText& row = text(example.setting);
    if (!row.has_option()) continue;
    const std::string option = row.option;
    arguments.push_back(option.substr(option.rfind("--")));
    if (row.shape.kind != Shape::Kind::flag) arguments.push_back(example.good);
  }
  const GivenSettings given = parsed(arguments);
  EXPECT_EQ(given[Setting::output], "some/folder");
  EXPECT_TRUE(given.value<Setting::openmp>() == "libomp");
  EXPECT_TRUE(given.value<Setting::no_openmp>());
  EXPECT_TRUE(given.value<Setting::otf2>());
  EXPECT_TRUE(given.value<Setting::estimate>());
  EXPECT_EQ(given.value<Setting::jobs>(), 4u);
  expect_examples(read_by_program(given, {"CULPRIT_SAMPLING=1", "CULPRIT_CUDA_GRAPHS=launches"}));
}

TEST_F(CommandLine, VariablesReachTheCollector) {
  for (const Example& example : examples()) setenv(variable(example.setting), example.good, 1);
  GivenSettings given = parsed({});
  given.take_variables(process_environment);
  EXPECT_TRUE(given.value<Setting::otf2>());
  EXPECT_EQ(given.value<Setting::jobs>(), 4u);
  const ProgramSettings read = read_by_program(given);
  expect_examples(read);
  EXPECT_TRUE(read.disable);
  EXPECT_TRUE(read.clock == "monotonic");
}

TEST_F(CommandLine, OptionsGoBeforeVariables) {
  setenv("CULPRIT_SAMPLING", "1", 1);
  setenv("CULPRIT_OTF2", "no", 1);
  EXPECT_EQ(read_by_program(parsed({"--sampling", "7"})).sampling, 7u);
  EXPECT_EQ(read_by_program(parsed({})).sampling, 1u);
  EXPECT_FALSE(parsed({}).value<Setting::otf2>());
  EXPECT_TRUE(parsed({"--otf2"}).value<Setting::otf2>());
}

TEST_F(CommandLine, WrongVariablesAreRefusedToo) {
  setenv("CULPRIT_MEMORY", "lots", 1);
  const auto checked = parsed({}).check();
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().sentence, "--memory: 'lots' is not a number from 1 to 65536");
}

TEST(Settings, WhatMakesNoSenseToTheCollectorCountsAsUnset) {
  ProgramSettings read;
  read_program_settings([](const char*) { return "?:"; }, read);
  EXPECT_EQ(read.sampling, 100u);
  EXPECT_EQ(read.memory, 64u);
  EXPECT_TRUE(read.cuda_graphs == "launches");
  EXPECT_EQ(read.window.end_s, 0);
  EXPECT_STREQ(read.ranks, "");
  EXPECT_STREQ(read.phase, "");
  EXPECT_FALSE(read.without.locks);
}

}  // namespace
}  // namespace culprit::cli
