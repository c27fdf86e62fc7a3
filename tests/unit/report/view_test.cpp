// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that a page is given, unpacked by hand; what is kept of a run that is too large for it;
// and the page of text in colours.
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "report/page_data/html.h"
#include "report/page_data/pack.h"
#include "report/page_data/reduce.h"
#include "report/words/colours.h"
#include "tests/unit/report/samples.h"

namespace culprit::report {
namespace {

struct Packed {
  nlohmann::json head;
  std::string columns;

  explicit Packed(const std::string& bytes) {
    uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    head = nlohmann::json::parse(bytes.substr(sizeof length, length));
    columns = bytes.substr(sizeof length + length);
  }
  template <class T>
  T value(const char* table, const char* column, size_t row) const {
    const auto& where = head["tables"][table]["columns"][column];
    T value;
    std::memcpy(&value, columns.data() + where["at"].get<size_t>() + row * sizeof value,
                sizeof value);
    return value;
  }
  std::string name(const char* table, const char* column, size_t row) const {
    return head["names"][value<uint32_t>(table, column, row)];
  }
};

TEST(PackedPage, HasEveryColumn) {
  const Packed packed(pack_page(every_field(), nullptr));
  EXPECT_EQ(packed.name("waits", "pattern", 0), "mpi.late_sender");
  EXPECT_EQ(packed.value<double>("waits", "time_s", 0), 0.1);
  EXPECT_EQ(packed.value<uint32_t>("waits", "callpath", 1), UINT32_MAX);
  EXPECT_EQ(packed.value<double>("waits", "count", 0), std::pow(2, 50));
  EXPECT_EQ(packed.name("efficiencies", "name", 1), "mpi");
  EXPECT_EQ(packed.value<uint32_t>("run", "intervals", 0), 4u);
  EXPECT_EQ(packed.head["notes"].size(), 2u);
  EXPECT_EQ(packed.head["tables"]["losses"]["rows"], 3);
  EXPECT_FALSE(packed.head["tables"].contains("activities"));
}

TEST(PackedPage, HasSingleEvents) {
  blame::Excerpt excerpt;
  excerpt.activities = {{LocationId(1), CallPathId(0), Time::from_nanos(1'500'000'000),
                         Time::from_nanos(2'000'000'000)}};
  excerpt.left_out = 7;
  const Packed packed(pack_page(every_field(), &excerpt));
  EXPECT_EQ(packed.value<double>("activities", "begin_s", 0), 1.5);
  EXPECT_EQ(packed.value<uint32_t>("activities", "location", 0), 1u);
  EXPECT_EQ(packed.head["left_out"], 7);
}

TEST(Page, HoldsNoMarkupFromNames) {
  blame::Findings findings = every_field();
  findings.run.command = "</script><script>alert(1)</script>";
  const auto page = html_page(pack_page(findings, nullptr));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->find("alert(1)"), std::string::npos);
  EXPECT_EQ(page->find("@culprit-data@"), std::string::npos);
  EXPECT_NE(page->find("<!doctype html>"), std::string::npos);
}

TEST(Page, CompressesWhatABrowserUnpacks) {
  const std::string data(100'000, 'x');
  const auto packed = gzip(data);
  ASSERT_TRUE(packed.ok());
  EXPECT_LT(packed->size(), 1000u);
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(data.size() + 1, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed->data()));
  stream.avail_in = static_cast<uInt>(packed->size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  EXPECT_EQ(stream.total_out, data.size());
  inflateEnd(&stream);
}

TEST(Reduce, KeepsWindowsThatMatterThenTheLongest) {
  blame::Excerpt excerpt;
  const auto at = [](int64_t ns) { return Time::from_nanos(ns); };
  const auto many = static_cast<int64_t>(kMostSingleEvents);
  for (int64_t i = 0; i <= many; ++i) {  // each of 2 ns, but the first of 1 and a short one late
    const int64_t length = i == 0 || i == many ? 1 : 2;
    excerpt.activities.push_back({LocationId(0), CallPathId(0), at(10 * i), at(10 * i + length)});
  }
  blame::Findings findings;
  findings.instances.resize(1);
  findings.instances[0].begin_s = static_cast<double>(10 * many) * 1e-9;
  findings.instances[0].end_s = findings.instances[0].begin_s + 1e-9;
  reduce(excerpt, findings);
  EXPECT_EQ(excerpt.activities.size(), kMostSingleEvents);
  EXPECT_EQ(excerpt.left_out, 1u);
  EXPECT_EQ(excerpt.activities.front().begin,
            at(10));  // the short one outside of the window is gone
  EXPECT_EQ(excerpt.activities.back().begin, at(10 * many));
}

TEST(Reduce, KeepsTheSlowestIterations) {
  blame::Excerpt excerpt;
  const auto at = [](int64_t ns) { return Time::from_nanos(ns); };
  for (int64_t i = 0; i < 100; ++i) {
    const int64_t length = i < 50 ? 2 : 1;
    excerpt.activities.push_back({LocationId(0), CallPathId(0), at(10 * i), at(10 * i + length)});
  }
  blame::Findings findings;
  for (const double longest_s : {1.0, 2.0, 5.0, 4.0}) {  // a quarter of the run each
    blame::FoundStage stage;
    stage.kind = blame::StageKind::iteration;
    stage.longest_s = longest_s;
    stage.begin_s = 250e-9 * static_cast<double>(findings.stages.size());
    stage.end_s = stage.begin_s + 245e-9;
    findings.stages.push_back(stage);
  }
  reduce(excerpt, findings, 75);
  EXPECT_EQ(excerpt.activities.size(), 75u);
  EXPECT_EQ(excerpt.activities.front().begin, at(250));  // the fastest is gone
}

TEST(Reduce, TellsOtherRunsApart) {
  blame::Excerpt excerpt;
  excerpt.locations = every_field().locations;
  excerpt.callpaths = every_field().callpaths;
  EXPECT_TRUE(same_run(excerpt, every_field()));
  excerpt.callpaths[1].name += "x";
  EXPECT_FALSE(same_run(excerpt, every_field()));
}

TEST(Colours, RepeatWhatLinesAre) {
  EXPECT_EQ(coloured("ROOT CAUSES: the code\n"), "\033[1mROOT CAUSES: the code\033[0m\n");
  EXPECT_EQ(coloured("1. 3 s   9.2 %  f\n"), "\033[38;5;208m1. 3 s   9.2 %\033[0m  f\n");
  EXPECT_EQ(coloured("        3.81 s   92.2 %  f"),
            "\033[38;5;208m        3.81 s   92.2 %\033[0m  f");
  EXPECT_EQ(coloured("     43.6 %  MPI"), "     43.6 %  MPI");
  EXPECT_EQ(coloured("  Warning: w\n"), "\033[33m  Warning: w\033[0m\n");
  EXPECT_EQ(coloured("Verdict: MPI\n"), "Verdict: MPI\n");
  EXPECT_EQ(coloured(""), "");
}

TEST(Colours, LeaveTheWordsAsTheyAre) {
  const std::string page = "HEAD: x\n\n   1.0 s   2 %  y\nplain";
  std::string bare;
  const std::string shown = coloured(page);
  for (size_t i = 0; i < shown.size(); ++i) {
    if (shown[i] == '\033')
      i = shown.find('m', i);
    else
      bare += shown[i];
  }
  EXPECT_EQ(bare, page);
}

}  // namespace
}  // namespace culprit::report
