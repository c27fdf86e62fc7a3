# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds the MPIs that the machine has, all of them, for a decoder is built for each: the compiler
# wrapper tells where mpi.h lies, the header's own macros tell whose it is. Sets
#   MpiHeaders_FOUND   names found: openmpi mpich
#   MPI_<name>_INCLUDE_DIRS, MPI_<name>_COMPILER
#   MPI_<name>_LINK_FLAGS  for what is itself an MPI program (base/ranks/transport_mpi.cpp); decoders are
#                          linked to no MPI (collector/mpi/resolver.cpp)

function(_culprit_find_mpi name macro)
  foreach(wrapper mpicc.${name} mpicc)
    find_program(MPI_${name}_COMPILER_${wrapper} ${wrapper})
    mark_as_advanced(MPI_${name}_COMPILER_${wrapper})
    set(compiler ${MPI_${name}_COMPILER_${wrapper}})
    if(NOT compiler)
      continue()
    endif()
    execute_process(COMMAND ${compiler} -show OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE rc)
    if(NOT rc EQUAL 0)
      continue()
    endif()
    string(REGEX MATCHALL " -I *[^ \n]+" dirs "${line}")
    list(TRANSFORM dirs REPLACE " -I *" "")
    string(REGEX MATCHALL " -(L|l|Wl,)[^ \n]+" flags "${line}")
    list(TRANSFORM flags STRIP)
    foreach(dir IN LISTS dirs)
      if(EXISTS ${dir}/mpi.h)
        file(STRINGS ${dir}/mpi.h lines REGEX "define +${macro}" LIMIT_COUNT 1)
        if(lines)
          set(MPI_${name}_INCLUDE_DIRS ${dirs} PARENT_SCOPE)
          set(MPI_${name}_COMPILER ${compiler} PARENT_SCOPE)
          set(MPI_${name}_LINK_FLAGS ${flags} PARENT_SCOPE)
          return()
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

set(MpiHeaders_FOUND)
_culprit_find_mpi(openmpi OPEN_MPI)
_culprit_find_mpi(mpich MPICH_VERSION)
foreach(name openmpi mpich)
  if(MPI_${name}_INCLUDE_DIRS)
    list(APPEND MpiHeaders_FOUND ${name})
  endif()
endforeach()
