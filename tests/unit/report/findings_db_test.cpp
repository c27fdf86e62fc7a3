// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is saved is loaded again, bit for bit; what is not a findings file is told in a sentence.

#include "report/db/findings_db.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files/regular_file.h"
#include "base/sqlite/sqlite.h"
#include "report/formats.h"
#include "samples.h"
#include "tests/support/filled_findings.h"

namespace culprit::report {
namespace {

namespace fs = std::filesystem;
using blame::Table;
using testing_support::shown;

class FindingsDb : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "culprit_findings_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
    file_ = folder_ / "findings.db";
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// A descriptor of it for a database; stays open until the test ends.
  int opened(const fs::path& file) {
    return open_.emplace_back(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)).number();
  }

  fs::path folder_, file_;

 private:
  std::vector<Descriptor> open_;
};

template <class Row>
void expect_same(const std::vector<Row>& actual, const std::vector<Row>& expected) {
  ASSERT_EQ(actual.size(), expected.size()) << Table<Row>::kName;
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(shown(actual[i]), shown(expected[i])) << Table<Row>::kName << " " << i;
  }
}

void expect_same(const blame::Findings& a, const blame::Findings& b) {
  EXPECT_EQ(shown(a.run), shown(b.run));
  EXPECT_EQ(a.run.notes, b.run.notes);
  EXPECT_EQ(shown(a.start_up), shown(b.start_up));
  blame::visit_lists([](const auto& rows, const auto& expected) { expect_same(rows, expected); }, a,
                     b);
  EXPECT_EQ(shown(a.identities), shown(b.identities));
  EXPECT_EQ(a.identities.violations, b.identities.violations);
  ASSERT_EQ(a.losses.all().size(), b.losses.all().size());
  for (const auto& [name, loss] : b.losses.all()) {
    const auto it = a.losses.all().find(name);
    ASSERT_NE(it, a.losses.all().end()) << name;
    EXPECT_EQ(it->second.count, loss.count);
    EXPECT_EQ(it->second.severity, loss.severity);
    EXPECT_EQ(it->second.advice, loss.advice);
  }
}

TEST_F(FindingsDb, KeepsEveryField) {
  const blame::Findings saved = every_field();
  ASSERT_TRUE(save_findings(saved, file_));
  const auto loaded = load_findings(file_);
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  expect_same(loaded.value(), saved);
}

TEST_F(FindingsDb, TakesNoFieldForAnother) {
  const blame::Findings saved = testing_support::FindingsFiller(0).fill();
  ASSERT_TRUE(save_findings(saved, file_));
  const auto loaded = load_findings(file_);
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  expect_same(loaded.value(), saved);
}

TEST_F(FindingsDb, HasTextInUtf8Whatever) {
  blame::Findings findings = hybrid_chain();
  findings.callpaths[0].region = findings.callpaths[0].name =
      "gr\xf6\xdf"
      "er";
  findings.run.command = "./a \xff";
  ASSERT_TRUE(save_findings(findings, file_));
  const auto loaded = load_findings(file_);
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  EXPECT_EQ(loaded->callpaths[0].region, "gr\\xf6\\xdfer");
  EXPECT_EQ(loaded->run.command, "./a \\xff");
}

TEST_F(FindingsDb, KeepsEmptyFindings) {
  ASSERT_TRUE(save_findings({}, file_));
  const auto loaded = load_findings(file_);
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  expect_same(loaded.value(), {});
}

TEST_F(FindingsDb, ReplacesEarlierFindingsAndLeavesNothingElse) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  ASSERT_TRUE(save_findings(hybrid_chain(), file_));
  expect_same(load_findings(file_).value(), hybrid_chain());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 1);
}

TEST_F(FindingsDb, ReadsFromAnOddlyNamedFolder) {
  const fs::path folder = folder_ / "50%ab #1?x=y";
  fs::create_directory(folder);
  ASSERT_TRUE(save_findings(hybrid_chain(), folder / "findings.db"));
  EXPECT_TRUE(load_findings(folder / "findings.db"));
}

TEST_F(FindingsDb, ShowsLossesThatThisBuildDoesNotKnow) {
  ASSERT_TRUE(save_findings(hybrid_chain(), file_));
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("PRAGMA ignore_check_constraints = ON");
  edited.execute(
      "INSERT INTO losses (name, count, severity, advice) VALUES"
      " ('lost_once', 12, 'warning', 'It was told then.'),"
      " ('lost_in_the_future', 34, 'grave', 'It will be told.')");
  edited.close();
  const auto loaded = load_findings(file_);
  ASSERT_TRUE(loaded) << loaded.error().sentence;
  const std::string page = text(loaded.value(), "culprit.x.1");
  EXPECT_NE(page.find("Warning: It was told then. (lost_once: 12)"), std::string::npos) << page;
  EXPECT_NE(page.find("Data loss: It will be told. (lost_in_the_future: 34)"), std::string::npos)
      << page;
  const std::string told = json(loaded.value(), "culprit.x.1");
  for (const char* part : {"lost_once", "It was told then.", "lost_in_the_future"}) {
    EXPECT_NE(told.find(part), std::string::npos) << told;
  }
}

