# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
#
# Finds CUPTI's headers, of CUDA 12 or later. They come with NVIDIA's toolkit, in its folder for
# headers or in that of its extras. Defines CuptiHeaders::CuptiHeaders.
find_path(CUPTI_INCLUDE_DIR cupti.h
  HINTS $ENV{CUDA_HOME} /usr/local/cuda PATH_SUFFIXES include extras/CUPTI/include)
find_path(CUDA_DRIVER_INCLUDE_DIR cuda.h HINTS $ENV{CUDA_HOME} /usr/local/cuda PATH_SUFFIXES include)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CuptiHeaders
  REQUIRED_VARS CUPTI_INCLUDE_DIR CUDA_DRIVER_INCLUDE_DIR)
if(CuptiHeaders_FOUND AND NOT TARGET CuptiHeaders::CuptiHeaders)
  add_library(CuptiHeaders::CuptiHeaders INTERFACE IMPORTED)
  set_target_properties(CuptiHeaders::CuptiHeaders PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${CUPTI_INCLUDE_DIR};${CUDA_DRIVER_INCLUDE_DIR}")
endif()
