# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Builds with a sanitizer (presets asan and tsan) instrument everything, the collector too. What the
# tests need there is set in ctest's own environment: options, suppressions with their reasons, and
# CULPRIT_SANITIZER_RUNTIME, the library, which programs get preloaded behind the collector. Sets
#   CULPRIT_SANITIZER  address, thread or nothing
#   CULPRIT_PRELOADS   what tests put into LD_PRELOAD to have programs recorded
# Crashes are left to the system, since tests look at how programs end. Handlers of SIGSEGV that
# the sanitizers would put in front are not wanted either. UCX (below MPICH) intercepts madvise in
# threads that end, where ThreadSanitizer has left them already: it is told not to.
set(CULPRIT_PRELOADS $<TARGET_FILE:culprit_preload>)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=address")
  set(CULPRIT_SANITIZER address)
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  set(CULPRIT_SANITIZER thread)
else()
  return()
endif()
string(SUBSTRING ${CULPRIT_SANITIZER} 0 1 initial)
execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${initial}san.so
                OUTPUT_VARIABLE library OUTPUT_STRIP_TRAILING_WHITESPACE)
file(REAL_PATH ${library} library)
string(APPEND CULPRIT_PRELOADS ":${library}")
set(crashes handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:handle_sigfpe=0)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(WRITE ${CMAKE_BINARY_DIR}/tests/sanitizer_environment.cmake "\
set(ENV{CULPRIT_SANITIZER_RUNTIME} ${library})
set(ENV{ASAN_OPTIONS} ${crashes}:verify_asan_link_order=0:fast_unwind_on_malloc=0:detect_stack_use_after_return=0)
set(ENV{LSAN_OPTIONS} suppressions=${here}/leaks.txt:print_suppressions=0)
set(ENV{UBSAN_OPTIONS} print_stacktrace=1)
set(ENV{UCX_MEM_EVENTS} n)
set(ENV{TSAN_OPTIONS} ${crashes}:suppressions=${here}/races.txt:ignore_noninstrumented_modules=1:die_after_fork=0:report_signal_unsafe=0:halt_on_error=1)
")
set_property(DIRECTORY ${CMAKE_SOURCE_DIR}/tests APPEND PROPERTY TEST_INCLUDE_FILES
             ${CMAKE_BINARY_DIR}/tests/sanitizer_environment.cmake)
