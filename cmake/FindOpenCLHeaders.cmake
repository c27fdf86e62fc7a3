# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds OpenCL's headers with those for layers. Debian: opencl-headers. Defines
# OpenCLHeaders::OpenCLHeaders.
find_path(OPENCL_HEADERS_DIR NAMES CL/cl_layer.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OpenCLHeaders REQUIRED_VARS OPENCL_HEADERS_DIR)
if(OpenCLHeaders_FOUND AND NOT TARGET OpenCLHeaders::OpenCLHeaders)
  add_library(OpenCLHeaders::OpenCLHeaders INTERFACE IMPORTED)
  target_include_directories(OpenCLHeaders::OpenCLHeaders INTERFACE ${OPENCL_HEADERS_DIR})
endif()
