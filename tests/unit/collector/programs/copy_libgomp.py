#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Copies libgomp under a name of its own (libgomp-c.so), as packages do that bring one along."""

import pathlib
import subprocess
import sys

compiler, copy = sys.argv[1:]
path = subprocess.run([compiler, "-print-file-name=libgomp.so.1"], check=True, text=True,
                      stdout=subprocess.PIPE).stdout.strip()
pathlib.Path(copy).write_bytes(
    pathlib.Path(path).read_bytes().replace(b"libgomp.so.1\0", b"libgomp-c.so\0"))
