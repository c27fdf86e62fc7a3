#!/usr/bin/env python3
# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""wheel.py <version> <folder of the package> <folder for the wheel>: makes the wheel of the Python package.

It is pure Python without dependencies, so a wheel is a zip archive of its files and three more (PEP 427); made by hand,
building culprit needs no packages of Python's. The same sources give the same bytes. Prints the wheel's path.
"""
import base64
import hashlib
import pathlib
import sys
import zipfile

DATE = (2020, 1, 1, 0, 0, 0)

METADATA = """Metadata-Version: 2.1
Name: culprit
Version: {version}
Summary: Experiments of culprit in Python: root causes of wait states in MPI, OpenMP and GPU programs
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: frames
Requires-Dist: pandas; extra == "frames"
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Scientific/Engineering
Classifier: Typing :: Typed
Description-Content-Type: text/plain

{description}
"""
WHEEL = "Wheel-Version: 1.0\nGenerator: culprit\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def main():
    version, package, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    description = (package / "__init__.py").read_text(encoding="utf-8").split('"""')[1].strip()
    files = {f"culprit/{path.name}": path.read_bytes() for path in sorted(package.iterdir()) if path.suffix in (".py", ".typed") or path.name == "py.typed"}
    info = f"culprit-{version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(version=version, description=description).encode()
    files[f"{info}/WHEEL"] = WHEEL.encode()
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()) + f"{info}/RECORD,,\n"
    files[f"{info}/RECORD"] = record.encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"culprit-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.external_attr = 0o644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
    print(wheel)


if __name__ == "__main__":
    main()
