# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Files are opened in one place, base/files, which no link, pipe or device leads astray.

A folder that is analysed may come from somebody else, and whoever opens a file by its name, in
whatever way, follows what lies there. Few others may do it, each for its reason.
"""
import re

HOME = "base/files/"

# Who else may, and why.
REASONS = {
    "collector/": "inside the program there is no malloc: process/system_file.cpp opens no links",
    "gpu/": "inside the program, as the collector",
    "assemble/look/proc.cpp": "reads /proc, by paths made of numbers alone",
    "assemble/names/debug_files/package.cpp": "lists a folder of the system's, none of the input",
    "cli/launch/openmp_runtime.cpp": "lists the folders of installed compilers, none of the input",
    "cli/launch/witness.cpp": "reads its own command line in /proc, in a process of its own",
    "cli/terminal.cpp": "puts /dev/null in the place of what is closed",
    "cli/experiment.cpp": "lists the folders that may be experiments, and opens each as its own input",
    "cli/find_sources.cpp": "looks for names of files in folders of the user's, and opens those found",
    "cli/commands/info.cpp": "adds up sizes of files in a folder, and opens none",
    "report/text_page/source.cpp": "looks for sources around the experiment, and opens none by itself",
    "base/sqlite/sqlite.cpp": "gives SQLite a file that is open already (descriptor_files.h)",
}

OPENS = re.compile(
    r"\b(?:[io]?fstream|filebuf|(?:recursive_)?directory_iterator)\b|"
    r"\b(?:fopen(?:64)?|freopen|openat2?|open64|creat|mk(?:o?s|d)temp|tmpfile|tmpnam|(?:fd)?opendir|scandir|"
    r"nftw|popen|system|posix_spawnp?|shm_open|sqlite3_open(?:_v2|16)?)\s*\(|"
    r"(?<![\w.>])open\s*\([^;]*\bO_[A-Z]")


def check(tree, without_comments_and_strings):
    """Files are opened by base/files alone, which follows no links and waits for nobody."""
    for path in tree.ending((".h", ".cpp", ".c")):
        if path.startswith(("tests/", "examples/", "docs/", "packaging/", HOME, *REASONS)):
            continue
        code = re.sub(r"^\s*#.*$", "", without_comments_and_strings(tree.text(path)), flags=re.MULTILINE)
        for match in OPENS.finditer(code):
            line = code[:match.start()].count("\n") + 1
            word = re.match(r"\w+", match.group()).group()
            yield (f"{path}: line {line}: {word}: open files by base/files/guarded_path.h or regular_file.h, "
                   "or say in tests/rules/files.py why not")
