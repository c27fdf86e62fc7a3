// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Picture tests: each .txt file in this folder draws a trace (tests/support/text/text.h) and states
// below
// `---` what culprit must say of it. Adding a test is adding a file.
//
// Expectations come in sections; the rows of a section are all rows there may be, columns are
// separated by two or more spaces, times are seconds:
//
//     waits           pattern  call path  location  time
//     classes         pattern  call path  location  indirect  propagating
//     delays          call path  location  pattern  short  long
//     critical_path   call path  time  [imbalance  intra  inter]
//     critical_profile  call path  location  time
//     impact          call path  allocation time  with imbalance costs (performance impact)
//     start_up        time on the critical path  allocation time without waiting  waiting it causes
//     unattributed    pattern  time
//     device_blame    kind  call path  location  time
//     device_critical kind  call path  location  time alone  between  on the critical path
//     device_calls    call path  location  calls  redundant ones
//     device_operations  kind  call path  location  time  latency  launch-bound or not
//     devices         name  busy  kernels  copies beside kernels  late  tail  latency
//     polling         call path  location  time
//     polling_causes  call path  location  time
//     arrivals        operation  location  operations  of them last  skew  lateness  transfer
//     refills         corner  topology  coordinates  waits  locations  time
//     message_use     call path  location  messages  empty  repeated  receivers  silent  waiting
//     that
//                     goes with empty ones  with repeated ones
//     tiles           class of time  location  call path with most of it  time
//     unexplained     kind  call path  location  time
//     losses          name  count
//     lives           life  location  time
//     spare_threads   asleep  location  call path  time while nobody needed it  time awake
//
// Losses that are not stated must not occur. Every picture is analysed in ways that must not
// differ: on one thread, on several, on several ranks, with all clocks shifted, and through an OTF2
// archive.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include <unistd.h>

#include "blame/analyze.h"
#include "tests/support/pictures.h"
#include "tests/support/rank_threads.h"
#include "tests/support/same_findings.h"
#include "tests/support/text/text.h"
#include "trace/otf2/reader.h"
#include "trace/otf2/writer.h"

