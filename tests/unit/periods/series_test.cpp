// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a series is of: each amount stands where it happened, and sums to what there was.
#include "predict/periods/series.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>

#include "predict/periods/found.h"
#include "predict/periods/period.h"

namespace culprit::predict {
namespace {

using blame::SeriesKind;
using trace::EventSink;

Time at(double seconds) {
  return Time::from_nanos(std::llround(seconds * 1e9));
}

/// Events that a test tells: two ranks with a thread each, and a stream of the first.
class ToldSource final : public trace::Source {
 public:
  using Told = std::function<void(EventSink&)>;

  explicit ToldSource(std::vector<Told> told) : told_(std::move(told)) {
    using trace::RegionRole;
    definitions_.regions = {{"main", RegionRole::function, trace::Paradigm::unknown, "", 0},
                            {"MPI_File_write", RegionRole::function, trace::Paradigm::mpi, "", 0},
                            {"MPI_Barrier", RegionRole::barrier, trace::Paradigm::mpi, "", 0},
                            {"solve", RegionRole::function, trace::Paradigm::unknown, "", 0},
                            {"step", RegionRole::iteration, trace::Paradigm::user, "", 0}};
    definitions_.processes = {{"", "n", 0, {LocationId(0), LocationId(2)}},
                              {"", "n", 1, {LocationId(1)}}};
    definitions_.locations.resize(3);
    definitions_.locations[0].process = definitions_.locations[2].process = ProcessId(0);
    definitions_.locations[1].process = ProcessId(1);
    definitions_.locations[2].kind = trace::LocationKind::accelerator_stream;
    told_.resize(3);
  }
  void make_threads(bool of_one_process = false) {
    for (trace::Location& each : definitions_.locations) {
      each.kind = trace::LocationKind::cpu_thread;
      if (of_one_process) each.process = ProcessId(0);
    }
  }
  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, EventSink& sink, Losses&) const override {
    if (const Told& told = told_[location.index()]) told(sink);
    return {};
  }

