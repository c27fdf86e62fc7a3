/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A library that does something when the process unloads it. */
void (*survive_last)(void) = 0;

__attribute__((destructor)) static void at_unload(void) {
  if (survive_last != 0) survive_last();
}
