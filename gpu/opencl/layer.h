// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An OpenCL layer: the loader (libOpenCL.so) opens it because OPENCL_LAYERS names it, and passes
// every call of the program through it, whether the program is linked to the loader or looks its
// functions up. What a layer does not care about goes on to the next.
#pragma once

#include "gpu/opencl/under_way.h"

namespace culprit::gpu::opencl {

/// The functions that the program would call without us; valid once the loader has opened the
/// layer.
extern const cl_icd_dispatch* next_layer;

/// Put their functions into the table that the program calls.
void take_queues(cl_icd_dispatch& table);
void take_enqueues(cl_icd_dispatch& table);
void take_waits(cl_icd_dispatch& table);

/// Whether calls are to be recorded and operations followed; false once the process ends.
bool follows();
/// The program uses devices: begins, and sees to the end. Again: whether calls are recorded.
bool begin_following();

/// The name of a kernel.
NameNumber name_of(cl_kernel kernel);

}  // namespace culprit::gpu::opencl