 private:
  trace::Definitions definitions_;
  std::vector<Told> told_;
};

constexpr RegionId kMain{0}, kWrite{1}, kBarrier{2}, kSolve{3}, kStep{4};

void visit(EventSink& sink, RegionId region, double from, double to) {
  sink.enter(at(from), region);
  sink.leave(at(to), region);
}

void transfer(EventSink& sink, double from, double to, uint64_t bytes, trace::FileMode mode) {
  trace::FileOperation operation;
  operation.file = FileId(0);
  operation.mode = mode;
  operation.bytes = 2 * bytes;  // asked for; less was moved
  operation.id = trace::FileOpId{static_cast<uint64_t>(from * 1e6)};
  sink.enter(at(from), kWrite);
  sink.file_operation(at(from), operation);
  sink.file_operation_complete(at(to), FileId(0), operation.id, bytes);
  sink.leave(at(to), kWrite);
}

const Series* find(const TraceSeries& read, SeriesKind kind) {
  for (const Series& each : read.all) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

double integral(const Series& series, double from, double to) {
  double sum = 0;
  for (size_t i = 0; i < series.values.size(); ++i) {
    const double begin = series.begin_s + series.step_s * static_cast<double>(i);
    const double overlap = std::min(to, begin + series.step_s) - std::max(from, begin);
    if (overlap > 0) sum += series.values[i] * overlap;
  }
  return sum;
}

TraceSeries read(const ToldSource& source, const SeriesSelection& selection = {}) {
  Losses losses;
  auto made = read_series(source, selection, 2, losses);
  EXPECT_TRUE(made.ok()) << (made ? "" : made.error().sentence);
  return made ? std::move(*made) : TraceSeries();
}

std::string refusal(const ToldSource& source, const SeriesSelection& selection) {
  Losses losses;
  const auto made = read_series(source, selection, 2, losses);
  return made ? "" : made.error().sentence;
}

ToldSource two_ranks() {
  return ToldSource({[](EventSink& sink) {
                       sink.enter(at(10), kMain);  // the run's second 0
                       transfer(sink, 11, 13, 4000, trace::FileMode::write);
                       transfer(sink, 14, 15, 500, trace::FileMode::read);
                       visit(sink, kSolve, 16, 18);
                       sink.leave(at(20), kMain);
                     },
                     [](EventSink& sink) {
                       sink.enter(at(10), kMain);
                       transfer(sink, 12, 13, 1000, trace::FileMode::write);
                       visit(sink, kBarrier, 15, 19);
                       sink.enter(at(19), kStep);
                       sink.leave(at(19.5), kStep);
                       sink.leave(at(20), kMain);
                     },
                     [](EventSink& sink) {
                       visit(sink, kSolve, 12, 13);
                       visit(sink, kSolve, 16, 17);
                     }});
}

TEST(Series, AmountsStandWhereTheyHappened) {
  const TraceSeries made = read(two_ranks());
  EXPECT_DOUBLE_EQ(made.wall_s, 10);
  EXPECT_EQ(made.begin.nanos(), at(10).nanos());
  const Series* written = find(made, SeriesKind::bytes_written);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->pieces, 2u);
  EXPECT_NEAR(integral(*written, 0, 10), 5000, 1e-6);
  EXPECT_NEAR(integral(*written, 1, 2), 2000, 10);
  EXPECT_NEAR(integral(*written, 2, 3), 3000, 10);
  EXPECT_NEAR(integral(*find(made, SeriesKind::bytes_read), 4, 5), 500, 3);
  EXPECT_NEAR(integral(*find(made, SeriesKind::io), 0, 10), 4, 1e-6);
  EXPECT_NEAR(integral(*find(made, SeriesKind::mpi), 0, 10), 8, 1e-6);
  EXPECT_NEAR(integral(*find(made, SeriesKind::mpi), 5, 9), 4, 0.01);
  EXPECT_NEAR(integral(*find(made, SeriesKind::device_idle), 0, 10), 6, 1e-6);  // 13-16, 17-20
  EXPECT_NEAR(integral(*find(made, SeriesKind::stage), 8.9, 9.1), 1, 1e-6);
  EXPECT_EQ(find(made, SeriesKind::stage)->part, "step");
  EXPECT_EQ(find(made, SeriesKind::callpath), nullptr);
  EXPECT_EQ(find(made, SeriesKind::waiting), nullptr);
}

TEST(Series, PartsOfTheRun) {
  SeriesSelection selection;
  selection.ranks = {1};
  EXPECT_NEAR(integral(*find(read(two_ranks(), selection), SeriesKind::bytes_written), 0, 10), 1000,
              1e-6);
  EXPECT_EQ(find(read(two_ranks(), selection), SeriesKind::device_idle), nullptr);
  selection.ranks = {};
  selection.from_s = 2;
  selection.to_s = 3;
  selection.rate_hz = 100;
  const TraceSeries part = read(two_ranks(), selection);
  const Series* written = find(part, SeriesKind::bytes_written);
  EXPECT_EQ(written->values.size(), 100u);
  EXPECT_DOUBLE_EQ(written->begin_s, 2);
  EXPECT_NEAR(
      std::accumulate(written->values.begin(), written->values.end(), 0.0) * written->step_s, 3000,
      1e-6);
}

TEST(Series, CallPathsAreThoseThatFitAndAllBelow) {
  SeriesSelection selection;
  for (const auto& [pattern, seconds] :
       {std::pair{"main/solve", 2.0}, {"main", 20.0}, {"*/MPI_File_write", 4.0}, {"solve", 2.0}}) {
    selection.callpath = pattern;
    const TraceSeries made = read(two_ranks(), selection);
    ASSERT_NE(find(made, SeriesKind::callpath), nullptr) << pattern;
    EXPECT_NEAR(integral(*find(made, SeriesKind::callpath), 0, 10), seconds, 1e-6) << pattern;
  }
  selection.callpath = "solv";
  EXPECT_EQ(find(read(two_ranks(), selection), SeriesKind::callpath), nullptr);
}

TEST(Series, TeamsWorkBelowTheirForks) {
  // The third location plays a thread of the first one's team, from 2 to 5; it works from 3 to 5.
  ToldSource source({[](EventSink& sink) {
                       sink.enter(at(0), kMain);
                       sink.enter(at(1), kStep);
                       sink.thread_fork(at(2), 2, trace::RegionInstance{7});
                       sink.thread_join(at(6));
                       sink.leave(at(6), kStep);
                       sink.leave(at(8), kMain);
                     },
                     {},
                     [](EventSink& sink) {
                       sink.thread_team_begin(at(2), trace::RegionInstance{7});
                       visit(sink, kSolve, 3, 5);
                       sink.thread_team_end(at(5));
                     }});
  source.make_threads();
  SeriesSelection selection;
  for (const auto& [pattern, seconds] :
       {std::pair{"main/step/solve", 2.0}, {"main/step", 8.0}, {"main", 11.0}, {"*/solve", 2.0}}) {
    selection.callpath = pattern;
    const TraceSeries made = read(source, selection);
    ASSERT_NE(find(made, SeriesKind::callpath), nullptr) << pattern;
    EXPECT_NEAR(integral(*find(made, SeriesKind::callpath), 0, 8), seconds, 1e-6) << pattern;
  }
}

TEST(Series, TeamsInTeamsWorkBelowBothForks) {
  // The third location is in the first one's team, forks one itself, and the second works in that.
  ToldSource source({[](EventSink& sink) {
                       sink.enter(at(0), kMain);
                       sink.thread_fork(at(1), 2, trace::RegionInstance{7});
                       sink.leave(at(8), kMain);
                     },
                     [](EventSink& sink) {
                       sink.thread_team_begin(at(3), trace::RegionInstance{9});
                       visit(sink, kSolve, 4, 6);
                       sink.thread_team_end(at(7));
                     },
                     [](EventSink& sink) {
                       sink.thread_team_begin(at(1), trace::RegionInstance{7});
                       sink.enter(at(2), kStep);
                       sink.thread_fork(at(3), 2, trace::RegionInstance{9});
                       sink.leave(at(7), kStep);
                       sink.thread_team_end(at(8));
                     }});
  source.make_threads(/*of_one_process=*/true);
  SeriesSelection selection;
  for (const auto& [pattern, seconds] :
       {std::pair{"main/step/solve", 2.0}, {"main/step", 9.0}, {"main", 19.0}}) {
    selection.callpath = pattern;
    const TraceSeries made = read(source, selection);
    ASSERT_NE(find(made, SeriesKind::callpath), nullptr) << pattern;
    EXPECT_NEAR(integral(*find(made, SeriesKind::callpath), 0, 8), seconds, 1e-6) << pattern;
  }
}

TEST(Series, WhatIsStillOpenLastsToTheEnd) {
  const ToldSource source({[](EventSink& sink) {
                             sink.enter(at(0), kMain);
                             sink.enter(at(6), kBarrier);
                           },
                           [](EventSink& sink) { visit(sink, kMain, 0, 8); }});
  EXPECT_NEAR(integral(*find(read(source), SeriesKind::mpi), 0, 8), 2, 1e-6);
}

TEST(Series, WhatCannotBeIsRefusedInASentence) {
  const auto with = [](auto change) {
    SeriesSelection selection;
    change(selection);
    return selection;
  };
  EXPECT_NE(refusal(two_ranks(), with([](auto& s) { s.ranks = {7}; })).find("no such rank: 7"),
            std::string::npos);
  EXPECT_NE(refusal(two_ranks(), with([](auto& s) { s.from_s = 11; })).find("has ended by then"),
            std::string::npos);
  EXPECT_NE(
      refusal(two_ranks(), with([](auto& s) { s.from_s = 3, s.to_s = 2; })).find("begins after"),
      std::string::npos);
  EXPECT_NE(refusal(two_ranks(), with([](auto& s) { s.rate_hz = 0.1; })).find("higher --rate"),
            std::string::npos);
  EXPECT_NE(refusal(two_ranks(), with([](auto& s) { s.rate_hz = 1e9; })).find("lower --rate"),
            std::string::npos);
  EXPECT_NE(refusal(ToldSource({}), {}).find("nothing has happened"), std::string::npos);
}

/// Twenty periods in the intervals of a profile: waiting, and MPI's file operations in call paths.
TEST(Series, ProfilesHaveACourse) {
  blame::Findings f;
  f.run.wall_s = 50;
  f.run.intervals = 200;
  f.locations = {{"0.0", 0, 0, "n", 50, 5, ""}, {"1.0", 1, 0, "n", 50, 5, ""}};
  f.callpaths = {{"main", "main", "", 0},
                 {"main/MPI_File_write", "MPI_File_write", "", 0, CallPathId(0), false, "mpi"}};
  for (uint32_t i = 0; i < 200; ++i) {
    f.location_times.push_back({LocationId(1), i, 0.25, i % 10 == 3 ? 0.2 : 0, CallPathId(0)});
    f.callpath_times.push_back({LocationId(0), i, CallPathId(0), 0.25, 0});
    if (i % 20 == 7) f.callpath_times.push_back({LocationId(0), i, CallPathId(1), 0.1, 0});
  }
  SeriesSelection selection;
  selection.callpath = "main";
  const auto all = profile_series(f, selection);
  ASSERT_TRUE(all.ok());
  ASSERT_EQ(all->size(), 4u);  // io, mpi, waiting, callpath
  for (const Series& each : *all) {
    const Period period = find_period(each);
    if (each.kind == SeriesKind::callpath) {
      EXPECT_NEAR(integral(each, 0, 50), 51, 1e-6) << "with what it calls";
      continue;
    }
    ASSERT_TRUE(period.found()) << to_string(each.kind);
    EXPECT_NEAR(period.last().period, each.kind == SeriesKind::waiting ? 2.5 : 5, 0.02);
    const auto rows = found_periods(each, period, each.end_s());
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_GT(rows[0].next_s, 50);
    EXPECT_EQ(rows[0].source, blame::SeriesSource::profile);
  }
  selection.ranks = {0};
  EXPECT_EQ(profile_series(f, selection)->size(), 3u) << "rank 0 never waits";
  selection.ranks = {2};
  EXPECT_FALSE(profile_series(f, selection).ok());
  EXPECT_FALSE(profile_series({}, {}).ok());
}

std::string values_refusal(const std::string& text) {
  const auto made = values_series(text, {});
  return made ? "" : made.error().sentence;
}

TEST(Series, ValuesOfAFile) {
  std::string text = "time,value\n";
  for (int i = 0; i < 300; ++i) {
    text += std::to_string(100 + 0.1 * i) + ", " + (i % 30 < 3 ? "5" : "0") + "\r\n";
  }
  const auto made = values_series(text, {});
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->values.size(), 300u);
  EXPECT_DOUBLE_EQ(made->begin_s, 100);
  const Period period = find_period(*made);
  ASSERT_TRUE(period.found());
  EXPECT_NEAR(period.last().period, 3, 0.01);
  EXPECT_NEAR(period.phase_s, 0.3, 0.01);
}

