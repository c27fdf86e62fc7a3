// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first screen: about a hundred words, what would save most first, and nothing that the reader
// of it alone would get wrong.
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "blame/profile/start_up.h"
#include "report/formats.h"
#include "report/words/layout.h"
#include "tests/unit/report/drawing.h"
#include "tests/unit/report/samples.h"

namespace culprit::report {
namespace {

std::string screen_of(blame::Findings findings) {
  blame::diagnose(findings);
  return screen(findings, "culprit.x.1");
}

std::string flat(const std::string& page) {
  std::string words;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) words += word + ' ';
  return words;
}

/// Words and figures; a unit or a mark by itself is none.
size_t words_in(const std::string& page) {
  size_t count = 0;
  std::istringstream stream(page);
  for (std::string word; stream >> word;) {
    count +=
        std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  }
  return count;
}

/// Four ranks with several causes, and what each would save.
blame::Findings several_causes() {
  Drawing d(4);
  const char* const kNames[] = {"resolve_contacts", "pack_halo", "update_cells", "write_log",
                                "sort_particles",   "reduce",    "trifle"};
  double cost_s = 64, gain_s = 24;
  for (size_t i = 0; i < std::size(kNames); ++i, cost_s /= 2, gain_s /= 1.5) {
    const std::string path = std::string("main/") + kNames[i];
    d.delay(path, i % 4, cost_s);
    d.findings().function_gains.push_back({d.path(path), blame::GainKind::balanced, gain_s});
  }
  d.findings().run.command = "mpirun -n 4 ./app input";
  d.findings().efficiencies = {{blame::Factor::parallel, blame::Factor::none, 0.68},
                               {blame::Factor::mpi, blame::Factor::parallel, 0.8},
                               {blame::Factor::omp, blame::Factor::parallel, 0.85}};
  return d.findings();
}

TEST(FirstScreen, HasAboutAHundredWords) {
  const std::string page = screen_of(several_causes());
  EXPECT_LE(words_in(page), 110U) << page;
  EXPECT_GE(words_in(page), 40U) << page;
  EXPECT_LE(std::count(page.begin(), page.end(), '\n'), 20) << page;
}

TEST(FirstScreen, NamesTheRunTheLossItsCauseAndWhatHelps) {
  const std::string page = flat(screen_of(several_causes()));
  SCOPED_TRACE(page);
  EXPECT_NE(page.find("mpirun -n 4 ./app input 4 ranks, 4 threads, 100.00 s."), page.npos);
  EXPECT_NE(page.find("of the time is waiting for resolve_contacts on rank 0"), page.npos);
  EXPECT_NE(page.find("Efficiency: 68.0 % of the threads' time is useful (MPI 80.0 % x OpenMP "
                      "85.0 %)."),
            page.npos);
  EXPECT_NE(page.find("24.00 s 24 % resolve_contacts on rank 0, balanced"), page.npos);
  EXPECT_NE(page.find("culprit report culprit.x.1 --full"), page.npos);
  EXPECT_NE(page.find("culprit view culprit.x.1"), page.npos);
}

TEST(FirstScreen, ListsFiveSavingsAtMostTheLargestFirst) {
  const std::string page = screen_of(several_causes());
  EXPECT_NE(page.find("sort_particles"), page.npos) << page;
  EXPECT_EQ(page.find("reduce"), page.npos) << page;
  const size_t list = page.find("Each would shorten");
  EXPECT_LT(page.find("resolve_contacts", list), page.find("pack_halo", list)) << page;
  EXPECT_LT(page.find("pack_halo", list), page.find("update_cells", list)) << page;
}

// What rank 1 does before MPI_Init is on the critical path, and no delay but of start-up; that rank
// 0 was late once in the same function is another matter.
TEST(FirstScreen, SaysWhereASavingIsMadeAndNotWhoHappenedToBeLate) {
  Drawing d(2);
  d.delay("main", 0, 0.1);
  d.findings().critical_path.push_back({d.path("main"), LocationId(1), 44});
  d.findings().function_gains.push_back({d.path("main"), blame::GainKind::balanced, 22});
  const std::string page = flat(screen_of(d.findings()));
  EXPECT_NE(page.find("22.00 s 22 % main on rank 1, balanced"), page.npos) << page;
}

// Rank 2 reads for 40 s before MPI_Init, where the others wait; rank 1 comes 15 s before it.
TEST(FirstScreen, LetsWhatComesBeforeMpiInitCompete) {
  Drawing d(3);
  const CallPathId read = d.path("main/read_input"), init = d.path("main/MPI_Init");
  blame::Findings& found = d.findings();
  found.waits = {{std::string(blame::kStartSkew), init, LocationId(0), 1, 40, 0, 40},
                 {std::string(blame::kStartSkew), init, LocationId(1), 1, 15, 0, 15}};
  found.delays = {{std::string(blame::kStartSkew), read, LocationId(2), 55, 0}};
  found.critical_path.push_back({read, LocationId(2), 40});
  const std::string page = flat(screen_of(found));
  EXPECT_NE(page.find("15.00 s 15 % read_input before MPI_Init on rank 2, halved"), page.npos)
      << page;
}

// The master is a little late where it has been woken: that is no work.
TEST(FirstScreen, OffersNoChangeOfACallThatWaits) {
  Drawing d(2);
  d.delay("main/decode", 1, 40);
  d.delay("main/pthread_cond_wait", 0, 8);
  d.findings().callpaths[d.path("main/pthread_cond_wait").index()].model =
      trace::to_string(trace::Paradigm::pthread);
  d.findings().function_gains = {{d.path("main/decode"), blame::GainKind::halved, 20},
                                 {d.path("main/pthread_cond_wait"), blame::GainKind::balanced, 4}};
  const std::string page = flat(screen_of(d.findings()));
  EXPECT_NE(page.find("20.00 s 20 % decode"), page.npos) << page;
  EXPECT_EQ(page.find("pthread_cond_wait"), page.npos) << page;
}

// Threads that share one core are a cost as any other, with its remedy.
TEST(FirstScreen, LetsABindingToOneCoreCompete) {
  Drawing d(1);
  d.findings().locations.push_back({"0.1", 0, 1, "n1", 100, 0, ""});
  d.findings().run.locations = 2;
  d.findings().run.allocation_s = 200;
  d.findings().run.mpi = "Open MPI v4.1.4";
  d.findings().processes = {{0, "n1", 1, 1, 100, 100}};
  d.findings().core_takers = {{"n1", blame::CoreTakerKind::binding, "", 0, 1, 100, 100}};
  const std::string page = flat(screen_of(d.findings()));
  EXPECT_NE(page.find("50.00 s 50 % 2 threads bound to 1 core, with mpirun --bind-to none"),
            page.npos)
      << page;
  EXPECT_NE(page.find("Warning: these figures may change: re-run with mpirun --bind-to none."),
            page.npos)
      << page;
}

TEST(FirstScreen, NamesWhereTheTimeGoesIfNothingIsKnownToSaveAny) {
  Drawing d(1);
  d.critical("main/assemble", 70);
  d.critical("main/solve", 25);
  d.critical("main/MPI_Init", 4);
  const std::string page = flat(screen_of(d.findings()));
  EXPECT_NE(page.find("Most of the run's 100.00 s 70.00 s 70 % assemble 25.00 s 25 % solve"),
            page.npos)
      << page;
  EXPECT_EQ(page.find("MPI_Init"), page.npos) << page;
}

// Threads that all work, one a little longer than the other: what both do takes the time.
TEST(FirstScreen, NamesWhereTheTimeGoesBesideSavingsOfNextToNothing) {
  Drawing d(2);
  d.delay("main/work", 1, 2);
  d.critical("main/assemble", 90);
  d.findings().function_gains.push_back({d.path("main/work"), blame::GainKind::halved, 1});
  const std::string page = flat(screen_of(d.findings()));
  EXPECT_NE(page.find("1.00 s 1.0 % work on rank 1, halved"), page.npos) << page;
  EXPECT_NE(page.find("Most of the run's 100.00 s 90.00 s 90 % assemble"), page.npos) << page;
}

TEST(FirstScreen, SaysNothingOfTheSpeedOfAProgramThatFailed) {
  blame::Findings findings = several_causes();
  findings.run.exit_status = 139;
  const std::string page = screen_of(findings);
  EXPECT_NE(page.find("died of signal 11"), page.npos) << page;
  for (const char* const word : {"Efficiency", "shorten", "resolve_contacts"}) {
    EXPECT_EQ(page.find(word), page.npos) << page;
  }
}

TEST(FirstScreen, WarnsOfLostRecordsBeforeAllElse) {
  blame::Findings findings = several_causes();
  findings.losses.restore("dropped_records", {12345, Severity::data_loss, "the disk was full"});
  EXPECT_NE(screen_of(findings).find("Warning: data loss (dropped_records)"), std::string::npos);
}

TEST(FirstScreen, FitsATerminalOfAnyWidth) {
  const size_t width = page_width();
  for (const size_t columns : {40U, 60U, 72U, 100U}) {
    set_page_width(columns);
    std::istringstream lines(screen_of(several_causes()));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns) << line;
  }
  set_page_width(width);
}

