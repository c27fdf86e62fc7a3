// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From linkage names to names that the program's author recognises.

#include <cxxabi.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <utility>

#include "assemble/names/symbols.h"

namespace culprit::assemble {
namespace {

/// Suffixes of clones that compilers make for themselves. Those of outlined OpenMP code stay: they
/// show where a construct's body begins.
constexpr std::array<std::string_view, 11> kCloneSuffixes = {
    ".isra.",      ".constprop.", ".part.",        ".cold",    ".lto_priv.", ".llvm.",
    ".localalias", ".extracted",  ".specialized.", ".argprom", ".__uniq."};

void drop_clone_suffix(std::string& name) {
  for (const auto suffix : kCloneSuffixes) {
    const auto at = name.find(suffix);
    if (at != std::string::npos && at != 0) name.resize(at);
  }
}

/// "__dbcsr_mm_MOD_multiply" -> "dbcsr_mm::multiply" (gfortran).
bool split_fortran_module(std::string& name) {
  constexpr std::string_view kMiddle = "_MOD_";
  const auto at = name.find(kMiddle);
  if (!name.starts_with("__") || at == std::string::npos || at == 2) return false;
  name = name.substr(2, at - 2) + "::" + name.substr(at + kMiddle.size());
  return true;
}

/// Position of the bracket that `close`, at `end - 1`, closes; npos if there is none.
size_t matching_open(std::string_view name, size_t end, char open, char close) {
  int depth = 0;
  for (size_t i = end; i-- > 0;) {
    if (name[i] == close) ++depth;
    if (name[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

/// Cuts "(int, double) const" and "[abi:cxx11]" off the end.
void drop_arguments(std::string& name) {
  for (const std::string_view qualifier : {" const", " volatile", " &&", " &"}) {
    if (name.ends_with(qualifier)) name.resize(name.size() - qualifier.size());
  }
  if (!name.ends_with(')')) return;
  const auto open = matching_open(name, name.size(), '(', ')');
  if (open != std::string::npos && open != 0 && !name.ends_with("operator()")) name.resize(open);
}

/// Cuts the return type that demanglers print for templates: "void f<int>" -> "f<int>".
void drop_return_type(std::string& name) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name.compare(i, 8, "operator") == 0) break;
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') ++depth;
    if (name[i] == '>' || name[i] == ')' || name[i] == '}') --depth;
    if (name[i] == ' ' && depth == 0) begin = i + 1;
  }
  name.erase(0, begin);
}

/// "foo(int) [clone .omp_outlined]" -> "foo(int)" and ".omp_outlined".
std::string take_clone(std::string& name) {
  const auto at = name.find(" [clone ");
  if (at == std::string::npos) return "";
  const auto begin = at + std::string_view(" [clone ").size();
  std::string clone = name.substr(begin, name.find(']', begin) - begin);
  name.resize(at);
  return clone;
}

/// The author of a lambda, whose class has no other name, has written the whole class:
/// "main::{lambda(int)#1}::operator()" -> "main::{lambda(int)#1}", also inside another lambda.
/// clang counts such classes by "$_0", "$_1", ... within their function.
void name_lambdas(std::string& name) {
  constexpr std::string_view kCall = "::operator()";
  for (size_t at = 0; (at = name.find(kCall, at)) != std::string::npos;) {
    size_t number = at;
    while (number > 0 && name[number - 1] >= '0' && name[number - 1] <= '9') --number;
    const bool by_clang = number < at && number >= 2 && name.compare(number - 2, 2, "$_") == 0;
    if (!by_clang && (at == 0 || name[at - 1] != '}')) {
      at += kCall.size();
      continue;
    }
    const size_t next = name.find("::", at + kCall.size());
    name.erase(at, next == std::string::npos ? next : next - at);
    if (!by_clang) continue;
    const unsigned long count = std::strtoul(name.c_str() + number, nullptr, 10) + 1;
    const std::string text = "{lambda#" + std::to_string(count) + "}";
    name.replace(number - 2, at - number + 2, text);
    at = number - 2 + text.size();
  }
}

/// Cuts the hash off Rust's names, by which they are known: "solver::step::h0123456789abcdef".
bool drop_rust_hash(std::string& name) {
  constexpr size_t kDigits = 16;
  const size_t at = name.rfind("::h");
  if (at == std::string::npos || at == 0 || name.size() - at != kDigits + 3) return false;
  if (name.find_first_not_of("0123456789abcdef", at + 3) != std::string::npos) return false;
  name.resize(at);
  return true;
}

/// The character that Rust writes between dollars: "LT", "u7b"; '\0': it is none.
char rust_character(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, char>, 7> kWords = {
      {{"LT", '<'}, {"GT", '>'}, {"RF", '&'}, {"BP", '*'}, {"LP", '('}, {"RP", ')'}, {"C", ','}}};
  for (const auto& [known, character] : kWords) {
    if (word == known) return character;
  }
  if (word.size() != 3 || word[0] != 'u') return '\0';
  const unsigned long code = std::strtoul(std::string(word.substr(1)).c_str(), nullptr, 16);
  return code >= ' ' && code < 0x7f ? static_cast<char>(code) : '\0';
}

/// "_$LT$mesh..Grid$u20$as$u20$Draw$GT$::draw" -> "<mesh::Grid as Draw>::draw".
std::string decode_rust(std::string_view name) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool begins = i == 0 || name[i - 1] == ':';
    if (begins && name.substr(i).starts_with("_$")) continue;
    if (name.substr(i).starts_with("..")) {
      text += "::";
      ++i;
      continue;
    }
    const size_t end = name[i] == '$' ? name.find('$', i + 1) : std::string_view::npos;
    const char character =
        end != std::string_view::npos ? rust_character(name.substr(i + 1, end - i - 1)) : '\0';
    text += character != '\0' ? character : name[i];
    if (character != '\0') i = end;
  }
  return text;
}

}  // namespace

std::string readable_name(std::string_view linkage_name) {
  std::string name(linkage_name.substr(0, linkage_name.find('@')));
  if (split_fortran_module(name)) {
    drop_clone_suffix(name);
    return name;
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      name.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status)
                             : nullptr,
      &std::free);
  if (!demangled) {
    drop_clone_suffix(name);
    return name;
  }
  name = demangled.get();
  const std::string clone = take_clone(name);
  drop_arguments(name);
  drop_return_type(name);
  name_lambdas(name);
  name += clone;
  drop_clone_suffix(name);
  return drop_rust_hash(name) ? decode_rust(name) : name;
}

bool is_split_off(std::string_view linkage_name) {
  const auto has = [&](std::string_view part) {
    return linkage_name.find(part) != std::string_view::npos;
  };
  return has(".part.") || has(".cold.") || has(".extracted");
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace culprit::assemble
