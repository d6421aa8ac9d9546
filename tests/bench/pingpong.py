# SPDX-License-Identifier: GPL-2.0-only
"""Two threads of a python3 send each other a byte over two pipes: pingpong.py [--wait] ROUNDS DEPTH

DEPTH calls of functions of Python, five at least, lie below both, besides a handful of threading's.
Since Python 3.11 such calls share one frame of the interpreter, so one of them goes through a
function in C, as calls of real programs do here and there. In a distribution neither the
interpreter nor the C library has frame pointers.

--wait: says READY, plays once it is told to, says DONE and lives on until its input ends.
"""

import os
import sys
import threading


def play(rounds, ball_in, ball_out):
    for _ in range(rounds):
        os.read(ball_in, 1)
        os.write(ball_out, b"x")


def descend(depth, rounds, ball_in, ball_out):
    if depth == 0:
        play(rounds, ball_in, ball_out)
    elif depth == 5:
        sorted([0], key=lambda _: descend(depth - 1, rounds, ball_in, ball_out))
    else:
        descend(depth - 1, rounds, ball_in, ball_out)


def share_a_cpu():
    """Each switch is then a wait in a pipe: nobody is preempted by whom it wakes, or waits for the
    interpreter's lock, since whoever is in a pipe has released it."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def main(args):
    wait = args[:1] == ["--wait"]
    rounds, depth = map(int, args[wait:])
    share_a_cpu()
    there, back = os.pipe(), os.pipe()
    players = [
        threading.Thread(target=descend, args=(depth, rounds, there[0], back[1])),
        threading.Thread(target=descend, args=(depth, rounds, back[0], there[1])),
    ]
    for player in players:
        player.start()
    print("READY", flush=True)
    if wait:
        sys.stdin.readline()
    os.write(there[1], b"x")
    for player in players:
        player.join()
    print("DONE", flush=True)
    if wait:
        sys.stdin.read()


main(sys.argv[1:])
