// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each table is written column by column. The type of a value (a time, a name, an id) decides how
// its column is stored, so a new field of findings.def is in the page without a change here.

#include "report/page_data/pack.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/printable.h"
#include "blame/critical_path/short_segments.h"
#include "blame/findings/findings_fields.h"
#include "report/json/verdict_json.h"
#include "report/words/displayed.h"
#include "report/words/patterns.h"

namespace culprit::report {
namespace {

using Json = nlohmann::ordered_json;

static_assert(std::endian::native == std::endian::little, "columns are written as they lie");

/// Rows from which on sums are kept as single floats.
constexpr size_t kLongTable = 20'000;

/// A row of the excerpt's tables.
struct SingleActivity {
  LocationId location;
  CallPathId callpath;
  double begin_s, end_s;
};
struct SingleWait {
  LocationId location;
  CallPathId callpath;
  std::string pattern;
  LocationId cause_location;
  double begin_s, end_s;
};
struct SingleMessage {
  LocationId sender, receiver;
  double sent_s, received_s;
  uint32_t bytes;
};

class Packer {
 public:
  /// `visit(row, column)` calls column(name, value) for each column.
  template <class Row, class Visit>
  void add(std::string_view name, const std::vector<Row>& rows, const Visit& visit) {
    Json columns = Json::object();
    const bool longer = rows.size() > kLongTable;
    size_t count = 0;
    const Row any{};
    visit(any, [&](std::string_view, const auto&) { ++count; });
    for (size_t wanted = 0; wanted < count; ++wanted) {
      align();
      const size_t at = bytes_.size();
      std::string_view key, type;
      const auto describe = [&, wanted](const Row& row, bool put) {
        size_t i = 0;
        visit(row, [&](std::string_view column, const auto& value) {
          if (i++ != wanted) return;
          key = column;
          type = this->put(value, longer, put);
        });
      };
      describe(any, false);
      for (const Row& row : rows) describe(row, true);
      columns[std::string(key)] = {{"type", type}, {"at", at}};
    }
    tables_[std::string(name)] = {{"rows", rows.size()}, {"columns", columns}};
  }

  template <class Row>
  void add(const std::vector<Row>& rows) {
    add(blame::Table<Row>::kName, rows, [](const Row& row, const auto& column) {
      blame::Table<Row>::columns(
          row, [&](const auto& what, const auto& value) { column(what.name, value); });
    });
  }

  std::string take(Json head) {
    head["names"] = names_;
    head["tables"] = tables_;
    std::string text = head.dump(-1, ' ', false, Json::error_handler_t::replace);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    const uint64_t length = text.size();
    std::string all(sizeof length, '\0');
    std::memcpy(all.data(), &length, sizeof length);
    return all + text + bytes_;
  }

 private:
  void align() { bytes_.resize((bytes_.size() + 7) / 8 * 8); }

  template <class T>
  std::string_view raw(T value, std::string_view type, bool put) {
    if (put) {
      char bytes[sizeof value];
      std::memcpy(bytes, &value, sizeof value);
      bytes_.append(bytes, sizeof value);
    }
    return type;
  }

  // Each puts a value if it is wanted, and says of which type its column is.
  std::string_view put(double value, bool longer, bool put) {
    return longer ? raw(static_cast<float>(value), "f32", put) : raw(value, "f64", put);
  }
  std::string_view put(const std::string& text, bool, bool put) {
    return raw(put ? name(text) : 0, "name", put);
  }
  template <class Tag>
  std::string_view put(Id<Tag> id, bool, bool put) {
    return raw(id.valid() ? static_cast<uint32_t>(id.index()) : UINT32_MAX, "id", put);
  }
  template <Word E>
  std::string_view put(E word, bool, bool put) {
    return raw(put ? name(std::string(to_string(word))) : 0, "name", put);
  }
  template <std::integral T>
  std::string_view put(T number, bool, bool put) {
    if constexpr (sizeof(T) <= 4 && std::is_unsigned_v<T>) {
      return raw(static_cast<uint32_t>(number), "u32", put);
    } else {
      return raw(static_cast<double>(number), "f64", put);
    }
  }