TEST(FirstScreen, SaysWhatFiguresAreThatAreNotThoseOfARun) {
  blame::Findings findings = several_causes();
  findings.run.operation = blame::Operation::what_if;
  findings.run.notes = {"This run never took place: it was projected.", "Another one."};
  const std::string page = screen_of(findings);
  EXPECT_NE(page.find("Note: This run never took place.\n"), page.npos) << page;
  EXPECT_EQ(page.find("Another"), page.npos) << page;
}

TEST(FirstScreen, SaysWhyLittleWasFound) {
  blame::Findings findings;
  findings.run.wall_s = 1;
  findings.critical_path = {{CallPathId(0), LocationId(0), 1}};
  findings.callpaths = {{"main", "main", "", 0, {}, false, "user"}};
  findings.locations = {{"0.0", 0, 0, "n1", 1, 0, ""}};
  findings.run.notes = {"OpenMP was not observed: another tool is in use."};
  findings.losses.add(LossKind::early_ends);
  findings.losses.add(LossKind::openmp_not_observed);
  const std::string page = flat(screen_of(findings));
  EXPECT_NE(page.find("another tool is in use."), page.npos) << page;
  EXPECT_NE(page.find("was not observed: waits in it count as work."), page.npos) << page;
}

TEST(FirstScreen, ReadsWellOfNothing) {
  EXPECT_NE(screen_of({}).find("waited for no other"), std::string::npos);
}

