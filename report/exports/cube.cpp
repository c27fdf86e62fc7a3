// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Cube's .cubex: an archive of anchor.xml (metrics, call tree, system tree) and for each metric an
// index, which names the call paths that have values, and their values, one of each location.
// Metrics are exclusive along the call tree, whose nodes are then numbered depth first. Waiting is
// divided into the families and patterns of wait_patterns.def. All roots of the run's call paths
// are put under one, since readers expect a single one.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>
#include <string>

#include "blame/findings/function_id.h"
#include "replay/model/wait_patterns.h"
#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/tar.h"

namespace culprit::report {
namespace {

using blame::Findings;

std::string xml(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:  // XML has no way to write other control characters
        safe += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return safe;
}

struct Metric {
  std::string id, name, unit, meaning;
  size_t parent;                                     ///< in the list; itself: none
  std::map<CallPathId, std::vector<double>> values;  ///< by location
};

std::vector<double> no_values(const Findings& findings) {
  return std::vector<double>(findings.locations.size());
}

void add(const Findings& findings, Metric& metric, CallPathId path, LocationId location,
         double value) {
  if (!path.valid() || !location.valid()) return;
  const auto [row, fresh] = metric.values.try_emplace(path);
  if (fresh) row->second = no_values(findings);
  row->second[location.index()] += value;
}

std::vector<Metric> figure_metrics(const Findings& findings) {
  std::vector<Metric> metrics;
  for (size_t f = 0; f < kFigures.size(); ++f) {
    const Figure& figure = kFigures[f];
    const bool inside = figure.inside != FigureId::none;
    Metric& metric = metrics.emplace_back(Metric{std::string(figure.id),
                                                 std::string(figure.name),
                                                 std::string(figure.unit),
                                                 std::string(figure.meaning),
                                                 inside ? static_cast<size_t>(figure.inside) : f,
                                                 {}});
    each_value(findings, static_cast<FigureId>(f),
               [&](CallPathId path, LocationId location, double value) {
                 add(findings, metric, path, location, value);
               });
  }
  return metrics;
}

/// Whether it is that, or one of its family.
bool is_in(std::string_view pattern, std::string_view family) {
  size_t i = replay::find_pattern(pattern);
  while (i < replay::kPatterns.size()) {
    if (replay::kPatterns[i].id == family) return true;
    i = replay::find_pattern(replay::kPatterns[i].parent);
  }
  return false;
}

/// The patterns that the run has, and their families, each with all that is in it.
void add_patterns(const Findings& findings, std::vector<Metric>& metrics) {
  std::map<std::string, size_t, std::less<>> at;
  const auto waiting = static_cast<size_t>(FigureId::waiting);
  for (const replay::PatternText& pattern : replay::kPatterns) {
    const auto parent = at.find(pattern.parent);
    Metric metric{std::string(pattern.id),
                  std::string(pattern.name),
                  "s",
                  std::string(pattern.summary),
                  parent == at.end() ? waiting : parent->second,
                  {}};
    for (const blame::FoundWait& row : findings.waits) {
      if (is_in(row.pattern, pattern.id)) {
        add(findings, metric, row.callpath, row.location, row.time_s);
      }
    }
    if (metric.values.empty()) continue;
    at[std::string(pattern.id)] = metrics.size();
    metrics.push_back(std::move(metric));
  }
}

std::string location_text(const Findings& findings, size_t i) {
  const blame::FoundLocation& location = findings.locations[i];
  const std::string name =
      location.stream.empty() ? fmt::format("thread {}", location.thread) : xml(location.stream);
  return fmt::format(
      "<location Id=\"{}\"><name>{}</name><rank>{}</rank><type>{}</type></location>\n", i, name,
      location.thread, location.stream.empty() ? "thread" : "gpu");
}

std::string system_text(const Findings& findings) {
  std::map<std::string, std::map<uint32_t, std::vector<size_t>>> nodes;
  for (size_t i = 0; i < findings.locations.size(); ++i) {
    nodes[findings.locations[i].node][findings.locations[i].rank].push_back(i);
  }
  std::string out =
      "<systemtreenode Id=\"0\"><name>machine</name><class>machine</class><descr></descr>\n";
  size_t node_id = 1;
  for (const auto& [node, ranks] : nodes) {
    out +=
        fmt::format("<systemtreenode Id=\"{}\"><name>{}</name><class>node</class><descr></descr>\n",
                    node_id++, xml(node.empty() ? "node" : node));
    for (const auto& [rank, locations] : ranks) {
      out += fmt::format(
          "<locationgroup Id=\"{}\"><name>rank {}</name><rank>{}</rank><type>process</type>\n",
          rank, rank, rank);
      for (size_t i : locations) out += location_text(findings, i);
      out += "</locationgroup>\n";
    }
    out += "</systemtreenode>\n";
  }
  return out + "</systemtreenode>\n";
}

/// "3,0" as "3 0".
std::string spaced(std::string numbers) {
  std::replace(numbers.begin(), numbers.end(), ',', ' ');
  return numbers;
}

/// Grids of processes; Cube has no graphs.
std::string topologies_text(const Findings& findings) {
  std::string out = "<topologies>\n";
  for (const blame::FoundTopology& grid : findings.topologies) {
    if (grid.kind != blame::TopologyKind::grid) continue;
    std::istringstream sizes(spaced(grid.sizes)), periodic(spaced(grid.periodic));
    std::string dimensions;
    uint32_t size = 0;
    size_t count = 0;
    for (int is = 0; sizes >> size && periodic >> is; ++count) {
      dimensions += fmt::format("<dim size=\"{}\" periodic=\"{}\"/>\n", size, is != 0);
    }
    out += fmt::format("<cart name=\"{}\" ndims=\"{}\">\n{}", xml(grid.name), count, dimensions);
    for (const blame::FoundTopologyPlace& place : findings.topology_places) {
      if (place.topology != grid.name) continue;
      out += fmt::format("<coord lgId=\"{}\">{}</coord>\n", place.rank, spaced(place.coordinates));
    }
    out += "</cart>\n";
  }
  return out + "</topologies>\n";
}

std::string region_text(size_t id, const std::string& name, const std::string& model,
                        const std::string& file, uint32_t line) {
  return fmt::format(
      "<region id=\"{}\" mod=\"{}\" begin=\"{}\" end=\"{}\"><name>{}</name>"
      "<mangled_name>{}</mangled_name><paradigm>{}</paradigm><role>function</role><url></url>"
      "<descr></descr></region>\n",
      id, xml(file), line, line, name, name, xml(model));
}

class Cube {
 public:
  explicit Cube(const Findings& findings)
      : findings_(findings),
        tree_(findings.callpaths),
        metrics_(figure_metrics(findings)),
        number_(findings.callpaths.size()) {
    add_patterns(findings, metrics_);
  }

