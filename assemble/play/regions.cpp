// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One table for all threads, behind one lock, and in front of it small caches by the numbers that
// records hold (the number of a name), so that the lock is rarely taken.
#include "assemble/play/regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fnv.h"
#include "base/ranks/fields.h"
#include "base/result.h"
#include "trace/device_apis.h"
#include "trace/mpi_calls.h"
#include "trace/openmp_names.h"
#include "trace/pseudo_regions.h"

namespace culprit::trace {

template <class Way>
void fields(Way& way, Region& region) {
  way(region.name, region.role, region.paradigm, region.file, region.line);
}

}  // namespace culprit::trace

namespace culprit::assemble {
namespace {

using trace::Paradigm;
using trace::RegionRole;

/// What stands behind the '@': the source line, or the place in the function.
std::string place_name(const Symbol& place) {
  if (place.line != 0) return fmt::format("{}:{}", place.file, place.line);
  if (!place.named) return fmt::format("{}+{:#x}", place.module, place.address);
  return fmt::format("{}+{:#x}", place.frames.back().function, place.into_function);
}

}  // namespace

std::vector<trace::Region> Regions::complete() {
  complete_ = true;
  return regions_;
}

void Regions::pack(Packer& packer) const {
  std::vector<trace::Region> regions = regions_;
  culprit::pack(packer, regions);
}

std::vector<RegionId> Regions::join(const std::vector<Parcel>& all, size_t own) {
  ids_.clear();
  regions_.clear();
  marks_.clear();
  std::vector<RegionId> number;
  for (size_t table = 0; table < all.size(); ++table) {
    Unpacker unpacker(all[table]);
    for (trace::Region& region : unpack<std::vector<trace::Region>>(unpacker)) {
      // One table may have only calls of it that are not instrumented.
      const bool instrumented = region.paradigm == Paradigm::compiler;
      const RegionId id = add(std::move(region));
      if (instrumented) regions_[id.index()].paradigm = Paradigm::compiler;
      if (table == own) number.push_back(id);
    }
  }
  for (auto& [construct, region] : constructs_) region = number[region.index()];
  return number;
}

/// The id of the equal one, if there is one already.
RegionId Regions::add(trace::Region region) {
  const auto [it, added] = ids_.try_emplace(key_of(region), RegionId(regions_.size()));
  if (!added) return it->second;
  const StretchKind name = with(fnv1a(region.name), fnv1a(region.file));
  marks_.add(with(with(name, region.line), static_cast<uint64_t>(region.role)));
  regions_.push_back(std::move(region));
  return it->second;
}

RegionId Regions::intern(trace::Region region) {
  if (complete_) {
    const auto known = ids_.find(key_of(region));
    CULPRIT_CHECK(known != ids_.end());
    return known->second;
  }
  const std::lock_guard lock(mutex_);
  return add(std::move(region));
}

RegionId Regions::function(const SourceFrame& frame) {
  return intern({frame.function, RegionRole::function, Paradigm::user, frame.file, frame.line});
}

RegionId Regions::mpi(std::string_view name) {
  return intern({std::string(name), trace::role_of_mpi(name), Paradigm::mpi, "", 0});
}

size_t Regions::HashConstruct::operator()(const Construct& one) const {
  constexpr size_t kMixer = 0x9e3779b97f4a7c15;
  const size_t place = std::hash<const void*>()(one.place) * kMixer;
  return std::hash<std::string_view>()(one.name) ^ place ^ static_cast<size_t>(one.role);
}

// Programs have few constructs, and go through them millions of times.
RegionId Regions::openmp(std::string_view construct, RegionRole role, const Symbol* place) {
  std::unique_lock lock(constructs_mutex_, std::defer_lock);
  if (!complete_) lock.lock();
  const auto known = constructs_.find({construct, role, place});
  if (known != constructs_.end()) return known->second;
  CULPRIT_CHECK(!complete_);
  const std::string& name = construct_names_.emplace_back(construct);
  const Construct kept{name, role, place};
  return constructs_.emplace(kept, intern_openmp(kept)).first->second;
}

RegionId Regions::intern_openmp(const Construct& construct) {
  trace::Region region{fmt::format("{}{}", trace::kConstruct, construct.name), construct.role,
                       Paradigm::openmp, "", 0};
  if (construct.place != nullptr) {
    region.name += " @" + place_name(*construct.place);
    region.file = construct.place->file;
    region.line = construct.place->line;
  }
  return intern(std::move(region));
}

RegionId Regions::openmp_call(std::string_view name, RegionRole role) {
  return intern({std::string(name), role, Paradigm::openmp, "", 0});
}

RegionId Regions::system_call(std::string_view name) {
  return intern({std::string(name), RegionRole::function, Paradigm::pthread, "", 0});
}

RegionId Regions::blocked_in(std::string_view call) {
  return intern({fmt::format("{}{})", trace::pseudo::blocked_in, call), RegionRole::function,
                 Paradigm::user, "", 0});
}

RegionId Regions::io_in(std::string_view call, std::string_view file) {
  std::string name = fmt::format("{}{}", trace::pseudo::io_in, call);
  if (!file.empty()) name += fmt::format(" of {}", file);
  return intern({name + ")", RegionRole::function, Paradigm::user, "", 0});
}

RegionId Regions::in_library(std::string_view function, std::string_view library) {
  std::string name(function.empty() ? library : function);
  if (!function.empty() && !library.empty()) name += fmt::format(" of {}", library);
  std::replace(name.begin(), name.end(), '/', '|');
  return intern({fmt::format("{}{})", trace::pseudo::in_library, name), RegionRole::function,
                 Paradigm::user, "", 0});
}

RegionId Regions::importing(std::string_view module) {
  return intern({fmt::format("{}{})", trace::pseudo::importing, module), RegionRole::function,
                 Paradigm::user, "", 0});
}

RegionId Regions::user(std::string_view name, RegionRole role) {
  std::string plain(name);
  std::replace(plain.begin(), plain.end(), '/', '|');
  return intern({std::move(plain), role, Paradigm::user, "", 0});
}

RegionId Regions::device_call(std::string_view name) {
  const trace::DeviceApiText* const api = trace::device_api_of_call(name);
  const Paradigm paradigm = api != nullptr ? api->paradigm : Paradigm::unknown;
  return intern({std::string(name), RegionRole::function, paradigm, "", 0});
}

RegionId Regions::device_start_up(Paradigm paradigm) {
  return intern({std::string(trace::kDeviceStartUp), RegionRole::function, paradigm, "", 0});
}

RegionId Regions::on_device(std::string_view name, RegionRole role, Paradigm paradigm) {
  std::string plain(name);
  if (!plain.starts_with("operator")) std::replace(plain.begin(), plain.end(), '/', '|');
  return intern({std::move(plain), role, paradigm, "", 0});
}

RegionId Regions::not_recorded() {
  return intern({std::string(trace::kNotRecorded), RegionRole::artificial,
                 Paradigm::measurement_system, "", 0});
}

RegionId Regions::not_sampled() {
  return intern({std::string(trace::kNotSampled), RegionRole::function, Paradigm::user, "", 0});
}

RegionId Regions::spinning(const Symbol& place) {
  return intern({std::string(trace::pseudo::spinning), RegionRole::function, Paradigm::user,
                 place.file, place.line});
}

RegionId Regions::blocked() {
  return intern(
      {std::string(trace::pseudo::blocked_unknown), RegionRole::function, Paradigm::user, "", 0});
}

RegionId Regions::blocked_between(const StretchEnds& ends) {
  if (!ends.from.valid() || !ends.to.valid()) return blocked();
  const std::string& from = regions_[ends.from.index()].name;
  const std::string& to = regions_[ends.to.index()].name;
  std::string where = fmt::format("between {} and {}", from, to);
  if (ends.from == ends.to) {
    where = fmt::format("{} of {}", ends.same_place ? "between two calls" : "in or between calls",
                        from);
  }
  return intern({fmt::format("{} {}", trace::pseudo::blocked_unknown, where), RegionRole::function,
                 Paradigm::user, "", 0});
}

void Regions::is_instrumented(RegionId function) {
  if (complete_) return;  // it was said before
  const std::lock_guard lock(mutex_);
  regions_[function.index()].paradigm = Paradigm::compiler;
}

RegionId Regions::measuring() {
  return intern({"culprit measuring", RegionRole::artificial, Paradigm::measurement_system, "", 0});
}

}  // namespace culprit::assemble
