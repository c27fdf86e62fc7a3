// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each switch is one direction of one enumeration. Values that OTF2 has and culprit does not need
// fall together; values of a newer OTF2 or of a damaged archive take the default.
#include "trace/otf2/names.h"

#include "trace/device_calls.h"

namespace culprit::trace {

Paradigm paradigm_from_otf2(OTF2_Paradigm paradigm) {
#if OTF2_VERSION_MAJOR >= 3
  if (paradigm == OTF2_PARADIGM_HIP) return kHipParadigm;
#endif
#define PARADIGM(id, otf2) \
  if (paradigm == OTF2_PARADIGM_##otf2) return Paradigm::id;
#include "trace/paradigms.def"
#undef PARADIGM
  return Paradigm::unknown;
}

OTF2_Paradigm to_otf2(Paradigm paradigm) {
  switch (paradigm) {
#define PARADIGM(id, otf2) \
  case Paradigm::id:       \
    return OTF2_PARADIGM_##otf2;
#include "trace/paradigms.def"
#undef PARADIGM
  }
  return OTF2_PARADIGM_UNKNOWN;
}

RegionRole role_from_otf2(OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags) {
  if (paradigm == OTF2_PARADIGM_USER) {
    if ((flags & OTF2_REGION_FLAG_DYNAMIC) != 0) return RegionRole::iteration;
    if ((flags & OTF2_REGION_FLAG_PHASE) != 0) return RegionRole::phase;
    if (role == OTF2_REGION_ROLE_CODE) return RegionRole::code;
  }
  switch (role) {
    case OTF2_REGION_ROLE_UNKNOWN:
      return RegionRole::unknown;
    case OTF2_REGION_ROLE_POINT2POINT:
      return RegionRole::point_to_point;
    case OTF2_REGION_ROLE_COLL_ONE2ALL:
    case OTF2_REGION_ROLE_COLL_ALL2ONE:
    case OTF2_REGION_ROLE_COLL_ALL2ALL:
    case OTF2_REGION_ROLE_COLL_OTHER:
      return RegionRole::collective;
    case OTF2_REGION_ROLE_BARRIER:
      return RegionRole::barrier;
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
      return RegionRole::implicit_barrier;
    case OTF2_REGION_ROLE_PARALLEL:
      return RegionRole::parallel;
    case OTF2_REGION_ROLE_LOOP:
    case OTF2_REGION_ROLE_SECTIONS:
    case OTF2_REGION_ROLE_SINGLE:
    case OTF2_REGION_ROLE_WORKSHARE:
      return RegionRole::worksharing;
    case OTF2_REGION_ROLE_TASK:
    case OTF2_REGION_ROLE_TASK_UNTIED:
      return RegionRole::task;
    case OTF2_REGION_ROLE_TASK_WAIT:
      return RegionRole::task_wait;
    case OTF2_REGION_ROLE_CRITICAL:
      return RegionRole::critical;
    case OTF2_REGION_ROLE_WRAPPER:
      return paradigm == OTF2_PARADIGM_OPENMP ? RegionRole::lock : RegionRole::function;
    case OTF2_REGION_ROLE_DATA_TRANSFER:
      return RegionRole::data_transfer;
    case OTF2_REGION_ROLE_ARTIFICIAL:
      return RegionRole::artificial;
    default:
      return RegionRole::function;
  }
}

OTF2_RegionRole to_otf2(RegionRole role) {
  switch (role) {
    case RegionRole::unknown:
      return OTF2_REGION_ROLE_UNKNOWN;
    case RegionRole::point_to_point:
      return OTF2_REGION_ROLE_POINT2POINT;
    case RegionRole::collective:
      return OTF2_REGION_ROLE_COLL_OTHER;
    case RegionRole::barrier:
      return OTF2_REGION_ROLE_BARRIER;
    case RegionRole::implicit_barrier:
      return OTF2_REGION_ROLE_IMPLICIT_BARRIER;
    case RegionRole::parallel:
      return OTF2_REGION_ROLE_PARALLEL;
    case RegionRole::worksharing:
      return OTF2_REGION_ROLE_WORKSHARE;
    case RegionRole::task:
      return OTF2_REGION_ROLE_TASK;
    case RegionRole::task_wait:
      return OTF2_REGION_ROLE_TASK_WAIT;
    case RegionRole::critical:
      return OTF2_REGION_ROLE_CRITICAL;
    case RegionRole::lock:
      return OTF2_REGION_ROLE_WRAPPER;
    case RegionRole::data_transfer:
      return OTF2_REGION_ROLE_DATA_TRANSFER;
    case RegionRole::artificial:
      return OTF2_REGION_ROLE_ARTIFICIAL;
    case RegionRole::code:
    case RegionRole::phase:
      return OTF2_REGION_ROLE_CODE;
    case RegionRole::iteration:
      return OTF2_REGION_ROLE_LOOP;
    case RegionRole::function:
    case RegionRole::kernel:
      break;
  }
  return OTF2_REGION_ROLE_FUNCTION;
}

MetricMode metric_mode_from_otf2(OTF2_MetricMode mode) {
  switch (mode & OTF2_METRIC_VALUE_MASK) {
    case OTF2_METRIC_VALUE_ACCUMULATED:
      return MetricMode::accumulated;
    case OTF2_METRIC_VALUE_RELATIVE:
      return MetricMode::relative;
    default:
      return MetricMode::level;
  }
}

OTF2_MetricMode to_otf2(MetricMode mode) {
  switch (mode) {
    case MetricMode::accumulated:
      return OTF2_METRIC_ACCUMULATED_START;
    case MetricMode::relative:
      return OTF2_METRIC_RELATIVE_LAST;
    case MetricMode::level:
      return OTF2_METRIC_ABSOLUTE_POINT;
  }
  return OTF2_METRIC_ABSOLUTE_POINT;
}

OTF2_MetricType metric_type(std::string_view name) {
  if (name.starts_with("ru_")) return OTF2_METRIC_TYPE_RUSAGE;
  const bool papi = name.starts_with("PAPI_") || name.find("::") != std::string_view::npos;
  return papi ? OTF2_METRIC_TYPE_PAPI : OTF2_METRIC_TYPE_OTHER;
}

OTF2_RegionFlag flags_of(RegionRole role) {
  if (role == RegionRole::phase) return OTF2_REGION_FLAG_PHASE;
  return role == RegionRole::iteration ? OTF2_REGION_FLAG_DYNAMIC : OTF2_REGION_FLAG_NONE;
}

LocationKind location_kind_from_otf2(OTF2_LocationType type) {
  switch (type) {
    case OTF2_LOCATION_TYPE_CPU_THREAD:
      return LocationKind::cpu_thread;
    case OTF2_LOCATION_TYPE_ACCELERATOR_STREAM:
      return LocationKind::accelerator_stream;
    default:
      return LocationKind::other;
  }
}

OTF2_LocationType to_otf2(LocationKind kind) {
  switch (kind) {
    case LocationKind::cpu_thread:
      return OTF2_LOCATION_TYPE_CPU_THREAD;
    case LocationKind::accelerator_stream:
      return OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
    case LocationKind::other:
      break;
  }
  return OTF2_LOCATION_TYPE_METRIC;
}

namespace {

/// The operations that both sides know, in the order of trace::CollectiveOp.
constexpr OTF2_CollectiveOp kCollectiveOps[] = {
    OTF2_COLLECTIVE_OP_BARRIER,
    OTF2_COLLECTIVE_OP_BCAST,
    OTF2_COLLECTIVE_OP_GATHER,
    OTF2_COLLECTIVE_OP_GATHERV,
    OTF2_COLLECTIVE_OP_SCATTER,
    OTF2_COLLECTIVE_OP_SCATTERV,
    OTF2_COLLECTIVE_OP_ALLGATHER,
    OTF2_COLLECTIVE_OP_ALLGATHERV,
    OTF2_COLLECTIVE_OP_ALLTOALL,
    OTF2_COLLECTIVE_OP_ALLTOALLV,
    OTF2_COLLECTIVE_OP_ALLTOALLW,
    OTF2_COLLECTIVE_OP_ALLREDUCE,
    OTF2_COLLECTIVE_OP_REDUCE,
    OTF2_COLLECTIVE_OP_REDUCE_SCATTER,
    OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK,
    OTF2_COLLECTIVE_OP_SCAN,
    OTF2_COLLECTIVE_OP_EXSCAN,
    OTF2_COLLECTIVE_OP_CREATE_HANDLE,
    OTF2_COLLECTIVE_OP_DESTROY_HANDLE,
};
constexpr size_t kCollectiveCount = std::size(kCollectiveOps);
static_assert(kCollectiveCount == static_cast<size_t>(CollectiveOp::neighbor));

}  // namespace

CollectiveOp collective_from_otf2(OTF2_CollectiveOp op) {
  if (op == OTF2_COLLECTIVE_OP_CREATE_HANDLE_AND_ALLOCATE) return CollectiveOp::create_handle;
  if (op == OTF2_COLLECTIVE_OP_DESTROY_HANDLE_AND_DEALLOCATE) return CollectiveOp::destroy_handle;
  for (size_t i = 0; i < kCollectiveCount; ++i) {
    if (kCollectiveOps[i] == op) return static_cast<CollectiveOp>(i);
  }
  return CollectiveOp::other;
}

OTF2_CollectiveOp to_otf2(CollectiveOp op) {
  if (static_cast<size_t>(op) >= kCollectiveCount) return OTF2_COLLECTIVE_OP_ALLTOALL;
  return kCollectiveOps[static_cast<size_t>(op)];
}

bool mpi_record_says(CollectiveOp op) {
  static_assert(CollectiveOp::create_handle < CollectiveOp::neighbor);
  return op < CollectiveOp::create_handle;
}

OTF2_CollectiveOp to_otf2_of_mpi(CollectiveOp op) {
  if (op == CollectiveOp::create_handle || op == CollectiveOp::destroy_handle) {
    return OTF2_COLLECTIVE_OP_BARRIER;
  }
  return to_otf2(op);
}

MutexKind mutex_kind_from_otf2(OTF2_RegionRole around) {
  switch (around) {
    case OTF2_REGION_ROLE_CRITICAL:
    case OTF2_REGION_ROLE_CRITICAL_SBLOCK:
      return MutexKind::critical;
    case OTF2_REGION_ROLE_ORDERED:
    case OTF2_REGION_ROLE_ORDERED_SBLOCK:
      return MutexKind::ordered;
    case OTF2_REGION_ROLE_ATOMIC:
      return MutexKind::atomic;
    default:
      return MutexKind::lock;
  }
}

namespace {

constexpr auto kFirstAtomic = static_cast<uint8_t>(RmaOp::accumulate);
static_assert(static_cast<uint8_t>(RmaOp::compare_and_swap) ==
              kFirstAtomic + OTF2_RMA_ATOMIC_TYPE_COMPARE_AND_SWAP);
static_assert(static_cast<uint8_t>(RmaOp::fetch_and_accumulate) ==
              kFirstAtomic + OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE);

struct AccessFlag {
  FileAccess ours;
  uint32_t otf2;
};
constexpr AccessFlag kCreationFlags[] = {
    {FileAccess::create, OTF2_IO_CREATION_FLAG_CREATE},
    {FileAccess::exclusive, OTF2_IO_CREATION_FLAG_EXCLUSIVE},
    {FileAccess::unique, OTF2_IO_CREATION_FLAG_UNIQUE},
    {FileAccess::sequential, OTF2_IO_CREATION_FLAG_NO_SEEK},
};
constexpr AccessFlag kStatusFlags[] = {
    {FileAccess::append, OTF2_IO_STATUS_FLAG_APPEND},
    {FileAccess::delete_on_close, OTF2_IO_STATUS_FLAG_DELETE_ON_CLOSE},
};

}  // namespace

RmaOp rma_op_from_otf2(OTF2_RmaAtomicType type) {
  return type <= OTF2_RMA_ATOMIC_TYPE_FETCH_AND_ACCUMULATE ? static_cast<RmaOp>(kFirstAtomic + type)
                                                           : RmaOp::accumulate;
}

OTF2_RmaAtomicType to_otf2(RmaOp op) {
  return static_cast<OTF2_RmaAtomicType>(static_cast<uint8_t>(op) - kFirstAtomic);
}

FileAccess file_access_from_otf2(OTF2_IoAccessMode mode, OTF2_IoCreationFlag creation,
                                 OTF2_IoStatusFlag status) {
  FileAccess access = mode == OTF2_IO_ACCESS_MODE_READ_ONLY    ? FileAccess::read
                      : mode == OTF2_IO_ACCESS_MODE_WRITE_ONLY ? FileAccess::write
                      : mode == OTF2_IO_ACCESS_MODE_READ_WRITE
                          ? FileAccess::read | FileAccess::write
                          : FileAccess::none;
  for (const AccessFlag& flag : kCreationFlags) {
    if (creation & flag.otf2) access = access | flag.ours;
  }
  for (const AccessFlag& flag : kStatusFlags) {
    if (status & flag.otf2) access = access | flag.ours;
  }
  return access;
}

OTF2_IoAccessMode otf2_access_mode(FileAccess access) {
  if (!has(access, FileAccess::write)) return OTF2_IO_ACCESS_MODE_READ_ONLY;
  return has(access, FileAccess::read) ? OTF2_IO_ACCESS_MODE_READ_WRITE
                                       : OTF2_IO_ACCESS_MODE_WRITE_ONLY;
}

OTF2_IoCreationFlag otf2_creation_flags(FileAccess access) {
  uint32_t flags = OTF2_IO_CREATION_FLAG_NONE;
  for (const AccessFlag& flag : kCreationFlags) {
    if (has(access, flag.ours)) flags |= flag.otf2;
  }
  return flags;
}

OTF2_IoStatusFlag otf2_status_flags(FileAccess access) {
  uint32_t flags = OTF2_IO_STATUS_FLAG_NONE;
  for (const AccessFlag& flag : kStatusFlags) {
    if (has(access, flag.ours)) flags |= flag.otf2;
  }
  return flags;
}

}  // namespace culprit::trace
