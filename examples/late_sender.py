# SPDX-FileCopyrightText: The culprit authors
# SPDX-License-Identifier: Apache-2.0
"""A pattern of one's own: receives that wait since their message was sent late. `late_sender.py EXPERIMENT` finds it
and keeps it with the experiment, so that culprit report and culprit view show it."""
import sys
import culprit


def late_senders(events):
    for receive in events.of_kind("receive"):
        send = events[receive.match]
        waiting, sending = events[receive.enter], events[send.enter]
        late = min(sending.time, receive.time) - waiting.time
        if late > 0:
            yield waiting.callpath, waiting.location, late * 1e-9


if __name__ == "__main__":
    run = culprit.Experiment(sys.argv[1])
    found = list(late_senders(run.events()))
    run.add_pattern("Late sender, by hand", "a receive waits for a message that was sent late", found)
    print(f"{len(found)} receives waited for {sum(seconds for _, _, seconds in found):.2f} s")
