// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/defaults.h"

#include <gtest/gtest.h>

#include <map>

namespace culprit::cli {
namespace {

using Paths = std::vector<std::filesystem::path>;

Environment with(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](const std::string& name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

TEST(Defaults, AreLinesWithNamesOfSettings) {
  const auto given = parse_defaults(
      "# of our site\n\nsampling = 50\r\n  max_size=2G\nmax-size = 3G\nexclude = a b, c = d");
  ASSERT_TRUE(given);
  ASSERT_EQ(given->size(), 4u);
  EXPECT_EQ((*given)[0], std::pair(Setting::sampling, std::string("50")));
  EXPECT_EQ((*given)[1], std::pair(Setting::max_size, std::string("2G")));
  EXPECT_EQ((*given)[2], std::pair(Setting::max_size, std::string("3G")));
  EXPECT_EQ((*given)[3].second, "a b, c = d");
}

TEST(Defaults, NameTheLineThatIsWrong) {
  for (const char* text : {"sampling 50", "\nsamplign = 50", "\n\nexperiment = /x", "= 1"}) {
    const auto given = parse_defaults(text);
    ASSERT_FALSE(given) << text;
    EXPECT_NE(given.error().sentence.find("line "), std::string::npos) << text;
  }
  EXPECT_NE(parse_defaults("samplign = 5").error().sentence.find("'sampling'"), std::string::npos);
}

TEST(Defaults, LieWhereTheSpecificationSays) {
  EXPECT_EQ(default_files(with({{"HOME", "/home/u"}}), "/opt/culprit/bin"),
            (Paths{"/home/u/.config/culprit/config", "/etc/xdg/culprit/config",
                   "/opt/culprit/etc/culprit/config"}));
  EXPECT_EQ(default_files(with({{"XDG_CONFIG_HOME", "/c"}, {"XDG_CONFIG_DIRS", "/a:relative:/b"}}),
                          "/usr/bin"),
            (Paths{"/c/culprit/config", "/a/culprit/config", "/b/culprit/config",
                   "/usr/etc/culprit/config"}));
  EXPECT_EQ(default_files(with({}), "/usr/bin").size(), 2u);
}

}  // namespace
}  // namespace culprit::cli