TEST(FirstScreen, NamesTheLinesThatCostMost) {
  blame::Findings found = several_causes();
  EXPECT_EQ(screen_of(found).find("Costliest"), std::string::npos);
  found.lines = {{"pack_halo", "", 0, "halo.c", 90, 50, 50},
                 {"resolve_contacts", "", 0, "contact.h", 31, 62, 100},
                 {"resolve_contacts", "", 0, "", 33, 30, 100},
                 {"resolve_contacts", "", 0, "", 34, 8, 100}};
  EXPECT_NE(flat(screen_of(found))
                .find("Costliest lines of resolve_contacts: contact.h:31 (62 % of "
                      "its samples), 33 (30 %). "),
            std::string::npos)
      << screen_of(found);
  found.lines[1].samples = 10;
  found.lines.resize(2);
  EXPECT_EQ(screen_of(found).find("Costliest"), std::string::npos) << "none stands out";
}

TEST(FirstScreen, CallsRanksWithoutMpiNoMpi) {
  blame::Findings found = several_causes();
  found.run.mpi.clear();
  found.run.operation = blame::Operation::none;
  EXPECT_EQ(screen_of(found).find("MPI"), std::string::npos) << screen_of(found);
  EXPECT_NE(screen_of(found).find("ranks 80.0 % x OpenMP 85.0 %"), std::string::npos);
  blame::FoundCallPath call{};
  call.name = call.region = "MPI_Barrier";
  call.model = "mpi";
  found.callpaths.push_back(call);
  EXPECT_NE(screen_of(found).find("MPI 80.0 % x OpenMP 85.0 %"), std::string::npos);
}

}  // namespace
}  // namespace culprit::report
