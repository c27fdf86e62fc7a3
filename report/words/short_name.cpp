// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each step leaves out more, until there is room. Brackets are matched, since arguments hold all
// that names do; "operator<" and "operator()" are no brackets.
#include "report/words/short_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "report/words/columns.h"

namespace culprit::report {
namespace {

constexpr std::string_view kOperator = "operator", kNamespaces = "::";
constexpr std::string_view kWordsEnd = " _/.,:";

/// How many characters an operator's own name takes, if it begins here; else 0.
size_t operator_at(std::string_view name, size_t at) {
  if (!name.substr(at).starts_with(kOperator)) return 0;
  const bool is_word =
      at == 0 || (name[at - 1] != '_' && !std::isalnum(static_cast<unsigned char>(name[at - 1])));
  if (!is_word) return 0;
  const std::string_view rest = name.substr(at + kOperator.size());
  if (rest.starts_with("()")) return kOperator.size() + 2;
  const size_t signs = std::min(rest.find_first_not_of("<>=-*&|!+/%^~[]"), rest.size());
  return kOperator.size() + signs;
}

bool opens(char c) {
  return c == '<' || c == '(' || c == '{' || c == '[';
}

bool closes(char c) {
  return c == '>' || c == ')' || c == '}' || c == ']';
}

/// A pair of brackets that is in no other one.
struct Brackets {
  size_t begin, end;  ///< without, and with them
};

std::vector<Brackets> outer_brackets(std::string_view name) {
  std::vector<Brackets> found;
  size_t depth = 0, begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (const size_t own = operator_at(name, i); own > 0) {
      i += own - 1;
    } else if (opens(name[i])) {
      if (depth++ == 0) begin = i;
    } else if (closes(name[i]) && depth > 0 && !(name[i] == '>' && i > 0 && name[i - 1] == '-')) {
      if (--depth == 0) found.push_back({begin, i + 1});
    }
  }
  return found;
}

/// "void f(int)" without its parameters and what it returns.
std::string without_signature(std::string_view name) {
  constexpr std::string_view kConst = " const";
  if (name.ends_with(kConst)) name.remove_suffix(kConst.size());
  std::vector<Brackets> brackets = outer_brackets(name);
  if (!brackets.empty() && brackets.back().end == name.size() && name.back() == ')' &&
      brackets.back().begin > 0) {
    name = name.substr(0, brackets.back().begin);
    brackets.pop_back();
  }
  size_t begin = 0;
  for (size_t i = 0, next = 0; i < name.size(); ++i) {
    if (next < brackets.size() && i == brackets[next].begin) {
      i = brackets[next++].end - 1;
    } else if (operator_at(name, i) > 0) {
      break;  // of "operator new" both words are the name
    } else if (name[i] == ' ') {
      begin = i + 1;
    }
  }
  return std::string(name.substr(begin));
}

std::string without_arguments(std::string_view name) {
  std::string text;
  size_t from = 0;
  for (const Brackets& each : outer_brackets(name)) {
    if (name[each.begin] != '<' || each.begin == 0) continue;
    text += name.substr(from, each.begin - from);
    text += "<...>";
    from = each.end;
  }
  return text + std::string(name.substr(from));
}

/// As many of the inner namespaces as there is room for.
std::string_view without_namespaces(std::string_view name, size_t width) {
  const std::vector<Brackets> brackets = outer_brackets(name);
  size_t next = 0;
  std::string_view shortest = name;
  for (size_t i = 0; i < name.size(); ++i) {
    if (next < brackets.size() && i == brackets[next].begin) {
      i = brackets[next++].end - 1;
      continue;
    }
    if (operator_at(name, i) > 0) break;
    if (!name.substr(i).starts_with(kNamespaces)) continue;
    shortest = name.substr(i + kNamespaces.size());
    if (columns(shortest) <= width) break;
  }
  return shortest;
}

/// What makes a name of C++ longer than it need be; other texts have none of it.
bool is_of_cxx(std::string_view name) {
  return name.find(kNamespaces) != name.npos ||
         (name.ends_with(')') && name.find('(') > 0 && name.find(" (") == name.npos);
}

/// Begin and end, as whole words.
std::string begin_and_end(std::string_view text, size_t width) {
  constexpr std::string_view kLeftOut = "...";
  const size_t kept = width > kLeftOut.size() ? width - kLeftOut.size() : 0;
  std::string_view head = first_columns(text, kept / 2);
  std::string_view tail = last_columns(text, kept - kept / 2);
  const size_t last = head.find_last_of(kWordsEnd), first = tail.find_first_of(kWordsEnd);
  if (last != head.npos && last >= head.size() / 3) head = head.substr(0, last + 1);
  if (first < tail.size() * 2 / 3) tail = tail.substr(first);
  return fmt::format("{}{}{}", head, kLeftOut, tail);
}

}  // namespace

std::string short_name(std::string_view name, size_t width) {
  if (columns(name) <= width) return std::string(name);
  if (!is_of_cxx(name)) return begin_and_end(name, width);
  std::string text = without_signature(name);
  if (columns(text) > width) text = without_arguments(text);
  if (columns(text) > width) text = without_namespaces(text, width);
  return columns(text) > width ? begin_and_end(text, width) : text;
}

std::string short_name_around(std::string_view name, size_t at, size_t width) {
  if (columns(name) <= width) return std::string(name);
  constexpr std::string_view kLeftOut = "...";
  std::string_view head = first_columns(name, width / 3);
  head = head.substr(0, head.find_last_of(kWordsEnd) + 1);
  const size_t word = name.find_last_of(kWordsEnd, at) + 1;
  const size_t begin = std::max(word, head.size());
  const std::string_view gap = begin > head.size() ? kLeftOut : "";
  const std::string_view rest = name.substr(begin);
  const size_t used = columns(head) + gap.size();
  const size_t room = width > used ? width - used : 0;
  if (columns(rest) <= room) return fmt::format("{}{}{}", head, gap, rest);
  std::string_view shown = first_columns(rest, room > kLeftOut.size() ? room - kLeftOut.size() : 0);
  const size_t end = shown.find_last_of(kWordsEnd);
  if (end != shown.npos && begin + end >= at) shown = shown.substr(0, end + 1);
  return fmt::format("{}{}{}{}", head, gap, shown, kLeftOut);
}

std::map<std::string, std::string, std::less<>> distinct_short_names(
    const std::vector<std::string>& names, size_t width) {
  std::map<std::string, std::vector<std::string_view>> alike;
  for (const std::string& name : names) {
    if (columns(name) > width) alike[short_name(name, width)].push_back(name);
  }
  std::map<std::string, std::string, std::less<>> found;
  for (const auto& [text, all] : alike) {
    for (const std::string_view name : all) {
      if (all.size() == 1) break;
      size_t at = name.size();
      for (const std::string_view other : all) {
        if (other == name) continue;
        const auto differ = std::mismatch(name.begin(), name.end(), other.begin(), other.end());
        at = std::min(at, static_cast<size_t>(differ.first - name.begin()));
      }
      found.emplace(name, short_name_around(name, at, width));
    }
  }
  return found;
}

}  // namespace culprit::report
