# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# What culprit consists of, and what it was built without. Each folder names its part of the product
# once, with culprit_product(); the target `product`, the whole build and the installation derive from
# that. A folder that leaves something out says so once, with culprit_left_out(); the configuration's
# messages and `culprit doctor` derive from that.
include(GNUInstallDirs)
# bin/ and lib/ are siblings in the build and wherever it is installed: the program finds its parts so.
set(CMAKE_INSTALL_LIBDIR lib)
add_custom_target(product ALL)

# culprit_product(<target>...): programs and libraries that users get.
function(culprit_product)
  foreach(target IN LISTS ARGN)
    add_dependencies(product ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
                              LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    set_property(GLOBAL APPEND PROPERTY CULPRIT_PRODUCT ${target})
  endforeach()
endfunction()

# culprit_left_out(<part> <what is missing> <where it comes from>): this build has no such part.
function(culprit_left_out part missing source)
  message(STATUS "Building without ${part}: no ${missing} (${source})")
  set_property(GLOBAL APPEND PROPERTY CULPRIT_LEFT_OUT "${part}|${missing}|${source}")
endfunction()

# culprit_left_out_table(<variable>): the parts left out so far, as initialisers of C++.
function(culprit_left_out_table variable)
  get_property(parts GLOBAL PROPERTY CULPRIT_LEFT_OUT)
  set(table "")
  foreach(part IN LISTS parts)
    string(REPLACE "|" "\", \"" fields "${part}")
    string(APPEND table "    LeftOut{\"${fields}\"},\n")
  endforeach()
  set(${variable} "${table}" PARENT_SCOPE)
endfunction()

# culprit_for_old_systems(<target> <object library>): a library that goes into programs, which needs no symbol of
# glibc that systems of the last ten years lack. The object library is one of those made from collector/old_glibc.cpp.
function(culprit_for_old_systems target objects)
  target_link_libraries(${target} PRIVATE ${objects})
  # Sanitizers bring symbols of their own.
  if(CMAKE_OBJDUMP AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    add_custom_command(TARGET ${target} POST_BUILD
      COMMAND ${CMAKE_COMMAND} -DLIBRARY=$<TARGET_FILE:${target}> -DOBJDUMP=${CMAKE_OBJDUMP} -P ${CMAKE_SOURCE_DIR}/cmake/CheckGlibc.cmake
      VERBATIM)
  endif()
endfunction()