TEST_F(FindingsDb, SaysWhenThePlaceIsNotWritable) {
  const auto result = save_findings({}, folder_ / "missing" / "findings.db");
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("cannot write"), std::string::npos);
}

TEST_F(FindingsDb, SaysWhenThereIsNothing) {
  const auto result = load_findings(file_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("no findings"), std::string::npos);
}

TEST_F(FindingsDb, SaysWhenItIsSomethingElse) {
  std::ofstream(file_) << "certainly no database, but long enough to look like one: "
                       << std::string(4096, 'x');
  const auto text = load_findings(file_);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().sentence.find("not a findings file"), std::string::npos);

  fs::remove(file_);
  Database other(opened(file_), Database::Mode::create);
  other.execute("CREATE TABLE t (x)");
  other.close();
  const auto foreign = load_findings(file_);
  ASSERT_FALSE(foreign);
  EXPECT_NE(foreign.error().sentence.find("not a findings file"), std::string::npos);
}

TEST_F(FindingsDb, SaysWhenItIsTruncated) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  fs::resize_file(file_, fs::file_size(file_) / 2);
  EXPECT_FALSE(load_findings(file_));
}

TEST_F(FindingsDb, RefusesIdsThatLeadNowhere) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("UPDATE waits SET callpath = 99 WHERE id = 0");
  edited.close();
  const auto result = load_findings(file_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("damaged"), std::string::npos);
}

TEST_F(FindingsDb, RefusesWordsThatNoFindingHas) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database checked(opened(file_), Database::Mode::create);
  checked.execute("UPDATE distributions SET shape = 'odd'");
  EXPECT_NE(checked.failure().find("CHECK"), std::string::npos) << checked.failure();
  checked.close();
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("PRAGMA ignore_check_constraints = ON");
  edited.execute("UPDATE distributions SET shape = 'odd'");
  edited.close();
  EXPECT_TRUE(edited.ok()) << edited.failure();
  const auto result = load_findings(file_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("damaged"), std::string::npos);
}

TEST_F(FindingsDb, RefusesCallPathsThatLieInThemselves) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("UPDATE callpaths SET parent = 1 WHERE id = 1");
  edited.close();
  EXPECT_FALSE(load_findings(file_));
}

TEST_F(FindingsDb, RefusesViewsInPlaceOfTables) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("DROP TABLE notes");
  edited.execute(
      "CREATE VIEW notes AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
      " SELECT x AS id, x AS sentence FROM c");
  edited.close();
  ASSERT_TRUE(edited.ok()) << edited.failure();
  const auto result = load_findings(file_);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().sentence.find("damaged"), std::string::npos);
}

TEST_F(FindingsDb, RefusesColumnsThatAreComputed) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database edited(opened(file_), Database::Mode::create);
  edited.execute("DROP TABLE notes");
  edited.execute(
      "CREATE TABLE notes (id INTEGER PRIMARY KEY, sentence TEXT AS (hex(zeroblob(1000000))))");
  edited.execute("INSERT INTO notes (id) VALUES (1)");
  edited.close();
  ASSERT_TRUE(edited.ok()) << edited.failure();
  EXPECT_FALSE(load_findings(file_));
}

TEST_F(FindingsDb, TakesNoStepsWithoutEnd) {
  ASSERT_TRUE(save_findings(every_field(), file_));
  Database database(opened(file_), Database::Mode::read, 100'000);
  database.number(
      "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c");
  EXPECT_FALSE(database.ok());
}

TEST_F(FindingsDb, LooksAtNoJournal) {
  ASSERT_TRUE(save_findings(hybrid_chain(), file_));
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    std::ofstream(file_.string() + suffix) << "not looked at";
  }
  EXPECT_TRUE(load_findings(file_));
  ASSERT_TRUE(save_findings(every_field(), file_));
  EXPECT_TRUE(load_findings(file_));
  for (const char* suffix : {"-journal", "-wal", "-shm"}) {
    EXPECT_EQ(read_regular_file(file_.string() + suffix, Owner::self), "not looked at");
  }
}

TEST_F(FindingsDb, FollowsNoLinks) {
  const fs::path other = folder_ / "other.db";
  ASSERT_TRUE(save_findings(every_field(), other));
  fs::create_symlink(other, file_);
  EXPECT_FALSE(load_findings(file_));
  ASSERT_TRUE(save_findings(hybrid_chain(), file_));
  expect_same(load_findings(file_).value(), hybrid_chain());
  expect_same(load_findings(other).value(), every_field());
}

TEST_F(FindingsDb, AnswersQuestionsBySql) {
  ASSERT_TRUE(save_findings(hybrid_chain(), file_));
  Database database(opened(file_), Database::Mode::create);
  Statement worst(database,
                  "SELECT callpath, location, short_s + long_s FROM delays_named ORDER BY 3 DESC");
  ASSERT_TRUE(worst.next()) << database.failure();
  EXPECT_EQ(worst.text(), "main/!$omp parallel @chain.c:20");
  EXPECT_EQ(worst.text(), "0.1");
  EXPECT_EQ(worst.real(), 11.25);
  EXPECT_EQ(database.number("SELECT count(*) FROM waits JOIN patterns p ON p.id = pattern"), 4);
}

}  // namespace
}  // namespace culprit::report
