# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Run at each build (cmake -P) with SOURCE and OUTPUT: writes OUTPUT, which says of which commit the
# sources are, unless it says so already. In sources without git (a release's archive) there is none.
find_program(GIT git)
set(commit "")
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=10 --exclude=*
                  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
set(text "// Made by cmake/WriteCommit.cmake.
#include \"cli/installation.h\"

namespace culprit::cli {
std::string_view commit() {
  return \"${commit}\";
}
}  // namespace culprit::cli
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
