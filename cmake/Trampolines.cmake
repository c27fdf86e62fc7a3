# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# culprit_trampolines(<target> <group> <file of names>): adds to <target> one exported trampoline per
# name, and their table (collector/interpose/trampolines.h). The file may be a generated one.
function(culprit_trampolines target group names)
  find_package(Python3 COMPONENTS Interpreter REQUIRED)
  get_filename_component(names ${names} ABSOLUTE)
  set(generator ${CMAKE_SOURCE_DIR}/collector/interpose/gen_trampolines.py)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/trampolines_${group})
  add_custom_command(
    OUTPUT ${out}.S ${out}.cpp
    COMMAND ${Python3_EXECUTABLE} ${generator} --group ${group} --names ${names} --out ${out}
    DEPENDS ${generator} ${names}
    COMMENT "Generating trampolines for ${group}")
  # The assembler's include is invisible to the generator's dependencies.
  set_source_files_properties(${out}.S PROPERTIES OBJECT_DEPENDS
    ${CMAKE_SOURCE_DIR}/collector/interpose/trampolines.S.inc)
  target_sources(${target} PRIVATE ${out}.S ${out}.cpp)
endfunction()
