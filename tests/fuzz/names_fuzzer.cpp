// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names: any bytes, behind every name that findings hold, make a page of plain text with as many
// lines as it has if what is no plain text in them is replaced by letters. (The analysis plays no
// part: the findings are made by hand.)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "blame/findings/findings_fields.h"
#include "report/formats.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/unit/report/samples.h"

namespace {

using namespace culprit;

/// Longer ones say no more.
constexpr size_t kLongest = 400;

void require(bool good, const char* what, const std::string& page) {
  if (good) return;
  std::fprintf(stderr, "%s\n%s\n", what, page.c_str());
  std::abort();
}

/// Written anew, not asked of base/printable.h. Bidirectional controls and separators of lines are
/// e2 80 8e, 8f, a8..ae, e2 81 a6..a9 and d8 9c.
bool is_plain(const std::string& page) {
  for (size_t i = 0; i < page.size(); ++i) {
    const auto at = [&](size_t ahead) {
      return i + ahead < page.size() ? static_cast<unsigned char>(page[i + ahead]) : 0U;
    };
    if ((at(0) < 0x20 && at(0) != '\n') || at(0) == 0x7f || at(0) > 0xf4) return false;
    if (at(0) == 0xc2 && at(1) < 0xa0) return false;  // C1
    if (at(0) == 0xd8 && at(1) == 0x9c) return false;
    if (at(0) != 0xe2) continue;
    const unsigned last = at(2);
    if (at(1) == 0x80 && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae))) {
      return false;
    }
    if (at(1) == 0x81 && last >= 0xa6 && last <= 0xa9) return false;
  }
  return true;
}

blame::Findings named(const std::string& text) {
  blame::Findings findings = report::hybrid_chain();
  blame::visit_texts(findings, [&](std::string& name) { name += text; });
  return findings;
}

/// `text` with all that is escaped on a page replaced by letters that take as much room: of what
/// is no character, or a harmful one, each byte is escaped by itself.
std::string harmless(const std::string& text) {
  std::string letters;
  for (size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const std::string character = text.substr(i, bytes);
    const bool stays = printable(character) == character;
    letters += stays ? character : std::string(printable(text.substr(i, 1)).size(), 'x');
    i += stays ? bytes : 1;
  }
  return letters;
}

long lines(const std::string& page) {
  return std::count(page.begin(), page.end(), '\n');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), std::min(size, kLongest));
  require(printable(printable(text)) == printable(text), "not the same twice", text);
  const std::string page = report::text(named(text), "experiment" + text);
  require(is_plain(page), "not plain", page);
  const std::string calm = harmless(text);
  const std::string same = report::text(named(calm), "experiment" + calm);
  require(lines(page) == lines(same), "names make lines", page + same);
  return 0;
}
