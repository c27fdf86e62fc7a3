// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See layout.h. Columns are counted in UTF-8 code points: names may hold more than ASCII, the
// report's own words do not, since it also goes to log files and plain terminals.

#include "report/words/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace culprit::report {
namespace {

size_t width_of_pages = kUsualWidth;

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

size_t columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

/// The first (or last) `count` columns of `text`.
std::string_view first_columns(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues(text[end]) && count-- == 0) break;
  }
  return text.substr(0, end);
}

std::string_view last_columns(std::string_view text, size_t count) {
  const size_t all = columns(text);
  if (count >= all) return text;
  return text.substr(first_columns(text, all - count).size());
}

/// Words stay whole where most of what there is room for is left then.
std::string cut_in_the_middle(std::string_view text, size_t width) {
  if (columns(text) <= width) return std::string(text);
  const size_t kept = width > 3 ? width - 3 : 0;
  std::string_view head = first_columns(text, kept / 2);
  std::string_view tail = last_columns(text, kept - kept / 2);
  const size_t last = head.rfind(' '), first = tail.find(' ');
  if (last != std::string_view::npos && last >= head.size() / 2) head = head.substr(0, last + 1);
  if (first < tail.size() / 2) tail = tail.substr(first);
  return fmt::format("{}...{}", head, tail);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

size_t page_width() {
  return width_of_pages;
}

void set_page_width(size_t columns) {
  width_of_pages = std::max(columns, kLeastWidth);
}

size_t text_column() {
  constexpr size_t kBeside = 25, kBelow = 4;
  return width_of_pages >= kRoomBeside ? kBeside : kBelow;
}

std::string beside(std::string_view figures, std::string_view text) {
  std::string lines = wrapped(text, text_column());
  if (width_of_pages >= kRoomBeside) {
    return lines.replace(0, text_column(), left(figures, text_column()));
  }
  std::string above;
  for (const std::string_view word : split(figures, ' ')) {
    if (!word.empty()) above += (above.empty() ? "" : " ") + std::string(word);
  }
  return "  " + above + '\n' + lines;
}

size_t room_behind(size_t columns) {
  constexpr size_t kSomething = 16;
  return std::max(width_of_pages, columns + kSomething) - columns;
}

std::string fitted(std::string page) {
  if (width_of_pages >= kRoomBeside) return page;
  std::string narrow;
  for (const std::string_view line : split(page, '\n')) {
    if (columns(line) <= width_of_pages) {
      narrow += std::string(line) + '\n';
      continue;
    }
    const size_t indent = line.find_first_not_of(' ');
    narrow += wrapped(line.substr(indent), std::min(indent, width_of_pages / 4));
  }
  narrow.pop_back();  // there is no line behind the last
  return narrow;
}

namespace {

struct Unit {
  double per_second;
  std::string_view name;
};
constexpr Unit kUnits[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}};
constexpr double kTooLarge = 1e4;

}  // namespace

TimeFormat::TimeFormat(double longest_s) {
  if (longest_s >= 1 || longest_s <= 0) {
    digits_ = longest_s >= 1000 ? 1 : 2;
  } else {
    scale_ = longest_s >= 1e-3 ? 1 : 2;
  }
}

std::string TimeFormat::operator()(double seconds) const {
  size_t scale = scale_;
  while (scale > 0 && std::abs(seconds) * kUnits[scale].per_second >= kTooLarge) --scale;
  const double value = seconds * kUnits[scale].per_second;
  const double smallest = std::pow(10.0, -digits_);
  if (value > 0 && value < smallest / 2)
    return fmt::format("< {:.{}f} {}", smallest, digits_, kUnits[scale].name);
  return fmt::format("{:.{}f} {}", std::abs(value) < smallest / 2 ? 0.0 : value, digits_,
                     kUnits[scale].name);
}

std::string percent(blame::Proportion proportion) {
  if (!proportion.known()) return "";
  const double share = 100 * proportion.value();
  if (share > 0 && share < 0.05) return "< 0.1 %";
  return fmt::format("{:.1f} %", share);
}

std::string rounded(blame::Proportion proportion) {
  if (!proportion.known()) return "";
  const double value = 100 * proportion.value();
  return value < 9.95 ? percent(proportion) : fmt::format("{:.0f} %", value);
}

std::string counted(size_t count, std::string_view one, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", grouped(count), one)
                         : fmt::format("{} {}", grouped(count), several);
}

std::string grouped(size_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

std::string wrapped(std::string_view text, size_t indent) {
  std::string page, line;
  const auto flush = [&] {
    if (!line.empty()) page += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > page_width()) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
  return page;
}

std::string shortened(std::string_view path, size_t width) {
  if (columns(path) <= width) return std::string(path);
  const std::vector<std::string_view> parts = split(path, '/');
  const std::string head = fmt::format("{}/...", parts.front());
  std::string tail;
  for (size_t i = parts.size(); i-- > 1;) {
    if (columns(head) + columns(tail) + 1 + columns(parts[i]) > width) break;
    tail = fmt::format("/{}{}", parts[i], tail);
  }
  if (!tail.empty()) return head + tail;
  return cut_in_the_middle(parts.back(), width);
}

namespace {

/// The root, the part `apart` counted from the end, and as much of the end as there is room for.
std::string shortened_but(std::string_view path, size_t apart, size_t width) {
  const std::vector<std::string_view> parts = split(path, '/');
  if (apart + 1 >= parts.size()) return shortened(path, width);
  const size_t at = parts.size() - 1 - apart;
  const std::string_view gap = at > 1 ? "/..." : "";
  std::string head = fmt::format("{}{}/{}", parts.front(), gap, parts[at]);
  if (apart > 1) head += "/...";
  std::string tail = apart > 0 ? fmt::format("/{}", parts.back()) : "";
  for (size_t i = parts.size() - 1; i-- > at + 2;) {
    if (columns(head) + columns(tail) + 1 + columns(parts[i]) > width) break;
    tail = fmt::format("/{}{}", parts[i], tail);
  }
  return cut_in_the_middle(head + tail, width);
}

/// How many parts two paths end alike in.
size_t alike_at_the_end(std::string_view a, std::string_view b) {
  const auto all = split(a, '/'), others = split(b, '/');
  const auto differ = std::mismatch(all.rbegin(), all.rend(), others.rbegin(), others.rend());
  return static_cast<size_t>(differ.first - all.rbegin());
}

}  // namespace

std::vector<std::string> shortened(const std::vector<std::string>& paths, size_t width) {
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(shortened(path, width));
  std::vector<std::string> apart = all;
  for (size_t i = 0; i < all.size(); ++i) {
    size_t alike = 0;
    bool collides = false;
    for (size_t j = 0; j < all.size(); ++j) {
      if (all[i] != all[j] || paths[i] == paths[j]) continue;
      collides = true;
      alike = std::max(alike, alike_at_the_end(paths[i], paths[j]));
    }
    if (collides) apart[i] = shortened_but(paths[i], alike, width);
  }
  return apart;
}

std::string cut_to(std::string_view text, size_t width) {
  return std::string(first_columns(text, width));
}

std::string left(std::string_view text, size_t width) {
  const size_t used = columns(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string right(std::string_view text, size_t width) {
  const size_t used = columns(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

}  // namespace culprit::report
