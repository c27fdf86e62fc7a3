// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of replay and blame for a run: plain data, and the only input of report/. It is kept
// as an SQLite file (report/db/findings_db.h) inside the experiment, so that `report` needs no
// trace. findings.def describes its tables and the meaning of each field. Times are seconds as
// double: costs are fractions. Two kinds never share a field: wall-clock time (Wall) and allocation
// time, summed over locations (Allocated).
#pragma once

#include <string>
#include <vector>

#include "base/losses.h"
#include "blame/findings/columns.h"

namespace culprit::blame {

// The rows of each table: struct FoundWait, and so on.
#define TABLE(Row, table, meaning) struct Row {
#define ONE(Row, table, meaning) TABLE(Row, table, meaning)
#define LIST(Row, table, origin, meaning) TABLE(Row, table, meaning)
#define FIELD(Type, name, meaning) column::Type::Value name = column::Type::first();
#define FIELD_AS(Type, name, key, meaning) FIELD(Type, name, meaning)
#define SENTENCES(name) std::vector<std::string> name;
#define END \
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

/// Lists of costs or times are sorted, the largest first.
struct Findings {
  // Not inline: for all these tables they take long to compile, and most sources would have them.
  Findings();
  ~Findings();
  Findings(const Findings&);
  Findings(Findings&&) noexcept;
  Findings& operator=(const Findings&);
  Findings& operator=(Findings&&) noexcept;

#define TABLE(Row, table, meaning)
#define ONE(Row, table, meaning) Row table;
#define LIST(Row, table, origin, meaning) std::vector<Row> table;
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
  Losses losses;
};

}  // namespace culprit::blame