  std::string write() {
    Tar tar;
    tar.add("anchor.xml", anchor());
    for (size_t m = 0; m < metrics_.size(); ++m) {
      // Readers expect one call path at least.
      if (metrics_[m].values.empty()) metrics_[m].values[CallPathId::none()] = no_values(findings_);
      tar.add(fmt::format("{}.index", m), index_of(metrics_[m]));
      tar.add(fmt::format("{}.data", m), data_of(metrics_[m]));
    }
    return tar.take();
  }

 private:
  // --- anchor.xml ---

  std::string anchor() {
    std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<cube version=\"4.4\">\n";
    out += fmt::format("<attr key=\"Creator\" value=\"culprit\"/>\n");
    out += fmt::format("<attr key=\"Command\" value=\"{}\"/>\n", xml(findings_.run.command));
    out += "<doc><mirrors/></doc>\n<metrics title=\"Metric tree\">\n";
    for (size_t m = 0; m < metrics_.size(); ++m) {
      if (metrics_[m].parent == m) out += metric_text(m);
    }
    out += "</metrics>\n<program title=\"Call tree\">\n" + program_text();
    out += "</program>\n<system title=\"System tree\">\n" + system_text(findings_);
    return out + topologies_text(findings_) + "</system>\n</cube>\n";
  }

