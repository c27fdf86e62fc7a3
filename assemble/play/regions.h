// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The regions of the trace under construction: equal ones get one id, whichever process or thread
// meets them first. Names never contain '/', which joins regions to call paths, except where C++
// puts it (operator/).
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "assemble/names/symbols.h"
#include "assemble/play/folding.h"
#include "assemble/play/region_marks.h"
#include "base/ids.h"
#include "base/ranks/exchange.h"
#include "trace/definitions.h"

namespace culprit::assemble {

/// MT: internally synchronised, but for complete(); streams keep what they got.
class Regions {
 public:
  RegionId function(const SourceFrame& frame);
  /// An MPI function by its C name; its role follows from the name.
  RegionId mpi(std::string_view name);
  /// "!$omp <construct> @file.c:42"; without a place only the construct.
  RegionId openmp(std::string_view construct, trace::RegionRole role, const Symbol* place);
  /// A call of OpenMP's library ("omp_set_lock").
  RegionId openmp_call(std::string_view name, trace::RegionRole role);
  /// A region that the program named: RegionRole::code, phase or iteration. Its '/' become '|'.
  RegionId user(std::string_view name, trace::RegionRole role);
  /// A call of the system's library in which threads wait ("pthread_join").
  RegionId system_call(std::string_view name);
  /// A function's time in such a call that was ended from outside of the recorded processes.
  RegionId blocked_in(std::string_view call);
  /// A function's time in a call that reads or writes a file; without a name if that is empty.
  RegionId io_in(std::string_view call, std::string_view file);
  /// A function's time in a function of a library, which is named if it is not the language's own;
  /// either may be unknown.
  RegionId in_library(std::string_view function, std::string_view library);
  /// A function's time in which Python imports a module that is not the program's.
  RegionId importing(std::string_view module);
  /// A call of a device's runtime ("clEnqueueNDRangeKernel", "cudaLaunchKernel").
  RegionId device_call(std::string_view name);
  /// Work of such a runtime in a call for its own sake (trace::kDeviceStartUp).
  RegionId device_start_up(trace::Paradigm paradigm);
  /// The work of a device: a kernel, or the kind of operation.
  RegionId on_device(std::string_view name, trace::RegionRole role, trace::Paradigm paradigm);
  /// Time that the collector itself took.
  RegionId measuring();
  /// Time for which the function is unknown (trace::kNotSampled).
  RegionId not_sampled();
  /// Time in which a thread slept, and nobody knows where.
  /// A loop that waits for memory to change, at this place.
  RegionId spinning(const Symbol& place);
  RegionId blocked();
  /// The same between two calls in these functions, as far as known (StretchEnds).
  RegionId blocked_between(const StretchEnds& ends);
  /// The function's begin and end are recorded by instrumentation.
  void is_instrumented(RegionId function);
  /// Time in which recording was off (trace::kNotRecorded).
  RegionId not_recorded();

  /// For those who must not depend on the ids while several analysis ranks find regions.
  const RegionMarks& marks() const { return marks_; }
  /// Puts those of several tables in place of these, so that all who do it have the same ids.
  /// join() returns what the ids of table `own`, which this one has packed, have become.
  void pack(Packer& packer) const;
  std::vector<RegionId> join(const std::vector<Parcel>& all, size_t own);
  /// All regions by id. From now on there are no others: to ask for one is a bug.
  std::vector<trace::Region> complete();

 private:
  /// A construct as its records describe it, so that its name is put together once.
  struct Construct {
    std::string_view name;
    trace::RegionRole role;
    const Symbol* place;
    bool operator==(const Construct&) const = default;
  };
  struct HashConstruct {
    size_t operator()(const Construct& one) const;
  };

  using Key = std::tuple<std::string, std::string, uint32_t, trace::RegionRole>;
  static Key key_of(const trace::Region& region) {
    return {region.name, region.file, region.line, region.role};
  }
  RegionId intern(trace::Region region);
  RegionId add(trace::Region region);
  RegionId intern_openmp(const Construct& construct);

  bool complete_ = false;  ///< and nothing changes any more
  std::mutex mutex_;
  std::mutex constructs_mutex_;
  std::unordered_map<Construct, RegionId, HashConstruct> constructs_;
  std::deque<std::string> construct_names_;  ///< what constructs_ refers to
  std::map<Key, RegionId> ids_;
  std::vector<trace::Region> regions_;
  RegionMarks marks_;
};

}  // namespace culprit::assemble