namespace culprit {
namespace {

namespace fs = std::filesystem;

using Sections = std::map<std::string, std::vector<std::string>>;  // rows as normalised text

/// A number as it is compared: nine digits, and no minus zero.
std::string number(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9f", std::abs(value) < 5e-10 ? 0.0 : value);
  return text;
}

std::string word(Word auto value) {
  return std::string(to_string(value));
}

std::string row_of(std::initializer_list<std::string> columns) {
  std::string row;
  for (const std::string& column : columns) row += (row.empty() ? "" : "  ") + column;
  return row;
}

/// "name  3/4  x" -> columns; numbers (also fractions like 7/8) are normalised.
std::string normalise(const std::string& line) {
  std::vector<std::string> columns;
  size_t at = line.find_first_not_of(' ');
  while (at != std::string::npos) {
    const size_t gap = line.find("  ", at);
    columns.push_back(line.substr(at, gap == std::string::npos ? gap : gap - at));
    at = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
  }
  std::string row;
  for (size_t c = 0; c < columns.size(); ++c) {
    std::string text = columns[c];
    while (!text.empty() && text.back() == ' ') text.pop_back();
    double a = 0, b = 1;
    char slash = 0, more = 0;
    const int fields = std::sscanf(text.c_str(), "%lf%c%lf%c", &a, &slash, &b, &more);
    // A location ("0.1") is a number too; it never comes last, a time never before the third
    // column.
    const bool is_location = text.find('.') != std::string::npos && c < 3 && fields == 1 &&
                             c + 1 < columns.size() && text.size() <= 4 && columns[0] != text;
    const bool is_number = fields == 1 || (fields == 3 && slash == '/');
    row += (row.empty() ? "" : "  ") + (is_number && !is_location ? number(a / b) : text);
  }
  return row;
}

Sections parse_expectations(const std::string& text) {
  Sections sections;
  std::istringstream in(text);
  std::string section;
  for (std::string line; std::getline(in, line);) {
    if (const size_t hash = line.find('#'); hash != std::string::npos) line.resize(hash);
    if (line.find_first_not_of(' ') == std::string::npos) continue;
    if (line[0] != ' ') {
      section = line.substr(0, line.find_last_not_of(' ') + 1);
      sections[section];
    } else {
      sections[section].push_back(normalise(line));
    }
  }
  return sections;
}

std::vector<std::string> describe_start_up(const blame::StartUp& sums) {
  return {row_of({number(sums.wall_s), number(sums.activity_s), number(sums.waiting_s)})};
}

void describe_devices(const blame::Findings& found, Sections& out) {
  const auto path = [&](CallPathId id) { return found.callpaths[id.index()].name; };
  const auto location = [&](LocationId id) { return found.locations[id.index()].name; };
  for (const auto& row : found.polling_causes) {
    out["polling_causes"].push_back(
        row_of({path(row.callpath), location(row.location), number(row.time_s)}));
  }
  for (const auto& row : found.device_blame) {
    out["device_blame"].push_back(
        row_of({word(row.kind), path(row.callpath), location(row.location), number(row.time_s)}));
    out["device_critical"].push_back(
        row_of({word(row.kind), path(row.callpath), location(row.location), number(row.alone_s),
                number(row.between_s), number(row.critical_s)}));
  }
  for (const auto& row : found.device_calls) {
    out["device_calls"].push_back(
        row_of({path(row.callpath), location(row.location), std::to_string(row.count) + " calls",
                std::to_string(row.redundant) + " redundant"}));
  }
  for (const auto& row : found.device_operations) {
    out["device_operations"].push_back(
        row_of({word(row.kind), path(row.callpath), location(row.location), number(row.time_s),
                number(row.latency_s), row.launch_bound ? "launch-bound" : "not launch-bound"}));
  }
  for (const auto& row : found.devices) {
    out["devices"].push_back(
        row_of({row.name, number(row.busy_s), number(row.kernels_s), number(row.overlapped_s),
                number(row.late_s), number(row.tail_s), number(row.latency_s)}));
  }
}

void describe_messages(const blame::Findings& found, Sections& out) {
  const auto if_any = [](const std::string& text) { return text.empty() ? "-" : text; };
  for (const auto& row : found.refills) {
    out["refills"].push_back(
        row_of({"rank " + std::to_string(row.rank), if_any(row.topology), if_any(row.coordinates),
                std::to_string(row.waits) + " waits", std::to_string(row.locations) + " locations",
                number(row.time_s)}));
  }
  for (const auto& row : found.arrivals) {
    out["arrivals"].push_back(
        row_of({row.operation, found.locations[row.location.index()].name,
                std::to_string(row.count) + " times", std::to_string(row.last) + " last",
                number(row.skew_s), number(row.late_s), number(row.transfer_s)}));
  }
  for (const auto& row : found.message_use) {
    const auto count = [](uint64_t value, const char* what) {
      return std::to_string(value) + " " + what;
    };
    out["message_use"].push_back(
        row_of({found.callpaths[row.callpath.index()].name,
                found.locations[row.location.index()].name, count(row.messages, "messages"),
                count(row.empty, "empty"), count(row.repeated, "repeated"),
                count(row.receivers, "receivers"), count(row.silent_receivers, "silent"),
                number(row.waiting_empty_s), number(row.waiting_repeated_s)}));
  }
}

void describe_lives(const blame::Findings& found, Sections& out) {
  for (const auto& row : found.locations) {
    out["lives"].push_back(row_of({"life", row.name, number(row.life_s)}));
  }
  for (const auto& row : found.spare_threads) {
    out["spare_threads"].push_back(row_of({"asleep", found.locations[row.location.index()].name,
                                           found.callpaths[row.callpath.index()].name,
                                           number(row.time_s), number(row.awake_s)}));
  }
}

/// Findings in the same form. `critical_columns`: how many the picture states.
Sections describe(const blame::Findings& found, size_t critical_columns) {
  Sections out{{"start_up", describe_start_up(found.start_up)}};
  const auto path = [&](CallPathId id) { return found.callpaths[id.index()].name; };
  const auto location = [&](LocationId id) { return found.locations[id.index()].name; };
  for (const auto& row : found.waits) {
    out["waits"].push_back(
        row_of({row.pattern, path(row.callpath), location(row.location), number(row.time_s)}));
    out["classes"].push_back(row_of({row.pattern, path(row.callpath), location(row.location),
                                     number(row.indirect_s), number(row.propagating_s)}));
  }
  for (const auto& row : found.delays) {
    out["delays"].push_back(row_of({path(row.callpath), location(row.location), row.pattern,
                                    number(row.short_s), number(row.long_s)}));
  }
  for (const auto& row : found.critical_callpaths) {
    std::string text = row_of({path(row.callpath), number(row.time_s)});
    if (critical_columns > 2) text = row_of({text, number(row.imbalance_s)});
    if (critical_columns > 3) text = row_of({text, number(row.intra_s), number(row.inter_s)});
    out["critical_path"].push_back(text);
    out["impact"].push_back(
        row_of({path(row.callpath), number(row.activity_s), number(row.impact_s)}));
  }
  for (const auto& row : found.critical_path) {
    out["critical_profile"].push_back(
        row_of({path(row.callpath), location(row.location), number(row.time_s)}));
  }
  for (const auto& row : found.idle_blame) {
    out["idle_blame"].push_back(
        row_of({path(row.callpath), location(row.location), number(row.time_s)}));
  }
  for (const auto& row : found.idle_nobody) {
    out["idle_nobody"].push_back(
        row_of({word(row.reason), location(row.location), number(row.time_s)}));
  }
  const auto if_known = [&](CallPathId id) { return id.valid() ? path(id) : std::string("-"); };
  for (const auto& row : found.polling) {
    out["polling"].push_back(
        row_of({path(row.callpath), location(row.location), number(row.time_s)}));
  }
  describe_devices(found, out);
  for (const auto& row : found.lock_blame) {
    out["lock_blame"].push_back(
        row_of({row.pattern, location(row.holder), if_known(row.acquired), if_known(row.released),
                path(row.callpath), number(row.time_s)}));
  }
  describe_messages(found, out);
  describe_lives(found, out);
  for (const auto& row : found.efficiencies) {
    out["efficiencies"].push_back(row_of({word(row.name), number(row.value)}));
  }
  for (const auto& row : found.instances) {
    out["instances"].push_back(
        row_of({row.pattern, path(row.callpath), location(row.location), number(row.begin_s),
                number(row.time_s), if_known(row.cause_callpath),
                location(row.cause_location) + " late", number(row.indirect_s)}));
  }
  for (const auto& row : found.distributions) {
    out["distributions"].push_back(
        row_of({path(row.callpath), word(row.shape), word(row.movement), word(row.course)}));
  }
  for (const auto& row : found.tiles) {
    out["tiles"].push_back(
        row_of({word(row.tile), location(row.location), path(row.callpath), number(row.time_s)}));
  }
  for (const auto& row : found.unexplained) {
    out["unexplained"].push_back(
        row_of({word(row.kind), path(row.callpath), location(row.location), number(row.time_s)}));
  }
  for (const auto& row : found.unattributed) {
    out["unattributed"].push_back(row_of({row.pattern, number(row.time_s)}));
  }
  for (const auto& [name, loss] : found.losses.all()) {
    out["losses"].push_back(row_of({name, number(static_cast<double>(loss.count))}));
  }
  return out;
}

size_t columns_of(const std::vector<std::string>& rows) {
  if (rows.empty()) return 2;
  size_t columns = 1;
  for (size_t at = 0; (at = rows[0].find("  ", at)) != std::string::npos; at += 2) ++columns;
  return columns;
}

std::string sorted_lines(std::vector<std::string> rows) {
  std::sort(rows.begin(), rows.end());
  std::string text;
  for (const std::string& row : rows) text += row + "\n";
  return text;
}

/// On several ranks, of which some may own nothing, the whole of the findings is the same.
void expect_same_on_ranks(const trace::Source& source) {
  const auto one = blame::analyze(source, {.threads = 1, .verify = true}, {});
  ASSERT_TRUE(one.ok());
  for (const size_t size : {2u, 3u, 5u}) {
    testing_support::RankThreads(size).run([&](Transport& ranks) {
      const auto found = blame::analyze(source, {.threads = 1, .ranks = &ranks}, {});
      ASSERT_TRUE(found.ok());
      if (ranks.rank() != 0) return;
      EXPECT_EQ(testing_support::difference(one.value(), found.value()), "") << size << " ranks";
    });
  }
}

class Picture : public testing::TestWithParam<std::string> {
 protected:
  void expect(const trace::Source& source, unsigned threads, const std::string& how) {
    const auto found = blame::analyze(source, {threads}, {});
    ASSERT_TRUE(found.ok()) << how << ": " << found.error().sentence;
    for (const std::string& sentence : found.value().identities.violations) {
      ADD_FAILURE() << how << ": " << sentence;
    }
    const auto critical = expected_.find("critical_path");
    Sections actual =
        describe(found.value(), critical == expected_.end() ? 2 : columns_of(critical->second));
    for (const auto& [section, rows] : expected_) {
      EXPECT_EQ(sorted_lines(rows), sorted_lines(actual[section])) << how << ": " << section;
    }
    if (!expected_.contains("losses")) {
      EXPECT_EQ("", sorted_lines(actual["losses"])) << how;
    }
  }

