# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""Predictions against what must be true of them whatever the machine does meanwhile: parts.c says what each part takes at
least. tests/suites/whatif.py holds predictions against reruns."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import harness
from harness import Off, check, execute, mpirun, succeed

STEPS = 25


def predict(place, experiment, *change):
    return json.loads(succeed([place.culprit, "whatif", experiment, "--format", "json", *change]).stdout)


def recorded(place):
    experiment = place.experiment("run")
    succeed([place.culprit, "run", "-q", "-o", experiment, "--", *mpirun(2, place.program("parts"))])
    return experiment


def check_figure(condition, sentence):
    """One that others on the machine can spoil."""
    if not condition:
        raise Off(sentence)


def gain(prediction):
    return prediction["wall_s"] - prediction["predicted_wall_s"]


def parts(place):
    """compute takes 40 ms on rank 0 and 20 on rank 1, and then resolve 40 ms on rank 0's thread 1 and 20 elsewhere."""
    run = recorded(place)
    same = predict(place, run, "--scale", "compute=1", "--latency", "x1", "--scale", "resolve=1.0")
    check(abs(same["unchanged_wall_s"] - same["wall_s"]) <= 1e-3 * same["wall_s"], f"unchanged: {same}")
    check(abs(gain(same)) <= 1e-3 * same["wall_s"], f"a factor of 1 changes something: {same}")
    slow = gain(predict(place, run, "--scale", "compute=0.5", "--rank", "0"))
    check_figure(0.9 * STEPS * 0.020 <= slow <= 1.6 * STEPS * 0.020, f"rank 0's compute of half: {slow}")
    thread = gain(predict(place, run, "--scale", "resolve=0.5", "--rank", "0", "--thread", "1"))
    # 20 ms, of which the lock's other holder, who comes at the same time then, takes back 4.
    check_figure(0.5 * STEPS * 0.016 <= thread <= 1.6 * STEPS * 0.016, f"a thread's resolve of half: {thread}")
    for nothing in (["--scale", "compute=0.5", "--rank", "1"], ["--remove", "write_log"],
                    ["--scale", "resolve=0.5", "--rank", "1"]):
        check_figure(gain(predict(place, run, *nothing)) <= 0.1 * STEPS * 0.020, f"{nothing} is off the path, and yet gains")
    data = json.loads(succeed([place.culprit, "report", run, "--format", "json"]).stdout)
    check(data["gains"] and data["gains"][0]["gain_s"] > 0, f"no gains: {data['gains']}")
    page = succeed([place.culprit, "report", "--full", run]).stdout
    check("the run would be" in page, page)


def kept(place):
    """The predicted run is an experiment like others."""
    run, faster = recorded(place), place.experiment("faster")
    said = succeed([place.culprit, "whatif", run, "--scale", "compute=0.25", "--rank", "0", "-o", faster]).stdout
    check("THE NEW CRITICAL PATH" in said and "keeps its pace" in said, said)
    check("never took place" in succeed([place.culprit, "report", "--full", faster]).stdout, "the report takes it for a run")
    change = succeed([place.culprit, "diff", run, faster, "-o", place.experiment("change")]).stdout
    check("less" in change and "sleep_ms" in change, change)
    succeed([place.culprit, "view", faster, "-o", place.experiment("page.html")])
    # Rank 0 gains 30 ms a step, and then waits 4 for rank 1. As slow as it was, the run is as long as it was.
    before = predict(place, run, "--scale", "compute=1")["wall_s"]
    again = predict(place, os.path.join(faster, "trace", "traces.otf2"), "--scale", "compute=4", "--rank", "0")
    check(abs(again["predicted_wall_s"] - before) <= 0.01 * before, f"{before} s, but slowed down again: {again}")
    check_figure(gain(again) < -0.9 * STEPS * 0.026, f"its own trace, slowed down again: {again}")


def refused(place):
    run = recorded(place)
    for change, why in ((["--scale", "*/nothing=0.5"], "no call path is like"), ([], "nothing is to be changed"),
                        (["--scale", "compute"], "--scale takes"), (["--scale", "compute=-1"], "takes a factor"),
                        (["--device-kernels", "x0.5"], "no device"), (["--remove", "compute", "--rank", "9"], "no such rank"),
                        (["--recorded-noise", "0"], "--recorded-on"), (["--noise", "often"], "often"),
                        (["--bandwidth", "0"], "above 0"), (["--latency", "x2", "--rank", "1"], "whose code"),
                        (["--scale", "compute=0.5", "--rank", ""], "no list of ranks"),
                        (["--noise", "constant(1ms)@0Hz"], "no rate")):
        done = execute([place.culprit, "whatif", run, *change])
        check(done.returncode != 0 and why in done.stderr and done.stderr.count("\n") == 1 and not done.stdout,
              f"whatif {change}: {done.returncode}, {done.stdout}{done.stderr}")


def perturbed(place):
    """Messages that come later. Rank 1 has 20 ms to spare in each step, in which 10 ms are lost, but not in the last one
    and in what all pass then. Of 100 ms, more than half of each step's are felt."""
    run = recorded(place)
    late = predict(place, run, "--message-delay", "constant(10ms)")
    check_figure(0.010 <= -gain(late) <= 0.5 * STEPS * 0.010, f"10 ms a message: {late}")
    later = predict(place, run, "--message-delay", "constant(100ms)")
    check_figure(0.5 * STEPS * 0.100 <= -gain(later) <= 1.5 * STEPS * 0.100, f"100 ms a message: {later}")
    noisy = predict(place, run, "--noise", "exponential(1ms)@20Hz", "--repeats", "10")
    check(noisy["repeats"] == 10 and noisy["predicted_wall_low_s"] <= noisy["predicted_wall_s"], f"{noisy}")
    check(noisy["predicted_wall_s"] > noisy["wall_s"], f"noise makes it faster: {noisy}")
    again = predict(place, run, "--noise", "exponential(1ms)@20Hz", "--repeats", "10")
    check(again["predicted_wall_s"] == noisy["predicted_wall_s"], "the same seed gives other numbers")
    rows = predict(place, run, "--sensitivity")["latency_sensitivities"]
    check_figure(rows[0]["callpath"] is None and 0.8 * STEPS <= rows[0]["by_latency"] <= 1.5 * STEPS + 10, f"{rows}")


if __name__ == "__main__":
    sys.exit(harness.main({"parts": parts, "kept": kept, "refused": refused, "perturbed": perturbed}))
