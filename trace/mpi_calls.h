// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What calls of MPI mean, by name (mpi_calls.def). Where there is a region, the region is looked up
// and not its name: a function of the program's own may have the name of one of MPI.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "trace/definitions.h"

namespace culprit::trace {

enum class MpiKind : uint8_t {
  life,  ///< MPI_Init, MPI_Finalize
  point_to_point,
  probe,
  request,  ///< starts, completes or asks about requests of any kind
  collective,
  communicator,  ///< makes or frees one
  one_sided,
  file,
  other,
};

enum class MpiTrait : uint8_t {
#define MPI_TRAIT(id, meaning) id,
#define MPI_CALL(name, kind, ...)
#include "trace/mpi_calls.def"
};

class MpiTraits {
 public:
  constexpr MpiTraits(std::initializer_list<MpiTrait> traits) {
    for (MpiTrait trait : traits) set_ |= bit(trait);
  }
  constexpr bool has(MpiTrait trait) const { return (set_ & bit(trait)) != 0; }

 private:
  static constexpr uint32_t bit(MpiTrait trait) { return uint32_t{1} << static_cast<int>(trait); }
  uint32_t set_ = 0;
};

struct MpiCall {
  std::string_view name;  ///< as the standard has it, without _c
  MpiKind kind;
  MpiTraits traits;

  constexpr bool is(MpiTrait trait) const { return traits.has(trait); }
  /// It returns without waiting for the receiver, whatever that does.
  constexpr bool never_blocks() const { return is(MpiTrait::buffered) || is(MpiTrait::ready); }
};

/// Null if MPI has no such function. PMPI_Send and MPI_Send_c are MPI_Send.
const MpiCall* mpi_call(std::string_view function);
/// "MPI_Send_c" of "PMPI_Send_c".
std::string_view name_to_programs(std::string_view function);
/// Null if the region is none of MPI's, whatever its name.
const MpiCall* mpi_call(const Region& region);
/// For conditions: whether the region is a call of MPI with this trait, of this kind.
bool is_mpi_call(const Region& region, MpiTrait trait);
bool is_mpi_call(const Region& region, MpiKind kind);

/// Of a region of MPI's, also of one whose name is not known.
RegionRole role_of_mpi(std::string_view function);

}  // namespace culprit::trace
