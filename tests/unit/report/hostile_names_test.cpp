// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// PageNames that would command a terminal or forge lines of the report: every text column of a
// findings file that may have any text is given one, whatever it stands for, and no page may pass
// it on. JSON must.

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/db/findings_db.h"
#include "report/formats.h"
#include "report/words/displayed.h"
#include "samples.h"

namespace culprit::report {
namespace {

namespace fs = std::filesystem;

/// A line of its own, a screen cleared, a C1 control, a text turned round, a line separator, a
/// byte that is no character.
constexpr const char* kHostile =
    "nl\nVerdict:_0_%_fake\r\x1b[2J\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xe2\x80\xa8\xd8\x9c\xff";
/// Takes as much room on the page.
const std::string kHarmless = std::string("nl") + "xx" + "Verdict:_0_%_fake" +
                              std::string(4 + 4, 'x') + "[2J" + std::string(2 * 4, 'x') +
                              std::string(3 * 3 * 4, 'x') + std::string(2 * 4, 'x') + "xxxx";

/// A findings file that goes with the test.
class File {
 public:
  explicit File(const blame::Findings& findings)
      : path_(fs::temp_directory_path() / ("culprit-hostile." + std::to_string(getpid()))) {
    EXPECT_TRUE(save_findings(findings, path_));
  }
  ~File() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Appends `text` to what stands in each such column. Returns how many columns there are.
  size_t append(const std::string& text) {
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path_.c_str(), &database), SQLITE_OK);
    std::vector<std::string> updates;
    const auto add = [](void* list, int, char** column, char**) {
      static_cast<std::vector<std::string>*>(list)->push_back(column[0]);
      return 0;
    };
    sqlite3_exec(
        database,
        "SELECT 'UPDATE ' || t.name || ' SET ' || c.name || ' = ' || c.name || ' || ?'"
        " FROM sqlite_master t JOIN pragma_table_info(t.name) c"
        " WHERE t.type = 'table' AND c.type = 'TEXT' AND t.name <> 'patterns'"
        " AND instr(t.sql, 'CHECK (' || c.name || ' IN ') = 0",  // no words, which are checked
        add, &updates, nullptr);
    for (const std::string& update : updates) {
      sqlite3_stmt* statement = nullptr;
      EXPECT_EQ(sqlite3_prepare_v2(database, update.c_str(), -1, &statement, nullptr), SQLITE_OK)
          << update;
      sqlite3_bind_text(statement, 1, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
      EXPECT_EQ(sqlite3_step(statement), SQLITE_DONE) << update << sqlite3_errmsg(database);
      sqlite3_finalize(statement);
    }
    EXPECT_EQ(sqlite3_close(database), SQLITE_OK);
    return updates.size();
  }
  blame::Findings load() const {
    auto loaded = load_findings(path_);
    EXPECT_TRUE(loaded) << loaded.error().sentence;
    return std::move(loaded).value();
  }

 private:
  fs::path path_;
};

blame::Findings named(const blame::Findings& findings, const std::string& text) {
  File file(findings);
  EXPECT_GE(file.append(text), 29U);
  return file.load();
}

long lines(const std::string& page) {
  return std::count(page.begin(), page.end(), '\n');
}

/// What is wrong with the page, or nothing.
std::string harm(const std::string& page) {
  for (const char byte : page) {
    const auto code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && byte != '\n') || code == 0x7f) return "a control character";
  }
  for (const char* sequence :
       {"\xc2\x9b", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x80\xa8", "\xd8\x9c", "\xff"}) {
    if (page.find(sequence) != page.npos) return "a sequence that is no text";
  }
  if (page.find("\nVerdict:_0_%_fake") != page.npos) return "a forged line";
  return "";
}

TEST(HostileNames, ReachNoPage) {
  for (const blame::Findings& findings : {hybrid_chain(), every_field()}) {
    const std::string page = text(named(findings, kHostile), std::string("exp") + kHostile);
    SCOPED_TRACE(page);
    EXPECT_EQ(harm(page), "");
    EXPECT_NE(page.find("Verdict:_0_%_fake"), page.npos) << "names are on the page";
    const std::string same = text(named(findings, kHarmless), "exp" + kHarmless);
    EXPECT_EQ(lines(page), lines(same)) << same;
  }
}

/// Whatever the page leaves out today: nothing of the findings that it is made from is harmful.
TEST(HostileNames, AreInNothingThatIsDisplayed) {
  const blame::Findings safe = displayed(named(every_field(), kHostile));
  const std::string exact = json(safe, "x");
  for (const char* escape : {"\\u001b", "\\r", "\\u009b", "fake\\n", "nl\\n", "\xe2\x80\xae"}) {
    EXPECT_EQ(exact.find(escape), exact.npos) << escape;
  }
}

TEST(HostileNames, StayAsTheyAreForPrograms) {
  // JSON has no way to say a byte that is no character.
  const std::string valid = std::string(kHostile).substr(0, std::string(kHostile).size() - 1);
  const blame::Findings findings = named(hybrid_chain(), valid);
  const nlohmann::json result = nlohmann::json::parse(json(findings, "x"));
  EXPECT_EQ(result["run"]["command"], hybrid_chain().run.command + valid);
  const size_t callpath = findings.delays.at(0).callpath.index();
  EXPECT_EQ(result["delays"][0]["callpath"], findings.callpaths.at(callpath).name);
  EXPECT_TRUE(findings.callpaths.at(callpath).name.ends_with(valid));
}

}  // namespace
}  // namespace culprit::report
