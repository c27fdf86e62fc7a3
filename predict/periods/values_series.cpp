// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A value holds until the next time; steps between are as long as the usual distance of times, or
// as was asked for, and a step's value is the mean over it.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "predict/periods/period.h"

namespace culprit::predict {
namespace {

struct Point {
  double time, value;
};

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return {};
  return value;
}

std::optional<Point> point(std::string_view line) {
  const size_t comma = line.find(',');
  if (comma == line.npos) return {};
  const auto time = number(line.substr(0, comma)), value = number(line.substr(comma + 1));
  if (!time || !value) return {};
  return Point{*time, *value};
}

/// The columns' names.
bool is_heading(std::string_view line) {
  const char first = line.front();
  return (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '#' ||
         first == '"';
}

Result<std::vector<Point>> points_of(std::string_view text) {
  std::vector<Point> points;
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view row = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (row.empty()) continue;
    const auto at = point(row);
    if (!at && line == 1 && is_heading(row)) continue;
    const std::string where = "line " + std::to_string(line) + " of the values ";
    if (!at) return Error{where + "is not 'time,value', two finite numbers"};
    if (!points.empty() && at->time <= points.back().time) {
      return Error{where + "is not later than the one before"};
    }
    points.push_back(*at);
  }
  return points;
}

double usual_distance(const std::vector<Point>& points) {
  std::vector<double> distances;
  for (size_t i = 1; i < points.size(); ++i) {
    distances.push_back(points[i].time - points[i - 1].time);
  }
  const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
  std::nth_element(distances.begin(), middle, distances.end());
  return *middle;
}

/// The integral of the values from the first time up to `time`, for rising times.
class Integral {
 public:
  explicit Integral(const std::vector<Point>& points) : points_(points) {}
  double up_to(double time) {
    while (at_ + 1 < points_.size() && points_[at_ + 1].time <= time) {
      sum_ += points_[at_].value * (points_[at_ + 1].time - points_[at_].time);
      ++at_;
    }
    return sum_ + points_[at_].value * (time - points_[at_].time);
  }

 private:
  const std::vector<Point>& points_;
  size_t at_ = 0;
  double sum_ = 0;
};

}  // namespace

Result<Series> values_series(std::string_view text, const SeriesSelection& selection) {
  if (auto part = check_part(selection); !part) return part.error();
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto read = points_of(text);
  if (!read) return read.error();
  std::vector<Point>& points = *read;
  std::erase_if(points, [&](const Point& each) {
    return each.time < selection.from_s || each.time > selection.to_s;
  });
  if (points.size() < kLeastSamples) {
    return Error{"fewer than " + std::to_string(kLeastSamples) + " values say nothing; here are " +
                 std::to_string(points.size())};
  }
  const double usual = usual_distance(points);
  const double length = points.back().time - points.front().time + usual;
  const double step = selection.rate_hz > 0 ? 1 / selection.rate_hz : usual;
  const double steps = std::round(length / step);
  if (steps > static_cast<double>(kMostSamples) || steps < static_cast<double>(kLeastSamples)) {
    return Error{"at this rate there are too many or too few values: choose another --rate"};
  }
  Series made;
  made.begin_s = points.front().time;
  made.step_s = step;
  made.pieces = points.size();
  Integral integral(points);
  double before = 0;
  for (size_t i = 1; i <= static_cast<size_t>(steps); ++i) {
    const double now = integral.up_to(made.begin_s + step * static_cast<double>(i));
    made.values.push_back((now - before) / step);
    before = now;
  }
  return made;
}

}  // namespace culprit::predict