  uint32_t name(const std::string& text) {
    const auto [at, fresh] = known_.try_emplace(text, static_cast<uint32_t>(names_.size()));
    if (fresh) names_.push_back(text);
    return at->second;
  }

  std::unordered_map<std::string, uint32_t> known_;
  Json names_ = Json::array(), tables_ = Json::object();
  std::string bytes_;
};

std::vector<blame::FoundSegment> short_path(const std::vector<blame::FoundSegment>& segments) {
  std::vector<blame::PathSegment> path;
  for (const blame::FoundSegment& row : segments) {
    const auto moment = [](double s) { return Time::from_nanos(static_cast<int64_t>(s * 1e9)); };
    path.push_back({row.location, row.callpath, moment(row.begin_s), moment(row.end_s)});
  }
  std::vector<blame::FoundSegment> rows;
  for (const auto& each : blame::join_short_segments(path, kMostPageSegments)) {
    rows.push_back({each.location, each.path, each.begin.seconds(), each.end.seconds()});
  }
  return rows;
}

void add_excerpt(const blame::Excerpt& excerpt, Packer& packer) {
  std::vector<SingleActivity> activities;
  for (const auto& each : excerpt.activities) {
    activities.push_back({each.location, each.path, each.begin.seconds(), each.end.seconds()});
  }
  std::vector<SingleWait> waits;
  for (const auto& each : excerpt.waits) {
    waits.push_back({each.location, each.path, std::string(replay::text(each.pattern).id),
                     each.cause, each.begin.seconds(), each.end.seconds()});
  }
  std::vector<SingleMessage> messages;
  for (const auto& each : excerpt.messages) {
    messages.push_back(
        {each.sender, each.receiver, each.sent.seconds(), each.received.seconds(), each.bytes});
  }
  packer.add("activities", activities, [](const SingleActivity& row, const auto& column) {
    column("location", row.location), column("callpath", row.callpath);
    column("begin_s", row.begin_s), column("end_s", row.end_s);
  });
  packer.add("single_waits", waits, [](const SingleWait& row, const auto& column) {
    column("location", row.location), column("callpath", row.callpath);
    column("pattern", row.pattern), column("cause_location", row.cause_location);
    column("begin_s", row.begin_s), column("end_s", row.end_s);
  });
  packer.add("messages", messages, [](const SingleMessage& row, const auto& column) {
    column("sender", row.sender), column("receiver", row.receiver);
    column("sent_s", row.sent_s), column("received_s", row.received_s);
    column("bytes", row.bytes);
  });
}

void add_lines(const PageSources& sources, Packer& packer) {
  packer.add("lines", sources.lines, [](const SourceLine& row, const auto& column) {
    column("rank", row.rank), column("function", row.function);
    column("file", row.file), column("line", row.line);
    column("samples", row.samples), column("with_callees", row.with_callees);
  });
}

}  // namespace

std::string pack_part(const blame::Excerpt& excerpt) {
  Packer packer;
  add_excerpt(excerpt, packer);
  return packer.take({{"version", 1}, {"left_out", excerpt.left_out}});
}

std::string pack_page(const blame::Findings& findings, const blame::Excerpt* excerpt,
                      const PageSources& sources) {
  blame::Findings f = displayed(findings);
  f.segments = short_path(f.segments);
  Packer packer;
  packer.add(std::vector{f.run});
  packer.add(std::vector{f.identities});
  packer.add(std::vector{f.start_up});
  packer.add(found_patterns());
  std::vector<blame::FoundLoss> losses;
  for (const auto& [name, loss] : f.losses.all()) {
    losses.push_back({name, loss.count, loss.severity, printable(loss.advice)});
  }
  packer.add(losses);
  blame::visit_lists([&](const auto& rows) { packer.add(rows); }, f);
  if (excerpt != nullptr) add_excerpt(*excerpt, packer);
  add_lines(sources, packer);
  return packer.take({{"version", 1},
                      {"sources", sources.texts},
                      {"verdict", verdict_json(f)},
                      {"notes", f.run.notes},
                      {"violations", f.identities.violations},
                      {"left_out", excerpt != nullptr ? excerpt->left_out : 0}});
}

}  // namespace culprit::report
