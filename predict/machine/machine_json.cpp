// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The file that `culprit machine` writes (docs/machine.md): written in full, read strictly where a
// figure is needed and leniently where it only describes the origin of the file. A part written by
// hand may leave out the rest.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/files/json_text.h"
#include "base/files/regular_file.h"
#include "predict/machine/machine.h"

namespace culprit::predict {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "culprit machine 1";
constexpr size_t kMostValues = 100'000;

// --- writing ---

/// Times are kept to a tenth of a nanosecond.
double tenths(double ns) {
  return std::round(ns * 10) / 10;
}

Json json_of(const Distribution& distribution) {
  if (const auto* all = std::get_if<Empirical>(&distribution.shape())) {
    Json values = Json::array();
    for (const double value : all->values_ns) values.push_back(value);
    return {{"values_ns", values}, {"counts", all->counts}};
  }
  return to_text(distribution);
}

Json json_of(const MachineNoise& noise) {
  Json cores = Json::array();
  for (const CoreNoise& core : noise.cores) {
    cores.push_back({{"host", core.host},
                     {"cpu", core.cpu},
                     {"detours", core.detours},
                     {"largest_ns", core.largest.nanos()},
                     {"share", core.share}});
  }
  return {{"share", noise.detours.share()},
          {"seconds", noise.measured.seconds()},
          {"quantum_ns", noise.quantum.nanos()},
          {"shortest_detour_ns", noise.shortest.nanos()},
          {"detours_per_second_of_work", noise.detours.per_second_of_work},
          {"detours", json_of(noise.detours.length)},
          {"stolen_per_quantum", json_of(noise.stolen)},
          {"cores", cores}};
}

Json json_of(const Link& link) {
  Json sizes = Json::array();
  for (const SizeTime& size : link.sizes) {
    sizes.push_back({{"bytes", size.bytes},
                     {"median_ns", tenths(size.time.quantile_ns(0.5))},
                     {"times", json_of(size.time)}});
  }
  return {{"between", name_of(link.kind)},
          {"hosts", link.hosts},
          {"latency_ns", link.latency.nanos()},
          {"bytes_per_second", link.bytes_per_second()},
          {"send_overhead_ns", link.send_overhead.nanos()},
          {"receive_overhead_ns", link.receive_overhead.nanos()},
          {"step_bytes", link.step_bytes},
          {"step_ns", link.step.nanos()},
          {"sizes", sizes}};
}

// --- reading ---

/// An error in a file, thrown to from_json.
struct Wrong {
  std::string what;
};

const Json* find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() || at->is_null() ? nullptr : &*at;
}

const Json& need(const Json& object, const char* key) {
  const Json* found = find(object, key);
  if (found == nullptr) throw Wrong{fmt::format("it has no \"{}\"", key)};
  return *found;
}

double number(const Json& value, const char* key) {
  const double found = value.is_number() ? value.get<double>() : NAN;
  if (std::isfinite(found) && found >= 0 && found < 9e18) return found;
  throw Wrong{fmt::format("\"{}\" must be a number that is not negative", key)};
}

double number_or_zero(const Json& object, const char* key) {
  const Json* found = find(object, key);
  return found == nullptr ? 0 : number(*found, key);
}

Duration nanos(const Json& object, const char* key) {
  return Duration::from_nanos(std::llround(number_or_zero(object, key)));
}

std::string text(const Json& object, const char* key) {
  const Json* found = find(object, key);
  return found != nullptr && found->is_string() ? found->get<std::string>() : "";
}

const Json& list(const Json& value, const char* key) {
  if (!value.is_array()) throw Wrong{fmt::format("\"{}\" must be a list", key)};
  if (value.size() > kMostValues) throw Wrong{fmt::format("\"{}\" is too long", key)};
  return value;
}

const Json& object(const Json& value, const char* key) {
  if (!value.is_object()) throw Wrong{fmt::format("\"{}\" must be an object", key)};
  return value;
}

std::vector<std::string> texts(const Json& holder, const char* key) {
  std::vector<std::string> result;
  const Json* found = find(holder, key);
  for (const Json& each : found == nullptr ? Json::array() : list(*found, key)) {
    if (each.is_string()) result.push_back(each.get<std::string>());
  }
  return result;
}

Distribution distribution(const Json& value, const char* key) {
  if (value.is_string()) {
    auto parsed = parse_distribution(value.get<std::string>());
    if (!parsed) throw Wrong{parsed.error().sentence};
    return std::move(parsed).value();
  }
  const Json &values = list(need(object(value, key), "values_ns"), "values_ns"),
             &counts = list(need(value, "counts"), "counts");
  if (values.size() != counts.size()) {
    throw Wrong{fmt::format("\"{}\" has not as many counts as values", key)};
  }
  Empirical all;
  for (size_t i = 0; i < values.size(); ++i) {
    all.values_ns.push_back(number(values[i], "values_ns"));
    all.counts.push_back(static_cast<uint64_t>(number(counts[i], "counts")));
    if (all.counts.back() > (uint64_t{1} << 40)) throw Wrong{"\"counts\" are too large"};
  }
  if (!std::is_sorted(all.values_ns.begin(), all.values_ns.end())) {
    throw Wrong{fmt::format("the values of \"{}\" must ascend", key)};
  }
  return all.values_ns.empty() ? Distribution() : Distribution(std::move(all));
}

