// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2's terms for those of trace/: both directions of every enumeration, and the names of the
// attributes in which culprit's archives carry facts that OTF2 has no record for. Only otf2_*.cpp
// include this file, so that no other code depends on OTF2.
#pragma once

#include <otf2/otf2.h>

#include <string_view>

#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::trace {

/// Attributes of event records. Their references are fixed in archives that culprit writes, and
/// found by name in any archive that it reads.
inline constexpr std::string_view kRegionInstanceAttribute = "culprit::region_instance";
inline constexpr std::string_view kMutexKindAttribute = "culprit::mutex_kind";
inline constexpr std::string_view kMutexIdAttribute = "culprit::mutex_id";
inline constexpr std::string_view kCollectiveOpAttribute = "culprit::collective_op";
inline constexpr std::string_view kRmaAssertionsAttribute = "culprit::rma_assertions";
/// The parameter that carries the number of an iteration.
inline constexpr std::string_view kIterationParameter = "iteration";
inline constexpr std::string_view kSendsToAttribute = "culprit::sends_to";
inline constexpr std::string_view kReceivesFromAttribute = "culprit::receives_from";
inline constexpr std::string_view kPartitionedAttribute = "culprit::partitioned";
inline constexpr std::string_view kReadyRequestAttribute = "culprit::ready_request";
inline constexpr std::string_view kMatchedProbeAttribute = "culprit::matched_probe";
inline constexpr std::string_view kFoundCommAttribute = "culprit::found_comm";
inline constexpr std::string_view kFoundSourceAttribute = "culprit::found_source";
inline constexpr std::string_view kFoundTagAttribute = "culprit::found_tag";
inline constexpr std::string_view kFoundBytesAttribute = "culprit::found_bytes";

/// Prefix of fact_name() in the names of parameters.
inline constexpr std::string_view kFactPrefix = "culprit::";

Paradigm paradigm_from_otf2(OTF2_Paradigm paradigm);
OTF2_Paradigm to_otf2(Paradigm paradigm);

/// OTF2 has no role for the functions of a lock: like Score-P, we write them as wrappers of OpenMP.
/// Regions that the user named have flags beside the role: phases, and loops whose iterations count
/// one by one.
RegionRole role_from_otf2(OTF2_RegionRole role, OTF2_Paradigm paradigm, OTF2_RegionFlag flags);
OTF2_RegionRole to_otf2(RegionRole role);
OTF2_RegionFlag flags_of(RegionRole role);

MetricMode metric_mode_from_otf2(OTF2_MetricMode mode);
OTF2_MetricMode to_otf2(MetricMode mode);
/// The source that counts it, as its name shows.
OTF2_MetricType metric_type(std::string_view name);

LocationKind location_kind_from_otf2(OTF2_LocationType type);
OTF2_LocationType to_otf2(LocationKind kind);

CollectiveOp collective_from_otf2(OTF2_CollectiveOp op);
/// `neighbor` and `other`, which OTF2 cannot say, become an all-to-all.
OTF2_CollectiveOp to_otf2(CollectiveOp op);
/// For records of MPI's collectives: creation and freeing of handles become a barrier, since
/// Score-P wrote neither until version 9, and older readers (Scalasca 2.5's scout) stop at them.
OTF2_CollectiveOp to_otf2_of_mpi(CollectiveOp op);
/// Whether that is the operation itself; else kCollectiveOpAttribute tells which it was.
bool mpi_record_says(CollectiveOp op);

/// The mutex that is being acquired, for archives without kMutexKindAttribute: it follows from the
/// role of the region around.
MutexKind mutex_kind_from_otf2(OTF2_RegionRole around);

/// For all operations but put and get, for which OTF2 has records of their own.
RmaOp rma_op_from_otf2(OTF2_RmaAtomicType type);
OTF2_RmaAtomicType to_otf2(RmaOp op);

FileAccess file_access_from_otf2(OTF2_IoAccessMode mode, OTF2_IoCreationFlag creation,
                                 OTF2_IoStatusFlag status);
OTF2_IoAccessMode otf2_access_mode(FileAccess access);
OTF2_IoCreationFlag otf2_creation_flags(FileAccess access);
OTF2_IoStatusFlag otf2_status_flags(FileAccess access);

}  // namespace culprit::trace
