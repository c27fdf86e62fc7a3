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
