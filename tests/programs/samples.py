# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""The reports that README.md and docs/ show are what culprit prints today, figures aside.

Each document has one block that begins with ```text and the program's command. Times and the order
of rows differ from run to run, so two things are compared: the lines that do not depend on them
(headings, labels, explanations), and the wording of all others, which must be in the sources of the
report or in today's. `samples.py --build build --write` puts today's reports into the documents.
"""

import argparse
import itertools
import pathlib
import re
import sys
import tempfile

import harness
from harness import Place, check, mpirun, succeed

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ("report/**/*.cpp", "report/**/*.h", "replay/model/wait_patterns.def", "trace/pseudo_regions.def", "blame/**/*.cpp")
BLOCK = re.compile(r"^```text\n((?:mpirun|build/).*?)^```$", re.MULTILINE | re.DOTALL)
FIGURE = re.compile(r"(< )?\d([\d .]*\d)?( (us|ms|s|%)(?!\w))?")


def hybrid(place):
    return mpirun(2, "build/examples/hybrid_chain")


def device(place):
    return ["build/examples/opencl_late_launch"]


# document, its program, and how the report is asked for
SAMPLES = {
    "readme": ("README.md", hybrid, ()),
    "hybrid": ("docs/reading.md", hybrid, ("--full",)),
    "device": ("docs/gpu.md", device, ("--full",)),
}


def todays(place, command, options):
    """The report of a run, with names as the documents have them."""
    program = command[-1].removeprefix("build/examples/")
    real = [*command[:-1], place.program(program)]
    name = f"culprit.{program}.20260101-120000"
    page = succeed([place.culprit, "run", "-q", *options, "-o", name, "--", *real], cwd=place.scratch).stdout
    page = page[page.index(real[0]):]  # behind what the program itself prints
    first = page.split("\n", 1)[0]
    return page.replace(first, " ".join(["mpirun" if "mpirun" in w else w for w in command]), 1)


def prose(lines):
    """Paragraphs that explain, each as one line: where lines break depends on the figures in them."""
    paragraph = []
    for line in [*lines, ""]:
        label = re.match(r"  [A-Z][a-z]+(?: [a-z]+)*  ", line)
        begins = re.match(r"  [A-Z]\S* \S", line) or re.match(r"  [a-z]\S*( \S+){4}", line)
        if not label and (begins or (paragraph and re.match(r"  \S", line))):
            paragraph.append(line.strip())
        elif paragraph:
            yield " ".join(paragraph)
            paragraph = []


def skeleton(page):
    """Lines that are the same for each run of a program, without figures."""
    found, section = [], ""
    for block in re.split(r"\n(?=\S)|\n\n", page):
        for line in block.split("\n"):
            label = re.match(r"  ([A-Z][a-z]+(?: [a-z]+)*)  +[<\d]", line)
            if re.match(r"[A-Z][A-Z' ]{3,}", line):
                section = line
                found.append(line)
            elif label:
                found.append(label.group(1))
            elif re.match(r"(Verdict|Efficiency|More|Browser|Full results|Machine-readable): ", line):
                found.append(line.split(":")[0])
        if section.startswith("WHAT THIS RESULT"):
            continue  # what is missing differs with the machine
        found += [FIGURE.sub("#", text) for text in prose(block.split("\n"))]
    return found


def phrases(page):
    """Runs of at least four words between names, figures and punctuation."""
    paragraphs = itertools.groupby(page.split("\n"), key=lambda line: len(line) - len(line.lstrip()))
    flat = " ; ".join(" ".join(" ".join(lines).split()) for _, lines in paragraphs)
    flat = re.sub(r"\|[^|]*\|", " ; ", flat)  # what a device did over time, a letter for each code
    flat = re.sub(r"busy: .*?, (?=\d+ stream)", "busy ; ", flat)  # the device's name is the machine's
    flat = re.sub(r"\([^()]*\)|\[[^\]]*\]|rank \d+|thread \d+|\S*[/_@!$#|]\S*", " ; ", flat)
    for part in re.split(r"[;:,.()\[\]]+\s|" + FIGURE.pattern + r"|\s[-+~?|]\s", flat):
        words = (part or "").strip(" .,;:").split()
        if len(words) >= 4 and all(re.fullmatch(r"[A-Za-z'-]+", w) for w in words):
            yield " ".join(words)


def wording():
    """All string literals of the report's sources, as one text."""
    parts = []
    for pattern in SOURCES:
        for path in sorted(ROOT.glob(pattern)):
            literals = re.findall(r'((?:"(?:[^"\\\n]|\\.)*"\s*)+)', path.read_text(encoding="utf-8"))
            parts += [re.sub(r'"\s*"', "", literal).strip()[1:-1] for literal in literals]
    return " \n ".join(parts)


def is_known(phrase, known):
    """Words of a neighbouring entry may stand at either end."""
    words = phrase.split()
    return any(" ".join(words[i:len(words) - j]) in known for i in range(2) for j in range(2))


def missing_from(some, all_of):
    """The first item of `some` that does not follow the one before it in `all_of`, or None."""
    rest = iter(all_of)
    return next((item for item in some if item not in rest), None)


def sample(name):
    document, command, how = SAMPLES[name]

    def test(place):
        text = (ROOT / document).read_text(encoding="utf-8")
        shown = BLOCK.search(text)
        check(shown, f"{document} shows no report")
        shown = shown.group(1)
        today = todays(place, command(place), how)
        missing = missing_from(skeleton(shown), skeleton(today))
        check(missing is None, f"{document} shows '{missing}', which is not there (or not in this place) in\n{today}")
        # Who took cores is a matter of the machine, not of the program, and so is the kernel's time in short runs.
        new = [l for l in skeleton(today) if re.match("[A-Z]{4}", l) and l not in skeleton(shown)
               and not l.startswith(("CORES:", "TIME IN THE KERNEL"))]
        check(not new, f"{document} lacks {new}")
        known = wording() + " ".join(today.split())
        strange = [p for p in phrases(shown) if not is_known(p, known)]
        check(not strange, f"{document} has words that no report has: {strange}")
    return test


def write(build):
    for document, command, how in SAMPLES.values():
        with tempfile.TemporaryDirectory() as scratch:
            place = Place(pathlib.Path(build).resolve(), scratch)
            page = todays(place, command(place), how)
        path = ROOT / document
        text = path.read_text(encoding="utf-8")
        block = BLOCK.search(text)
        path.write_text(text[:block.start(1)] + page.rstrip() + "\n" + text[block.end(1):], encoding="utf-8")
        print(f"wrote {document}")


TESTS = {name: sample(name) for name in SAMPLES}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--build")
    options, _ = parser.parse_known_args()
    if options.write:
        write(options.build)
        sys.exit(0)
    sys.exit(harness.main(TESTS))
