# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A page of how runs of a program developed from commit to commit, and a badge of the newest: for continuous integration.

    python -m culprit.history runs/* -o public      # public/index.html, public/badge.svg, public/history.json

Experiments come in order of their dates. A name before a colon stands for the run: `abc1234:runs/7`. What
public/history.json has of earlier calls stays, so that only the newest experiment need be there.
"""
from __future__ import annotations

import argparse
import html
import json
import pathlib
import sys
from typing import Any

import culprit

#: Parallel efficiencies from which on a badge is green, and yellow.
GOOD, FAIR = 0.8, 0.6
WIDTH, HEIGHT, LEFT = 760, 180, 60


def facts_of(argument: str) -> dict[str, Any]:
    """What the page says of an experiment."""
    name, colon, path = argument.partition(":")
    if not colon or pathlib.Path(argument).exists():
        name, path = pathlib.Path(argument).name, argument
    run = culprit.Experiment(path)
    facts, waiting = run.run, run.rows("identities")[0]["waiting_s"]
    first = next(iter(run.causes(1)), None)
    return {"name": name, "date": facts["date"], "ranks": facts["ranks"], "wall_s": facts["wall_s"], "efficiency": run.efficiency,
            "waiting": waiting / facts["allocation_s"] if facts["allocation_s"] else 0,
            "cause": first["callpath"].split("/")[-1] if first else "", "gain_s": first["gain_s"] if first else None}


def merged(known: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """By name, the later one of each; in order of time."""
    runs = {run["name"]: run for run in known}
    runs.update({run["name"]: run for run in new})
    return sorted(runs.values(), key=lambda run: (run["date"], run["name"]))


def curve(runs: list[dict[str, Any]], key: str, title: str, words) -> str:
    """A line through the values, each a point with its value as title."""
    values = [run[key] or 0 for run in runs]
    most = max(values, default=0) or 1
    x = lambda i: LEFT + (WIDTH - LEFT - 20) * (i / max(1, len(runs) - 1))
    y = lambda value: HEIGHT - 30 - (HEIGHT - 60) * value / most
    line = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in enumerate(values))
    points = "".join(f'<circle cx="{x(i):.1f}" cy="{y(value):.1f}" r="3.5"><title>{html.escape(run["name"])}: {words(value)}</title></circle>'
                     for i, (run, value) in enumerate(zip(runs, values)))
    return (f'<figure><figcaption>{title}</figcaption><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">'
            f'<line x1="{LEFT}" y1="{HEIGHT - 30}" x2="{WIDTH - 20}" y2="{HEIGHT - 30}" stroke="#ccc"/><text x="0" y="{y(most) + 4:.1f}">{words(most)}</text>'
            f'<text x="0" y="{HEIGHT - 26}">{words(0)}</text><polyline points="{line}" fill="none" stroke="#0072b2" stroke-width="2"/>'
            f'<g fill="#0072b2">{points}</g></svg></figure>')


def page_of(runs: list[dict[str, Any]]) -> str:
    percent = lambda share: f"{100 * share:.1f} %"
    seconds = lambda s: f"{s:.3g} s"
    cell = lambda words: f"<td>{html.escape(str(words))}</td>"
    rows = "".join("<tr>" + cell(run["name"]) + cell(run["date"][:16].replace("T", " ")) + cell(run["ranks"]) + cell(seconds(run["wall_s"]))
                   + cell("unknown" if run["efficiency"] is None else percent(run["efficiency"])) + cell(percent(run["waiting"])) + cell(run["cause"])
                   + cell("" if run["gain_s"] is None else seconds(run["gain_s"])) + "</tr>" for run in reversed(runs))
    return ("<!doctype html><html lang='en'><meta charset='utf-8'><title>History of runs</title><style>body{font:14px system-ui,sans-serif;margin:24px;max-width:960px}"
            "table{border-collapse:collapse}td,th{padding:4px 12px 4px 0;border-top:1px solid #ddd;text-align:left}svg{width:100%;font-size:11px}figure{margin:0}</style>"
            "<h1>History of runs</h1>" + curve(runs, "wall_s", "Run time", seconds) + curve(runs, "efficiency", "Parallel efficiency", percent)
            + curve(runs, "waiting", "Waiting, of the allocated time", percent)
            + "<table><tr><th>run</th><th>date</th><th>ranks</th><th>run time</th><th>efficiency</th><th>waiting</th><th>first cause</th><th>gain</th></tr>"
            + rows + "</table></html>\n")


def badge_of(run: dict[str, Any]) -> str:
    known = run["efficiency"] is not None
    words = f"{100 * run['efficiency']:.0f} %" if known else "unknown"
    colour = "#777" if not known else "#2c8a3a" if run["efficiency"] >= GOOD else "#a66f00" if run["efficiency"] >= FAIR else "#b3261e"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="170" height="20" role="img" aria-label="parallel efficiency: {words}">'
            f'<rect width="112" height="20" fill="#444"/><rect x="112" width="58" height="20" fill="{colour}"/>'
            f'<g fill="#fff" font-family="sans-serif" font-size="11" text-anchor="middle"><text x="56" y="14">parallel efficiency</text>'
            f'<text x="141" y="14">{words}</text></g></svg>\n')


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m culprit.history", description=__doc__.split("\n")[0])
    parser.add_argument("experiments", nargs="+", help="experiment folders, or NAME:FOLDER")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path, help="the folder of the page")
    arguments = parser.parse_args()
    kept = arguments.output / "history.json"
    try:
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else []
        runs = merged(known, [facts_of(each) for each in arguments.experiments])
    except (culprit.Error, ValueError, KeyError) as problem:
        print(f"culprit.history: error: {problem}", file=sys.stderr)
        return 1
    arguments.output.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    (arguments.output / "index.html").write_text(page_of(runs), encoding="utf-8")
    (arguments.output / "badge.svg").write_text(badge_of(runs[-1]), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
