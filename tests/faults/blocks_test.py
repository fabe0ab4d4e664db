#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compact files with a bit flipped in each of their blocks, or cut: every reader reports where, whatever the block
has; a repair does, and keeps what there is. The blocks are found by docs/formats/compact.md alone."""
import json
import os
import re
import shutil
import signal
import struct
import urllib.request

from gttest import commands, sockets
from gttest.commands import must, run
from gttest.paths import GUESTTRACE, LONG
from gttest.recordings import record
from gttest.results import need, read_bytes, write
from gttest.terminal import Terminal
from runs import main

RECORDS, TEXT = 1, 2
READERS = [['info'], ['report'], ['replay'], ['graph'],
           ['export', '--format', 'folded', '-o', '/dev/null'], ['export', '--format', 'uftrace', '-o', 'dir']]


def blocks(data):
    """(offset, type, bytes of the payload, name) of each."""
    at = 16
    while at < len(data):
        magic, kind, _, _, size = struct.unpack_from('<4sBBHI', data, at)
        need(magic == b'tBlk', at)
        name = data[at + 65:at + 65 + data[at + 64]].decode() if kind == TEXT else ''
        yield at, kind, size, name
        at += 64 + size


def recorded(t, depth=3):
    whole = f'{t.folder}/whole.gtrace'
    record(whole, ['-q', '--clock', 'insn', '--depth', '1000000'], [t.guest('deep'), str(depth)], status=8)
    return whole


def read(t, words, path):
    if words[0] == 'export':
        shutil.rmtree(f'{t.folder}/dir', ignore_errors=True)
        words = [w if w != 'dir' else f'{t.folder}/dir' for w in words]
    return run([GUESTTRACE, *words, path])


def report(path):
    """Sums of each function; which calls are open at the end is of a text that may be left out."""
    rows = json.loads(must([GUESTTRACE, 'report', '-q', '--json', path]).stdout)['rows']
    return [(row['function'], row['calls'], row['self_ns'], row['total_ns']) for row in rows]


def test_each_block(t):
    whole = recorded(t)
    data, before = read_bytes(whole), report(whole)
    seen = set()
    for turn, (at, kind, size, name) in enumerate(blocks(data)):
        seen.add(kind)
        places = at + 8, at + 64 + size // 2, at + 64 + size - 1
        for where in places if LONG else places[turn % 3:][:1]:
            bad = bytearray(data)
            bad[where] ^= 0x10
            path = f'{t.folder}/bad.gtrace'
            write(path, bytes(bad))
            place = f'bad.gtrace: offset {at}: '.encode()
            for words in READERS:
                done = read(t, words, path)
                need(done.returncode in (0, 1), words, done.returncode)
                need(place in done.stderr, words, at, kind, name, where - at, done.stderr)
            check_repair(path, place, kind, name, before)
    need(seen >= {1, 2, 3}, seen)


def check_repair(path, place, kind, name, before):
    done = run([GUESTTRACE, 'repair', path])
    need(place in done.stderr and done.returncode == (1 if kind == RECORDS else 0), name, done.returncode, done.stderr)
    if kind == RECORDS:
        return
    again = must([GUESTTRACE, 'repair', path])
    need(b'nothing to repair' in again.stdout and not again.stderr, again.stdout, again.stderr)
    need(name.endswith('.map') or report(path) == before, name, 'the repair has changed the calls')


def damaged(t):
    """(path, offset) of a recording with one bit flipped, for each kind of block and of text."""
    data, kinds = read_bytes(recorded(t)), set()
    for at, kind, size, name in blocks(data):
        key = kind, os.path.splitext(name)[1] or name
        if key in kinds:
            continue
        kinds.add(key)
        bad = bytearray(data)
        bad[at + 64 + size // 2] ^= 0x10
        path = f'{t.folder}/bad{at}.gtrace'
        write(path, bytes(bad))
        yield path, at
    need(len(kinds) >= 6, kinds)


def test_page(t):
    """The server of `view`, once all is read."""
    for path, at in damaged(t):
        child = commands.start([GUESTTRACE, 'view', '--no-browser', path])
        url = child.stdout.readline().decode().strip()
        progress = 0 if url else 1000
        while progress < 1000:
            with urllib.request.urlopen(f'{url}tracks', timeout=commands.SECONDS) as answer:
                progress = json.load(answer)['progress']
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
        done = commands.finish(child)
        need(f'{path}: offset {at}: '.encode() in done.stderr, at, url, done.stderr)


def test_terminal(t):
    """`tui`: what stands in the terminal when its screen has gone. A file that cannot be read has none."""
    for path, at in damaged(t):
        with Terminal(t, 200, 20, GUESTTRACE, 'tui', path) as s:
            s.until(lambda lines, s=s: s.has_ended() or any('q ends' in line for line in lines), 'its screen')
            if not s.has_ended():
                s.press('q')
            s.status()
            s.until(lambda lines, at=at: any(f'offset {at}: ' in line for line in lines), f'offset {at}')


def top(path, *options):
    return [GUESTTRACE, 'top', '--json', *options, f'{path}.control']


def test_top(t):
    """`top` of a recording that has ended, and one that ends with what it has just written."""
    for path, at in damaged(t):
        place = f'{path}: offset {at}: '.encode()
        sockets.Control(f'{path}.control', path)
        done = run(top(path))
        need(done.returncode in (0, 1) and done.stderr.count(place) == 1, at, done.returncode, done.stderr)
        sockets.Control(f'{path}.control', path)
        need(place not in run(top(path, '--quiet')).stderr, '--quiet')


def test_top_screen(t):
    for path, at in damaged(t):
        sockets.Control(f'{path}.control', path)
        with Terminal(t, 200, 20, GUESTTRACE, 'top', f'{path}.control') as s:
            s.until(lambda lines, s=s: s.has_ended() or any('at the end' in line for line in lines), 'its screen')
            if not s.has_ended():
                s.press('q')
            s.status()
            s.until(lambda lines, at=at: any(f'offset {at}: ' in line for line in lines), f'offset {at}')


def test_top_goes_on(t):
    """A recording that is being written: its first block of records is damaged at once, its last one may be half written."""
    whole = recorded(t, 200000)
    data = read_bytes(whole)
    records = [(at, size) for at, kind, size, _ in blocks(data) if kind == RECORDS]
    need(len(records) > 2, len(records), 'blocks of records')
    path, beside = f'{t.folder}/live.gtrace', f'{t.folder}/live.gtrace.parts'
    must([GUESTTRACE, 'export', '--format', 'uftrace', '-o', beside, whole])  # its texts; and what a process has that records
    for name in '.guesttrace.lock', f'.guesttrace-{os.getpid()}.ring':
        write(f'{beside}/{name}', b'')
    end = records[-1][0] + 64 + records[-1][1]
    for name, bad, said in (('first', records[0][0] + 80, True), ('last', end - 1, False)):
        flipped = bytearray(data[:end])
        flipped[bad] ^= 1
        write(path, bytes(flipped))
        sockets.Control(f'{path}.control', path)
        done = run(top(path, '-n', '3', '-d', '0.01'))
        places = re.findall(rb'live.gtrace: offset (\d+): ', done.stderr)
        need(done.returncode == 0 and places == [b'%d' % records[0][0]] * said, name, done)
        need(b'"state":"disconnected"' in done.stdout and b'interrupted' not in done.stderr, name, done.stdout)


def test_cut(t):
    whole = recorded(t)
    data = read_bytes(whole)
    path = f'{t.folder}/cut.gtrace'
    for n in range(0, len(data), 1 if LONG else 263):
        write(path, data[:n])
        for words in (['info'], ['report']):
            done = run([GUESTTRACE, *words, path])
            need(done.returncode in (0, 1) and re.match(rb'guesttrace \w+: .*cut.gtrace', done.stderr), n, done)
        done = run([GUESTTRACE, 'repair', path])
        need(done.returncode in (0, 1), n, done)
        if done.returncode == 0:
            must([GUESTTRACE, 'report', path])


def test_part(t):
    """The block that says which part of a set a file is."""
    whole = f'{t.folder}/set'
    record(whole, ['-q', '--clock', 'insn', '--split', '64K'], [t.guest('deep'), '3'], status=8)
    before = report(whole)
    files = [whole] + ([f'{whole}.1'] if os.path.exists(f'{whole}.1') else [])
    for path in files:
        data = read_bytes(path)
        bad = bytearray(data)
        bad[16 + 64 + 3] ^= 1
        write(path, bytes(bad))
        done = must([GUESTTRACE, 'report', whole])
        need(f'{path}: offset 16: '.encode() in done.stderr and report(whole) == before, done.stderr)
        write(path, data)


if __name__ == '__main__':
    main(globals())
