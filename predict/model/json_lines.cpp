// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Extra-P's JSON Lines (docs/file-formats.md of Extra-P 4.2). "->" separates regions there, so one
// in a name is written "-&gt;".

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/files/json_text.h"
#include "base/words.h"
#include "blame/findings/path_meaning.h"
#include "predict/model/fit.h"
#include "predict/model/measurements.h"

namespace culprit::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSeparator = "->", kEscaped = "-&gt;";

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// Call paths by their regions from the root on.
class Tree {
 public:
  CallPathId place(const std::string& path) {
    CallPathId parent;
    for (size_t begin = 0; begin <= path.size();) {
      const size_t end = std::min(path.find(kSeparator, begin), path.size());
      parent = child(parent, replaced(path.substr(begin, end - begin), kEscaped, kSeparator));
      begin = end + kSeparator.size();
    }
    return parent;
  }
  std::vector<blame::FoundCallPath> callpaths;

 private:
  CallPathId child(CallPathId parent, const std::string& region) {
    const auto [at, fresh] = known_.try_emplace({parent, region}, CallPathId(callpaths.size()));
    if (fresh) {
      blame::FoundCallPath& row = callpaths.emplace_back();
      row.region = region;
      row.name = parent.valid() ? callpaths[parent.index()].name + "/" + region : region;
      row.parent = parent;
      blame::set_model_by_name(row);
    }
    return at->second;
  }
  std::map<std::pair<CallPathId, std::string>, CallPathId> known_;
};

std::vector<double> numbers(const Json& value) {
  std::vector<double> all;
  if (value.is_number()) all.push_back(value.get<double>());
  if (!value.is_array()) return all;
  for (const Json& each : value) {
    if (!each.is_number()) return {};
    all.push_back(each.get<double>());
  }
  return all;
}

class LineReader {
 public:
  /// False if it is no line of such a file.
  bool take(const Json& line) {
    if (!line.is_object() || !line.contains("params") || !line.contains("value")) return false;
    const Json& params = line["params"];
    const std::vector<double> values = numbers(line["value"]);
    if (!params.is_object() || params.empty() || values.empty()) return false;
    if (names.empty()) {
      for (const auto& [name, value] : params.items()) names.push_back(name);
    }
    Point point;
    for (const std::string& name : names) {
      if (!params.contains(name) || !params[name].is_number()) return false;
      point.push_back(params[name].get<double>());
    }
    if (params.size() != names.size()) return false;
    std::string callpath, metric;
    for (const auto& [key, to] : {std::pair("callpath", &callpath), {"metric", &metric}}) {
      if (!line.contains(key)) continue;
      if (!line[key].is_string()) return false;
      *to = line[key].get<std::string>();
    }
    const CallPathId path = callpath.empty() ? CallPathId::none() : tree.place(callpath);
    for (const double value : values) add_value(samples[{metric, path}], point, value);
    points.insert(point);
    return true;
  }

  std::vector<std::string> names;
  std::set<Point> points;
  std::map<std::pair<std::string, CallPathId>, std::vector<Sample>> samples;
  Tree tree;
};

/// Without parameters that never change.
void drop_constants(LineReader& read) {
  for (size_t p = read.names.size(); p-- > 0;) {
    std::set<double> values;
    for (const Point& point : read.points) values.insert(point[p]);
    if (values.size() > 1) continue;
    const auto drop = [p](Point& point) { point.erase(point.begin() + static_cast<long>(p)); };
    read.names.erase(read.names.begin() + static_cast<long>(p));
    std::set<Point> points;
    for (Point point : read.points) drop(point), points.insert(point);
    read.points.swap(points);
    for (auto& [key, samples] : read.samples) {
      for (Sample& sample : samples) drop(sample.point);
    }
  }
}

}  // namespace

Result<Measurements> read_json_lines(const std::string& text) {
  LineReader read;
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json row;
    if (is_shallow_json(line)) row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!read.take(row)) {
      return Error{fmt::format(
          R"(line {} is none of Extra-P's JSON Lines, such as {{"params":{{"p":8}},"value":1.5}})",
          number)};
    }
  }
  if (read.points.empty()) return Error{"the file is empty"};
  drop_constants(read);
  const std::vector<Point> points(read.points.begin(), read.points.end());
  if (auto good = check_points(read.names, points); !good) return good.error();
  Measurements out;
  out.parameters = read.names;
  for (auto& [key, samples] : read.samples) {
    std::vector<Point> own;
    for (const Sample& sample : samples) own.push_back(sample.point);
    if (!check_points(read.names, own)) {
      ++out.left_out;
      continue;
    }
    out.series.push_back(
        {blame::ModelledFigure::other, key.first, key.second, "", std::move(samples)});
  }
  out.callpaths = std::move(read.tree.callpaths);
  return out;
}

std::string write_json_lines(const Measurements& measurements) {
  std::string text;
  for (const Series& series : measurements.series) {
    std::string path;
    for (CallPathId id = series.callpath; id.valid();) {
      const blame::FoundCallPath& row = measurements.callpaths[id.index()];
      path = replaced(row.region, kSeparator, kEscaped) +
             (path.empty() ? "" : std::string(kSeparator) + path);
      id = row.parent;
    }
    std::string metric = series.metric;
    if (metric.empty()) metric = to_string(series.figure);
    if (!series.pattern.empty()) metric += " " + series.pattern;
    for (const Sample& sample : series.samples) {
      Json params = Json::object();
      for (size_t p = 0; p < sample.point.size(); ++p) {
        params[measurements.parameters[p]] = sample.point[p];
      }
      for (const double value : sample.values) {
        const Json line = {{"params", params},
                           {"callpath", path.empty() ? "<run>" : path},
                           {"metric", metric},
                           {"value", value}};
        text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
      }
    }
  }
  return text;
}

}  // namespace culprit::predict
