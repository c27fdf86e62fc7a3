// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tables of findings and the fields of their rows (findings.def), for code that treats all
// alike: ranks that exchange them, readers and writers of files, tests that compare.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// The properties of a field besides its value. Type is one of namespace column.
template <class Type>
struct Column {
  std::string_view name;
  std::string_view key;  ///< in JSON
  std::string_view meaning;
};

/// The properties of the table whose rows are Row: kName, kMeaning, and columns(row, visit), which
/// calls visit(Column<Type>, field) for each field in order.
template <class Row>
struct Table;

#define TABLE(Row, table, meaning)                        \
  template <>                                             \
  struct Table<Row> {                                     \
    static constexpr std::string_view kName = #table;     \
    static constexpr std::string_view kMeaning = meaning; \
    template <class R, class V>                           \
    static void columns(R& r, const V& visit) {
#define ONE(Row, table, meaning) TABLE(Row, table, meaning)
#define LIST(Row, table, origin, meaning) TABLE(Row, table, meaning)
#define FIELD(Type, name, meaning) FIELD_AS(Type, name, name, meaning)
#define FIELD_AS(Type, name, key, meaning) \
  visit(Column<column::Type>{#name, #key, meaning}, r.name);
#define SENTENCES(name)
#define END \
  }         \
  }         \
  ;
#include "blame/findings/findings.def"
#undef TABLE
#undef ONE
#undef LIST
#undef FIELD
#undef FIELD_AS
#undef SENTENCES
#undef END

/// visit(field) for each, in order.
template <class Row, class V>
void visit_fields(Row& row, const V& visit) {
  Table<std::remove_const_t<Row>>::columns(row, [&](auto, auto& field) { visit(field); });
}

/// Returns whether a value means "missing" or "unknown" in a column whose values may be missing.
inline bool lacks(const std::string& text) {
  return text.empty();
}
template <class Tag>
bool lacks(Id<Tag> id) {
  return !id.valid();
}
template <Word E>
bool lacks(E word) {
  return to_string(word).empty();
}
inline bool lacks(double value) {
  return value < 0;
}
inline bool lacks(uint64_t count) {
  return count == 0;
}

/// Which ranks have the rows of a list before they are joined.
enum class Origin : uint8_t {
  each_rank,   ///< every rank has rows of its own
  first_rank,  ///< the first has all
  outside,     ///< they do not come from the events of a trace
};

/// visit(&Findings::list) for each list of this origin.
template <Origin kWanted, class Visit>
void visit_members_of(const Visit& visit) {
#define TABLE(Row, table, meaning)
#define ONE(Row, table, meaning)
#define LIST(Row, table, origin, meaning) \
  if constexpr (Origin::origin == kWanted) visit(&Findings::table);
#define FIELD(Type, name, meaning)
#define FIELD_AS(Type, name, key, meaning)
#define SENTENCES(name)
#define END
#include "blame/findings/findings.def"
#undef TABLE
#undef ONE
#undef LIST
#undef FIELD
#undef FIELD_AS
#undef SENTENCES
#undef END
}

/// visit(list...) for each list of this origin, and with those of several findings, the same lists
/// side by side.
template <Origin kWanted, class Visit, class... F>
void visit_lists_of(const Visit& visit, F&... f) {
  visit_members_of<kWanted>([&](auto list) { visit(f.*list...); });
}

/// The same for all lists.
template <class Visit, class... F>
void visit_lists(const Visit& visit, F&... f) {
  visit_lists_of<Origin::first_rank>(visit, f...);
  visit_lists_of<Origin::each_rank>(visit, f...);
  visit_lists_of<Origin::outside>(visit, f...);
}

/// visit(text) for every text in findings, but those of losses, which never change.
template <class Visit>
void visit_texts(Findings& f, const Visit& visit) {
  const auto visit_row = [&](auto& row) {
    visit_fields(row, [&](auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, std::string>) visit(field);
    });
  };
  visit_row(f.run);
  for (std::string& note : f.run.notes) visit(note);
  for (std::string& violation : f.identities.violations) visit(violation);
  visit_lists(
      [&](auto& rows) {
        for (auto& row : rows) visit_row(row);
      },
      f);
}

}  // namespace culprit::blame