/// Values come only when they change: each holds until the next.
TEST(Series, ValuesHoldUntilTheNext) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += std::to_string(2 * i) + ",1\n" + std::to_string(2 * i + 0.5) + ",0\n";
  }
  SeriesSelection selection;
  selection.rate_hz = 20;
  const auto made = values_series(text, selection);
  ASSERT_TRUE(made.ok());
  EXPECT_NEAR(integral(*made, 0, 78), 39 * 0.5, 1e-9);
  EXPECT_NEAR(find_period(*made).last().period, 2, 0.01);
}

TEST(Series, ValuesBeginWhereTheyBegin) {
  std::string text = "\xef\xbb\xbftime,value\n";  // a byte order mark
  for (int i = -200; i < 100; ++i) text += std::to_string(0.1 * i) + ",1\n";
  const auto made = values_series(text, {});
  ASSERT_TRUE(made.ok()) << made.error().sentence;
  EXPECT_EQ(made->values.size(), 300u);
  EXPECT_DOUBLE_EQ(made->begin_s, -20);
}

TEST(Series, ValuesThatAreNoneAreRefusedByLine) {
  std::string good;
  for (int i = 0; i < 50; ++i) good += std::to_string(i) + ",1\n";
  EXPECT_EQ(values_refusal(good), "");
  EXPECT_NE(values_refusal(good + "50;1\n").find("line 51"), std::string::npos);
  EXPECT_NE(values_refusal(good + "50,nan\n").find("line 51"), std::string::npos);
  EXPECT_NE(values_refusal(good + "50,1,2\n").find("line 51"), std::string::npos);
  EXPECT_NE(values_refusal(good + "48,1\n").find("not later"), std::string::npos);
  EXPECT_NE(values_refusal("0;1\n" + good).find("line 1"), std::string::npos);
  EXPECT_NE(values_refusal("").find("fewer than"), std::string::npos);
  EXPECT_NE(values_refusal("a,b\n1,2\n").find("fewer than"), std::string::npos);
}

}  // namespace
}  // namespace culprit::predict