  std::string metric_text(size_t m) const {
    const Metric& metric = metrics_[m];
    const bool seconds = metric.unit == "s";
    std::string out = fmt::format(
        "<metric id=\"{}\" type=\"EXCLUSIVE\"><disp_name>{}</disp_name><uniq_name>{}</uniq_name>"
        "<dtype>DOUBLE</dtype><uom>{}</uom><val></val><url></url><descr>{}</descr>\n",
        m, xml(metric.name), xml(metric.id), seconds ? "sec" : "occ", xml(metric.meaning));
    for (size_t child = 0; child < metrics_.size(); ++child) {
      if (child != m && metrics_[child].parent == m) out += metric_text(child);
    }
    return out + "</metric>\n";
  }

  std::string program_text() {
    std::string regions, nodes;
    const std::string program =
        findings_.run.program.empty() ? "program" : xml(findings_.run.program);
    regions += region_text(0, program, "", "", 0);
    nodes += "<cnode id=\"0\" calleeId=\"0\">\n";
    numbers_ = 1;
    for (CallPathId root : tree_.roots) add_node(root, regions, nodes);
    return regions + nodes + "</cnode>\n";
  }

  /// Call paths may be deep: no recursion.
  void add_node(CallPathId root, std::string& regions, std::string& nodes) {
    struct Open {
      CallPathId path;
      size_t next = 0;
    };
    std::vector<Open> open{{root}};
    open_node(root, regions, nodes);
    while (!open.empty()) {
      const auto& children = tree_.children[open.back().path.index()];
      if (open.back().next == children.size()) {
        nodes += "</cnode>\n";
        open.pop_back();
        continue;
      }
      const CallPathId child = children[open.back().next++];
      open_node(child, regions, nodes);
      open.push_back({child});
    }
  }

  void open_node(CallPathId id, std::string& regions, std::string& nodes) {
    const blame::FoundCallPath& path = findings_.callpaths[id.index()];
    const auto [region, fresh] = regions_.try_emplace(
        std::pair(function_of(path), std::string_view(path.model)), regions_.size() + 1);
    if (fresh) {
      regions += region_text(region->second, xml(path.region), path.model, path.file, path.line);
    }
    number_[id.index()] = numbers_;
    nodes += fmt::format("<cnode id=\"{}\" calleeId=\"{}\">\n", numbers_++, region->second);
  }

  // --- values ---

  size_t number_of(CallPathId path) const { return path.valid() ? number_[path.index()] : 0; }

  /// The numbers of its call paths, in the order of their values.
  std::vector<std::pair<size_t, CallPathId>> order_of(const Metric& metric) const {
    std::vector<std::pair<size_t, CallPathId>> order;
    for (const auto& [path, values] : metric.values) order.emplace_back(number_of(path), path);
    std::sort(order.begin(), order.end());
    return order;
  }

  template <class T>
  static void put(std::string& out, T value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }

  std::string index_of(const Metric& metric) const {
    std::string out = "CUBEX.INDEX";
    put(out, int32_t{1});  // shows the byte order
    put(out, int16_t{0});  // version
    put(out, int8_t{1});   // not all call paths
    put(out, static_cast<int32_t>(metric.values.size()));
    for (const auto& [number, path] : order_of(metric)) put(out, static_cast<int32_t>(number));
    return out;
  }

  std::string data_of(const Metric& metric) const {
    std::string out = "CUBEX.DATA";
    for (const auto& [number, path] : order_of(metric)) {
      for (const double value : metric.values.at(path)) put(out, value);
    }
    return out;
  }

  const Findings& findings_;
  const PathTree tree_;
  std::vector<Metric> metrics_;
  std::map<std::pair<blame::FunctionId, std::string_view>, size_t> regions_;  ///< with models
  std::vector<size_t> number_;  ///< by CallPathId; settled when the anchor is written
  size_t numbers_ = 0;
};

}  // namespace

Result<void> export_cube(const blame::Findings& findings, const std::filesystem::path& output) {
  return write_new_file(output, Cube(findings).write());
}

}  // namespace culprit::report
