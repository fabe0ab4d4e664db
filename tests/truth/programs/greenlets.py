# SPDX-License-Identifier: GPL-2.0-or-later
"""Greenlets, which leave one stack by copying it, below functions of C; `greenlets.py LIBRARY` prints these functions' trees of
calls (greenlets.c)."""
import ctypes
import sys

import greenlet

library = ctypes.CDLL(sys.argv[1])
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_int)
stacks = 0


def body(mine, rounds):
    def switch(depth):
        library.leaf()
        if depth > 0:
            library.step(depth - 1, callback)
        else:
            greenlet.getcurrent().parent.switch()
            library.stand_on(mine)
        library.leaf()
    callback = CALLBACK(switch)
    library.stand_on(mine)
    for i in range(rounds):
        library.step(i, callback)


def drive(width):
    global stacks
    waiting = []
    for i in range(width):
        stacks += 1
        waiting.append((greenlet.greenlet(body), stacks, i + 1))
    started = set()
    while waiting:
        for one in list(waiting):
            if one in started:
                one[0].switch()
            else:
                started.add(one)
                one[0].switch(*one[1:])
            library.stand_on(0)
            library.leaf()
            if one[0].dead:
                waiting.remove(one)


for n in 1, 2, 3, 4:
    drive(n)
library.print_log()
