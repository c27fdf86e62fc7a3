// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/experiment.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "temporary_folder.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

class Experiment : public InTemporaryFolder {};

TEST_F(Experiment, NeverTakesAFolderTwice) {
  const auto first = create_experiment({}, "app");
  const auto second = create_experiment({}, "app");
  ASSERT_TRUE(first && second);
  EXPECT_NE(first.value(), second.value());
  EXPECT_TRUE(first.value().filename().string().starts_with("culprit.app.2"));
  EXPECT_TRUE(first.value().is_absolute());
}

TEST_F(Experiment, RefusesAFolderThatExists) {
  ASSERT_TRUE(create_experiment("mine", "app"));
  const auto again = create_experiment("mine", "app");
  ASSERT_FALSE(again);
  EXPECT_NE(again.error().sentence.find("'mine' already exists"), std::string::npos);
}

TEST_F(Experiment, RefusesAPlaceThatIsNotThere) {
  const auto result = create_experiment("missing/mine", "app");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("cannot create"), std::string::npos);
}

TEST_F(Experiment, KeepsWhatItKnows) {
  const fs::path folder = create_experiment("mine", "app").value();
  const ExperimentInfo info{.command = "mpirun -n 2 ./app",
                            .program = "app",
                            .date = "2026-11-21",
                            .job = "job 1",
                            .trace = "/a/traces.otf2",
                            .exit_status = 3,
                            .user_s = 1.5,
                            .system_s = 0.5,
                            .page_faults = 7,
                            .selected = {"Left out."}};
  ASSERT_TRUE(write_info(folder, info));
  const auto read = read_info(folder);
  ASSERT_TRUE(read);
  EXPECT_EQ(read.value().command, info.command);
  EXPECT_EQ(read.value().program, info.program);
  EXPECT_EQ(read.value().date, info.date);
  EXPECT_EQ(read.value().job, info.job);
  EXPECT_EQ(read.value().exit_status, 3);
  EXPECT_EQ(read.value().user_s, info.user_s);
  EXPECT_EQ(read.value().system_s, info.system_s);
  EXPECT_EQ(read.value().page_faults, info.page_faults);
  EXPECT_EQ(read.value().selected, info.selected);
  EXPECT_EQ(trace_of(folder, read.value()), "/a/traces.otf2");
  EXPECT_EQ(trace_of(folder, {}), folder / "trace" / "traces.otf2");
  fs::create_directories(folder / "raw" / "host.1.a");
  EXPECT_EQ(trace_of(folder, {}), folder / "raw");
  EXPECT_EQ(trace_of(folder, read.value()), "/a/traces.otf2");
}

TEST_F(Experiment, LeavesKeysOfOtherStagesAlone) {
  fs::create_directory("mine");
  std::ofstream("mine/experiment.json") << R"({"measured": {"mpi": "some"}, "other": [1]})";
  ASSERT_TRUE(write_info("mine", {}));
  const auto json = nlohmann::json::parse(std::ifstream("mine/experiment.json"));
  EXPECT_EQ(json["measured"]["mpi"], "some");
  EXPECT_EQ(json["other"][0], 1);
}

TEST_F(Experiment, ToldFromOtherFolders) {
  EXPECT_FALSE(read_info("missing"));
  fs::create_directory("plain");
  EXPECT_NE(read_info("plain").error().sentence.find("not an experiment"), std::string::npos);
  std::ofstream("plain/experiment.json") << "{ damaged";
  EXPECT_FALSE(read_info("plain"));
  std::ofstream("plain/experiment.json")
      << R"({"culprit": "0.1", "command": 5, "exit_status": "x"})";
  EXPECT_TRUE(read_info("plain"));
}

TEST_F(Experiment, AddsTheFactsOfTheMeasurement) {
  fs::create_directory("mine");
  std::ofstream("mine/experiment.json") << R"({"culprit": "0.1", "measured": {
    "command": "./app x", "program": "app", "mpi": "Open MPI", "openmp": "libomp", "overhead_pct": 1.5,
    "cores": [{"rank": 1, "node": "n1", "cores": 2, "node_cores": 4, "on_core_s": 1.5, "core_wait_s": 0.5}],
    "notes": ["n"], "losses": [{"name": "lost_in_the_future", "count": 2, "severity": "grave", "advice": "a"},
      {"name": "lost_once", "count": 3, "severity": "info", "advice": "b"}]}})";
  blame::Findings findings;
  findings.run.notes = {"first"};
  ExperimentInfo info;
  info.command = "mpirun ./app x";
  info.exit_status = 4;
  const assemble::RunFacts facts = assemble::read_facts("mine").value();
  merge_facts(facts, info, findings);
  EXPECT_EQ(findings.run.command, "mpirun ./app x");
  EXPECT_EQ(findings.run.mpi, "Open MPI");
  EXPECT_EQ(findings.run.openmp, "libomp");
  EXPECT_EQ(findings.run.overhead_pct, 1.5);
  EXPECT_EQ(findings.run.exit_status, 4);
  ASSERT_EQ(findings.processes.size(), 1u);
  EXPECT_EQ(findings.processes[0].rank, 1u);
  EXPECT_EQ(findings.processes[0].node_cores, 4u);
  EXPECT_EQ(findings.processes[0].core_wait_s, 0.5);
  EXPECT_EQ(findings.run.notes, (std::vector<std::string>{"first", "n"}));
  // Losses of another build, and a severity.
  const auto& losses = facts.losses.all();
  ASSERT_EQ(losses.size(), 2u);
  EXPECT_EQ(losses.at("lost_in_the_future").count, 2u);
  EXPECT_EQ(losses.at("lost_in_the_future").severity, Severity::data_loss);
  EXPECT_EQ(losses.at("lost_in_the_future").advice, "a");
  EXPECT_EQ(losses.at("lost_once").severity, Severity::info);
}

TEST_F(Experiment, KnowsWhetherAnythingWasRecorded) {
  fs::create_directories("mine/raw/host.1.a");
  EXPECT_FALSE(has_raw_records("mine"));
  std::ofstream("mine/raw/host.1.a/process") << "x";
  std::ofstream("mine/raw/host.1.a/events.0") << "";
  EXPECT_FALSE(has_raw_records("mine"));
  std::ofstream("mine/raw/host.1.a/events.0") << "x";
  EXPECT_TRUE(has_raw_records("mine"));
}

}  // namespace
}  // namespace culprit::cli
