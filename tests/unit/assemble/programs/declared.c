/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   A library of one function, for tests that look up where it is declared. Line 6 matters. */

int declared(int value) {
  return 3 * value;
}
