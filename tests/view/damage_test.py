#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace view of compact recordings that are cut or changed: it answers, or says what is wrong; it never crashes. A set
of parts gives what the same run in one file gives."""
import json
import random
import signal
import sys

from gttest import commands, functions, made, qemus, splits
from gttest.paths import GUESTTRACE, LONG
from gttest.results import need, read_bytes, write
from viewing import Viewing

QUESTIONS = [('info', {}), ('tracks', {}), ('functions', {}), ('report', {}), ('flame', {}), ('tiles', {'exp': 0, 'bin': 0, 'bins': 8, 'tasks': 0})]


def ask_all(path):
    """What it answers to all, or None and its message where it does not begin."""
    child = commands.start([GUESTTRACE, 'view', '--no-browser', path])
    if not child.stdout.readline():
        done = commands.finish(child)
        need(done.returncode == 1 and done.stderr.startswith(b'guesttrace view: ') and done.stderr.count(b'\n') <= 4, path, done)
        return None
    child.send_signal(signal.SIGTERM)
    done = commands.finish(child)
    need(done.returncode == 0, path, done)
    with Viewing(path) as v:
        tracks, answers = v.request(f'{v.path}tracks')[2], []
        while json.loads(tracks).get('progress', 1000) != 1000:
            tracks = v.request(f'{v.path}tracks')[2]
        for name, parameters in QUESTIONS:
            words = '&'.join(f'{k}={p}' for k, p in parameters.items())
            status, _, body = v.request(f'{v.path}{name}?{words}')
            need(status in (200, 400, 500), path, name, status, body)
            answers.append((status, body))
        status, said = v.end()
        need(status == 0, path, status, said)
    return answers


def compact(t):
    recording = made.Made(f'{t.folder}/data', n=3000)
    path = f'{t.folder}/a.gtrace'
    commands.must([GUESTTRACE, 'export', '--format', 'compact', '-o', path, recording.path])
    return path, read_bytes(path)


def test_cut(t):
    path, data = compact(t)
    answered = 0
    for i in range(60 if LONG else 12):
        end = len(data) * i // (60 if LONG else 12) + i
        answered += ask_all(write(f'{t.folder}/cut', data[:end])) is not None
    need(ask_all(path) is not None, 'the whole one does not answer')
    need(answered < 60, answered)


def test_changed(t):
    _, data = compact(t)
    number, answered = random.Random(5), 0
    for _ in range(100 if LONG else 16):
        changed = bytearray(data)
        for _ in range(number.choice((1, 1, 8))):
            changed[number.randrange(len(changed))] ^= 1 << number.randrange(8)
        answered += ask_all(write(f'{t.folder}/changed', bytes(changed))) is not None
    need(answered > 2, 'hardly one is shown:', answered)


def test_set(t):
    both = splits.Both(t.folder, '64K')
    both.record(qemus.user('x86_64'), splits.build(t.folder), '200', 'fork')
    need(splits.parts(both.set), 'no parts')
    answers = [dict(zip((name for name, _ in QUESTIONS), ask_all(path))) for path in (both.one, both.set)]
    need(all(status == 200 for a in answers for status, _ in a.values()), answers)
    # Threads that read give functions their numbers.
    one, several = (sorted(json.loads(a['functions'][1])['functions'][::5]) for a in answers)
    need(one == several and '' not in one[1:], 'functions', one, several)
    one, several = (json.loads(a['tracks'][1]) for a in answers)
    need(one == several, 'tracks', one, several)


if __name__ == '__main__':
    sys.exit(functions.main(globals()))
