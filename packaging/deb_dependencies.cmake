# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Run by cpack before it packs: what the Debian package depends on, as dpkg-shlibdeps reads it off the
# binaries. The program's own libraries are dependencies; those of MPI and PAPI are suggestions, since
# culprit's parts for them are opened only where a program uses them.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
find_program(SHLIBDEPS dpkg-shlibdeps)
if(NOT SHLIBDEPS)
  message(FATAL_ERROR "a Debian package needs dpkg-shlibdeps (Debian: dpkg-dev)")
endif()
get_filename_component(build ${CPACK_PACKAGE_DIRECTORY} DIRECTORY)
set(scratch ${build}/package/shlibdeps)
file(MAKE_DIRECTORY ${scratch}/debian)
file(WRITE ${scratch}/debian/control "Source: culprit\n\nPackage: culprit\nArchitecture: any\n")

# culprit_depends(<variable> <file...>): the packages that these files need, divided by commas.
function(culprit_depends variable)
  set(packages)
  if(ARGN)
    execute_process(COMMAND ${SHLIBDEPS} -O --ignore-missing-info -l${build}/lib ${ARGN}
      WORKING_DIRECTORY ${scratch} OUTPUT_VARIABLE line RESULT_VARIABLE status ERROR_VARIABLE problem)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "dpkg-shlibdeps failed: ${problem}")
    endif()
    string(REGEX REPLACE "shlibs:Depends=([^\n]*)\n" "\\1" packages "${line}")
  endif()
  set(${variable} "${packages}" PARENT_SCOPE)
endfunction()

file(GLOB all ${build}/lib/libculprit*.so)
set(optional ${all})
list(FILTER optional INCLUDE REGEX "libculprit-(ranks|papi)")
set(needed ${all})
list(FILTER needed EXCLUDE REGEX "libculprit-(ranks|papi)")
culprit_depends(CPACK_DEBIAN_PACKAGE_DEPENDS ${build}/bin/culprit ${needed})
culprit_depends(optional_packages ${optional})
# What every C++ program needs is a dependency already.
string(REPLACE ", " ";" optional_packages "${optional_packages}")
list(FILTER optional_packages EXCLUDE REGEX "^(libc6|libgcc-s1|libstdc\\+\\+6)( |$)")
string(REPLACE ";" ", " CPACK_DEBIAN_PACKAGE_SUGGESTS "${optional_packages}")
file(REMOVE_RECURSE ${scratch})
message(STATUS "depends on ${CPACK_DEBIAN_PACKAGE_DEPENDS}; suggests ${CPACK_DEBIAN_PACKAGE_SUGGESTS}")