MachineNoise noise_from(const Json& json) {
  MachineNoise noise;
  noise.measured = Duration::from_nanos(std::llround(number_or_zero(json, "seconds") * 1e9));
  noise.quantum = nanos(json, "quantum_ns");
  noise.shortest = nanos(json, "shortest_detour_ns");
  noise.detours.length = distribution(need(json, "detours"), "detours");
  noise.detours.per_second_of_work =
      number(need(json, "detours_per_second_of_work"), "detours_per_second_of_work");
  if (const Json* stolen = find(json, "stolen_per_quantum")) {
    noise.stolen = distribution(*stolen, "stolen_per_quantum");
  }
  const Json* cores = find(json, "cores");
  for (const Json& each : cores == nullptr ? Json::array() : list(*cores, "cores")) {
    const Json& core = object(each, "cores");
    noise.cores.push_back({text(core, "host"), static_cast<uint32_t>(number_or_zero(core, "cpu")),
                           static_cast<uint64_t>(number_or_zero(core, "detours")),
                           nanos(core, "largest_ns"), number_or_zero(core, "share")});
  }
  return noise;
}

Link link_from(const Json& json) {
  Link link;
  const std::string between = text(json, "between");
  if (between == name_of(LinkKind::other_node)) {
    link.kind = LinkKind::other_node;
  } else if (between != name_of(LinkKind::same_node)) {
    throw Wrong{"a link's \"between\" must be \"same node\" or \"other node\""};
  }
  link.hosts = texts(json, "hosts");
  link.latency = Duration::from_nanos(std::llround(number(need(json, "latency_ns"), "latency_ns")));
  const double rate = number(need(json, "bytes_per_second"), "bytes_per_second");
  link.ns_per_byte = rate > 0 ? 1e9 / rate : 0;
  link.send_overhead = nanos(json, "send_overhead_ns");
  link.receive_overhead = nanos(json, "receive_overhead_ns");
  link.step_bytes = static_cast<uint64_t>(number_or_zero(json, "step_bytes"));
  link.step = nanos(json, "step_ns");
  const Json* sizes = find(json, "sizes");
  for (const Json& each : sizes == nullptr ? Json::array() : list(*sizes, "sizes")) {
    const Json& size = object(each, "sizes");
    link.sizes.push_back({static_cast<uint64_t>(number(need(size, "bytes"), "bytes")),
                          distribution(need(size, "times"), "times")});
    if (link.sizes.size() > 1 && link.sizes.rbegin()[1].bytes >= link.sizes.back().bytes) {
      throw Wrong{"the sizes of a link must ascend"};
    }
  }
  return link;
}

Machine machine_from(const Json& json) {
  const std::string format = text(json, "format");
  if (format != kFormat) {
    throw Wrong{format.empty() ? "it has no \"format\""
                               : fmt::format("its format is '{}', not '{}'", format, kFormat)};
  }
  Machine machine;
  machine.culprit = text(json, "culprit");
  machine.date = text(json, "date");
  machine.hosts = texts(json, "hosts");
  machine.mpi = text(json, "mpi");
  if (const Json* noise = find(json, "noise")) machine.noise = noise_from(object(*noise, "noise"));
  const Json* links = find(json, "links");
  for (const Json& each : links == nullptr ? Json::array() : list(*links, "links")) {
    machine.links.push_back(link_from(object(each, "links")));
  }
  if (!machine.noise.known() && machine.links.empty()) {
    throw Wrong{"it has neither noise nor links"};
  }
  return machine;
}

}  // namespace

std::string to_json(const Machine& machine) {
  Json json = {{"format", kFormat},
               {"culprit", machine.culprit},
               {"date", machine.date},
               {"hosts", machine.hosts},
               {"mpi", machine.mpi}};
  if (machine.noise.known()) json["noise"] = json_of(machine.noise);
  json["links"] = Json::array();
  for (const Link& link : machine.links) json["links"].push_back(json_of(link));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Machine> from_json(const std::string& content, const std::filesystem::path& file) {
  try {
    Json json;
    if (is_shallow_json(content)) json = Json::parse(content, nullptr, false);
    if (!json.is_object()) throw Wrong{"it is no JSON object"};
    return machine_from(json);
  } catch (const Wrong& wrong) {
    return Error{fmt::format("'{}' is no file of culprit machine: {}", file.string(), wrong.what)};
  }
}

Result<Machine> read_machine(const std::filesystem::path& file) {
  const auto content = read_regular_file(file, Owner::anybody, kLargestJson);
  if (!content) return Error{fmt::format("cannot read '{}'", file.string())};
  return from_json(*content, file);
}

Result<Noise> noise_of(const std::string& text) {
  if (text.find('(') != text.npos) return parse_noise(text);
  auto machine = read_machine(text);
  if (!machine) {
    return Error{fmt::format("{}; noise is also written as in exponential(10us)@1kHz",
                             machine.error().sentence)};
  }
  if (!machine->noise.known()) return Error{fmt::format("'{}' says nothing of noise", text)};
  return std::move(machine->noise.detours);
}

}  // namespace culprit::predict
