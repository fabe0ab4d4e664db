# SPDX-License-Identifier: GPL-2.0-or-later
"""Three sessions of one process, each with its own program."""


def check(trace, own, traced):
    names = [(pid, name.rsplit('/', 1)[-1]) for _, pid, _, name in trace.sessions]
    pid = names[0][0]
    if names != [(pid, 'prog'), (pid, 'other'), (pid, 'other')]:
        raise Failure(f'sessions: {names}')
    if trace.tids() != [pid]:
        raise Failure(f'tasks: {trace.tids()}')
