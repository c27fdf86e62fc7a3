/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   The library that LD_PRELOAD names: nothing but a note in its dynamic section (DT_AUXILIARY) that
   libculprit.so, beside it, stands in front of it. GNU's dynamic linker loads that one in its
   place, ahead of the C library; musl's does not know such notes, and so loads a library that needs
   nothing and does nothing, where libculprit.so, which needs GNU's C library, would end the
   program. */
typedef int culprit_door; /* no C file may be empty */
