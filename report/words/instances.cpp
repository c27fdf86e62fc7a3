// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A name is texts and lists of arguments by turns. Names with the same texts are instances of the
// same template; arguments are compared place by place, and by the same rule within.
#include "report/words/instances.h"

#include <algorithm>
#include <string_view>

namespace culprit::report {

namespace {

constexpr std::string_view kLeftOut = "...";
constexpr size_t kDeepest = 20;  ///< of arguments in arguments

/// "a::B<X, Y>::f<Z>": texts "a::B", "::f" and "", arguments X and Y behind the first, Z behind the
/// second.
struct Parts {
  std::vector<std::string> texts;
  std::vector<std::vector<std::string>> lists;
};

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' ');
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(' ') + 1 - begin));
}

/// '<' of "operator<" and "operator<<" opens nothing, and '>' of "operator->" closes nothing.
bool is_bracket(std::string_view name, size_t at) {
  const std::string_view before = name.substr(0, at);
  const std::string_view again = name[at] == '<' ? "operator<" : "operator>";
  if (before.ends_with("operator") || before.ends_with(again)) return false;
  return name[at] == '<' || (!before.ends_with("-") && !before.ends_with("operator<="));
}

Parts parts_of(std::string_view name) {
  Parts parts;
  int depth = 0, other = 0;  // of angle brackets, and of all others
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == '(' || c == '{' || c == '[') ++other;
    if (c == ')' || c == '}' || c == ']') --other;
    if (other > 0) continue;
    if (c == '<' && is_bracket(name, i) && ++depth == 1) {
      parts.texts.emplace_back(name.substr(begin, i - begin));
      parts.lists.emplace_back();
      begin = i + 1;
    } else if (c == ',' && depth == 1) {
      parts.lists.back().push_back(trimmed(name.substr(begin, i - begin)));
      begin = i + 1;
    } else if (c == '>' && depth > 0 && is_bracket(name, i) && --depth == 0) {
      parts.lists.back().push_back(trimmed(name.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  parts.texts.emplace_back(name.substr(begin));
  return depth == 0 && other == 0 ? parts : Parts{{std::string(name)}, {}};
}

/// Returns the text that all instances of one template have in common.
std::string template_of(const Parts& parts) {
  std::string text;
  for (size_t i = 0; i < parts.texts.size(); ++i) {
    text += parts.texts[i];
    if (i < parts.lists.size()) text += '<' + std::to_string(parts.lists[i].size()) + '>';
  }
  return text;
}

/// "<..., Late>": one sign for all that are left out side by side.
std::string list_of(const std::vector<std::string>& arguments) {
  std::string text;
  const std::string* last = nullptr;
  for (const std::string& argument : arguments) {
    const bool again = last != nullptr && argument == kLeftOut && *last == kLeftOut;
    if (!again) text += (text.empty() ? "" : ", ") + argument;
    last = &argument;
  }
  return '<' + text + '>';
}

std::vector<std::string> apart(const std::vector<std::string>& names, size_t depth);

/// Returns distinct names for instances of the same template.
std::vector<std::string> apart_in_arguments(std::vector<Parts> all, size_t depth) {
  for (size_t list = 0; list < all.front().lists.size(); ++list) {
    for (size_t place = 0; place < all.front().lists[list].size(); ++place) {
      std::vector<std::string> arguments;
      for (const Parts& parts : all) arguments.push_back(parts.lists[list][place]);
      arguments = apart(arguments, depth + 1);
      for (size_t i = 0; i < all.size(); ++i) all[i].lists[list][place] = arguments[i];
    }
  }
  std::vector<std::string> texts;
  for (const Parts& parts : all) {
    std::string& text = texts.emplace_back();
    for (size_t i = 0; i < parts.texts.size(); ++i) {
      text += parts.texts[i];
      if (i < parts.lists.size()) text += list_of(parts.lists[i]);
    }
  }
  return texts;
}

/// Arguments that are equal in all are left out where they are longer than the ellipsis.
std::vector<std::string> apart(const std::vector<std::string>& names, size_t depth) {
  const bool alike = std::all_of(names.begin(), names.end(),
                                 [&](const std::string& name) { return name == names.front(); });
  if (alike && depth > 0) {
    const bool is_long = names.front().size() > kLeftOut.size();
    return {names.size(), is_long ? std::string(kLeftOut) : names.front()};
  }
  if (depth > kDeepest) return names;
  struct Instances {
    std::vector<size_t> which;
    std::vector<Parts> parts;
  };
  std::map<std::string, Instances> templates;
  for (size_t i = 0; i < names.size(); ++i) {
    Parts parts = parts_of(names[i]);
    Instances& instances = templates[template_of(parts)];
    instances.which.push_back(i);
    instances.parts.push_back(std::move(parts));
  }
  std::vector<std::string> texts = names;
  for (auto& [of, instances] : templates) {
    const std::vector<std::string> some = apart_in_arguments(std::move(instances.parts), depth);
    for (size_t i = 0; i < some.size(); ++i) texts[instances.which[i]] = some[i];
  }
  return texts;
}

}  // namespace

std::map<std::string, std::string, std::less<>> short_instances(
    const std::vector<std::string>& names, size_t width) {
  const std::vector<std::string> texts = apart(names, 0);
  std::map<std::string, std::string, std::less<>> found;
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i].size() > width && texts[i] != names[i]) found[names[i]] = texts[i];
  }
  return found;
}

}  // namespace culprit::report