  Sections expected_;
};

/// The same trace after a way through an archive.
std::unique_ptr<trace::Source> through_otf2(const trace::TextTrace& picture,
                                            const fs::path& folder) {
  fs::remove_all(folder);
  auto writer = trace::create_otf2(folder);
  EXPECT_TRUE(writer.ok());
  Losses losses;
  const trace::Definitions& defs = picture.definitions();
  for (size_t i = 0; i < defs.locations.size(); ++i) {
    auto sink = (*writer)->open(defs.locations[i].process, defs.locations[i].thread);
    EXPECT_TRUE(picture.read(LocationId(i), *sink, losses).ok());
  }
  EXPECT_TRUE((*writer)->finish(defs).ok());
  auto source = trace::open_otf2(folder / "traces.otf2", losses);
  EXPECT_TRUE(source.ok()) << (source.ok() ? "" : source.error().sentence);
  return source.ok() ? std::move(source).value() : nullptr;
}

TEST_P(Picture, IsExplainedExactly) {
  std::ifstream file(fs::path(PICTURES) / (GetParam() + ".txt"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  auto parsed = trace::TextTrace::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().sentence;
  trace::TextTrace& picture = **parsed;
  expected_ = parse_expectations(picture.expectations());
  ASSERT_FALSE(expected_.empty());
  expect(picture, 1, "one thread");
  expect(picture, 4, "four threads");
  expect_same_on_ranks(picture);
  const fs::path folder = fs::temp_directory_path() /
                          ("culprit-picture-" + GetParam() + "-" + std::to_string(::getpid()));
  if (auto archive = through_otf2(picture, folder)) expect(*archive, 2, "through OTF2");
  fs::remove_all(folder);
  picture.shift(Duration::from_nanos(123'456'789'012'345));
  expect(picture, 1, "shifted clocks");
}

INSTANTIATE_TEST_SUITE_P(All, Picture, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace culprit
