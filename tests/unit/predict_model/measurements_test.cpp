// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs whose findings are written down: what is read of them, and which are refused.

#include "predict/model/measurements.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "predict/model/model_runs.h"

namespace culprit::predict {
namespace {

using blame::Findings;
using blame::ModelledFigure;

/// main computes 0.5 s and calls serial (0.1 s a rank: what each rank adds on every thread), and
/// the last rank waits 0.2 s for the first.
Findings run(uint32_t ranks, uint32_t threads = 1) {
  Findings f;
  f.run.program = "app";
  f.run.command = "mpirun -n 4 ./app 100";
  f.run.ranks = ranks;
  f.run.locations = ranks * threads;
  f.run.wall_s = 0.5 + 0.1 * ranks;
  f.callpaths.resize(2);
  f.callpaths[0].name = f.callpaths[0].region = "main";
  f.callpaths[1].name = "main/serial";
  f.callpaths[1].region = "serial";
  f.callpaths[1].parent = CallPathId(0);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    for (uint32_t thread = 0; thread < threads; ++thread) {
      const LocationId location(f.locations.size());
      f.locations.push_back({std::to_string(rank) + "." + std::to_string(thread), rank, thread, "n",
                             f.run.wall_s, 0, ""});
      f.profile.push_back({CallPathId(0), location, 2, 0.5, 0, 0});
      f.profile.push_back({CallPathId(1), location, 1, 0.1 * ranks, 0, 0});
    }
  }
  f.waits = {{"mpi.late_sender", CallPathId(0), LocationId(f.locations.size() - 1), 1,
              0.2 * ranks * threads, 0, 0}};
  f.delays = {{"mpi.late_sender", CallPathId(1), LocationId(0), 0.2 * ranks * threads, 0}};
  f.identities.waiting_s = 0.2 * ranks * threads;
  f.critical_callpaths = {{CallPathId(1), 0.1 * ranks, 0.05 * ranks, 0, 0, 0, 0}};
  return f;
}

struct Runs {
  std::vector<Findings> all;
  Result<Measurements> measure(const ParameterChoice& choice = {}) const {
    std::vector<const Findings*> inputs;
    std::vector<std::string> names;
    for (const Findings& each : all) {
      names.push_back("run" + std::to_string(inputs.size()));
      inputs.push_back(&each);
    }
    return measurements_of(inputs, names, choice);
  }
  std::string error(const ParameterChoice& choice = {}) const {
    const auto measured = measure(choice);
    return measured ? "" : measured.error().sentence;
  }
};

Runs over_ranks() {
  Runs runs;
  for (const uint32_t ranks : {1, 2, 4, 8, 16}) runs.all.push_back(run(ranks));
  return runs;
}

const blame::FoundModel& find(const Findings& found, ModelledFigure figure, CallPathId path,
                              const std::string& pattern = "") {
  const auto at = std::find_if(found.models.begin(), found.models.end(), [&](const auto& row) {
    return row.figure == figure && row.callpath == path && row.pattern == pattern;
  });
  static const blame::FoundModel kNone;
  return at == found.models.end() ? kNone : *at;
}

TEST(Measurements, AreMeansOverThreads) {
  const auto measured = over_ranks().measure();
  ASSERT_TRUE(measured) << measured.error().sentence;
  EXPECT_EQ(measured->parameters, std::vector<std::string>{"ranks"});
  const auto found = model_runs(*measured, {{{"ranks", 64}}});
  ASSERT_TRUE(found);
  const auto formula = [&](ModelledFigure figure, CallPathId path, const char* pattern = "") {
    return find(*found, figure, path, pattern).formula;
  };
  EXPECT_EQ(formula(ModelledFigure::wall, {}), "0.5 + 0.1 * ranks");
  EXPECT_EQ(formula(ModelledFigure::time, CallPathId(0)), "0.5");
  EXPECT_NEAR(find(*found, ModelledFigure::time, CallPathId(1)).expected, 6.4, 1e-3);
  EXPECT_EQ(formula(ModelledFigure::waiting, CallPathId(0), "mpi.late_sender"), "0.2");
  EXPECT_EQ(formula(ModelledFigure::waiting, {}, "mpi.late_sender"), "0.2");
  EXPECT_EQ(formula(ModelledFigure::waiting, {}), "0.2");
  EXPECT_EQ(formula(ModelledFigure::delay, CallPathId(1)), "0.2");
  EXPECT_NEAR(find(*found, ModelledFigure::imbalance, CallPathId(1)).expected, 3.2, 1e-3);
  EXPECT_EQ(formula(ModelledFigure::visits, CallPathId(0)), "2");
  // The worst growth comes first, and it is that of the run.
  EXPECT_EQ(found->models[0].figure, ModelledFigure::wall);
  EXPECT_TRUE(found->model_parameters[0].has_effect);
  EXPECT_EQ(found->model_parameters[0].points, 5u);
}

TEST(Measurements, TakeRepeatsTogether) {
  Runs runs = over_ranks();
  for (const uint32_t ranks : {1, 2, 4, 8, 16}) runs.all.push_back(run(ranks));
  const auto measured = runs.measure();
  ASSERT_TRUE(measured);
  for (const Series& series : measured->series) {
    ASSERT_EQ(series.samples.size(), 5u);
    for (const Sample& sample : series.samples) EXPECT_EQ(sample.values.size(), 2u);
  }
}

TEST(Measurements, KnowParametersOfPrograms) {
  Runs runs = over_ranks();
  for (size_t i = 0; i < 5; ++i) {
    runs.all[i] = run(4);
    runs.all[i].parameters = {{"size", double{100} * static_cast<double>(i + 1)}};
  }
  const auto measured = runs.measure();
  ASSERT_TRUE(measured) << measured.error().sentence;
  EXPECT_EQ(measured->parameters, std::vector<std::string>{"size"});
  EXPECT_EQ(measured->machine->cores(Point{300}), 4);
  const auto found = model_runs(*measured, {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->model_parameters[0].has_effect);  // each run is the same
  runs.all[3].parameters.clear();                       // one that does not say
  EXPECT_NE(runs.error().find("--param"), std::string::npos);
  const ParameterChoice named{{{"size", {1, 2, 3, 4, 5}}}, {}};
  EXPECT_TRUE(runs.measure(named));
}

TEST(Measurements, CountThreads) {
  Runs runs;
  for (const uint32_t threads : {1, 2, 3, 4, 6}) runs.all.push_back(run(2, threads));
  const auto measured = runs.measure();
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->parameters, std::vector<std::string>{"threads"});
  EXPECT_EQ(measured->machine->cores(Point{6}), 12);
}

TEST(Measurements, RefuseInASentence) {
  const auto says = [](const std::string& sentence, const char* words) {
    EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
  };
  Runs runs = over_ranks();
  runs.all.pop_back();
  says(runs.error(), "needs 5 runs");
  runs.all.push_back(run(8));
  says(runs.error(), "ranks has 4 different values");
  for (Findings& each : runs.all) each = run(4);
  says(runs.error(), "do not differ");
  runs = over_ranks();
  runs.all[2].run.program = "other";
  says(runs.error(), "different programs: 'run0' of app, 'run2' of other");
  runs = over_ranks();
  runs.all[1].losses.add(LossKind::dropped_records);
  says(runs.error(), "'run1' is incomplete");
  runs = over_ranks();
  runs.all[1].losses.add(LossKind::failed_counters);  // a warning: its times are right
  EXPECT_EQ(runs.error(), "");
  runs.all[1].run.operation = blame::Operation::mean;
  says(runs.error(), "is no run");
  runs = over_ranks();
  runs.all[4].identities.violations = {"no"};
  says(runs.error(), "contradicts itself");
}

TEST(Measurements, WantParametersThatCanBeToldApart) {
  Runs runs;
  std::vector<double> sizes;
  for (const uint32_t ranks : {1, 2, 4, 8, 16}) {
    runs.all.push_back(run(ranks));
    sizes.push_back(100.0 * ranks);  // weak scaling
  }
  const ParameterChoice both{{{"size", sizes}}, {}};
  EXPECT_NE(runs.error(both).find("cannot be told"), std::string::npos) << runs.error(both);
  EXPECT_TRUE(runs.measure({{{"size", sizes}}, {"ranks"}}));
  // Runs that differ in what is left out are no repeats.
  runs.all.push_back(run(16));
  sizes.push_back(5);
  const std::string error = runs.error({{{"size", sizes}}, {"ranks"}});
  EXPECT_NE(error.find("differ in size"), std::string::npos) << error;
  EXPECT_NE(runs.error({{}, {"threads"}}).find("do not differ in threads"), std::string::npos);
}

TEST(Measurements, PredictOnlyWhatVaries) {
  const auto measured = over_ranks().measure();
  ASSERT_TRUE(measured);
  EXPECT_FALSE(model_runs(*measured, {{{"size", 64}}}));
  for (const double ranks : {-1.0, 0.5, 100.5}) {
    EXPECT_FALSE(model_runs(*measured, {{{"ranks", ranks}}})) << ranks;
  }
  const auto found = model_runs(*measured, {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->model_parameters[0].target, 64);  // four times the largest
}

}  // namespace
}  // namespace culprit::predict
