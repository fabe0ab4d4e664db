#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs in user mode: the instructions of the recorded ranges are those of QEMU's own log of the
same run, and the guest does as without us."""
import collections
import ctypes

from gttest import etrace, qemulog
from gttest.results import need
from runs import check_program, check_times, main

NO_RANDOM_PLACES = 0x0040000  # ADDR_NO_RANDOMIZE: QEMU 8.1 and later place programs as the host does


def test_x86_64(t):
    stream, done = check_program(t, 'x86_64', 'sums.c')
    need(done.out == b'144 2999\n' and not done.errors, done)
    total = check_times(stream)
    need(total == len(qemulog.Log(t.log).instructions()), 'the clock ends at', total)


def test_aarch64(t):
    check_times(check_program(t, 'aarch64', 'sums.c')[0])


def test_riscv64(t):
    check_times(check_program(t, 'riscv64', 'sums.c')[0])


def test_i386(t):
    check_times(check_program(t, 'i386', 'small_i386.S', flags=['-nostdlib'])[0])


def test_host_clock(t):
    stream, _ = check_program(t, 'x86_64', 'sums.c', ',clock=host')
    entries = stream.of('exec')
    times = [e.time for e in entries]
    need(times == sorted(times) and times[0] > 0, 'times of the host')


def test_other_packets_between(t):
    """What else is recorded cuts the entries into packets, and changes none."""
    check_program(t, 'x86_64', 'sums.c', ',flags=exec+mem+disas+gpio')


def accesses(t, guest, arguments):
    """Each, with its time and how many instructions the stream told of before. Pages are numbered as they appear: a
    program's stack is where the host has room, and the plugin's threads take some meanwhile."""
    done = t.finish(t.user('x86_64', guest, arguments))
    need(done.status == 42, done.errors)
    out, ran, pages = [], 0, {}
    for i in t.stream().items:
        if i.kind == 'exec':
            ran += i.end - i.start
        else:
            need(i.vaddr == i.paddr, i)
            page = pages.setdefault(i.vaddr // 4096, len(pages))
            out.append(((page, i.vaddr % 4096, i.size, i.write), i.time, ran))
    return out


def test_accesses(t):
    """Alone they are those that are told between entries; on either clock they follow their code."""
    guest = t.build('sums.c', 'x86_64')
    need(ctypes.CDLL(None).personality(NO_RANDOM_PLACES) >= 0, 'personality')
    both = accesses(t, guest, ',flags=exec+mem')
    alone = accesses(t, guest, ',flags=mem')
    need(len(both) > 5000 and [a[:2] for a in both] == [a[:2] for a in alone], len(both), len(alone))
    need(all(ran == 0 for _, _, ran in alone), 'entries')
    host = accesses(t, guest, ',flags=exec+mem,clock=host')
    need([(a[0], a[2]) for a in both] == [(a[0], a[2]) for a in host], 'the order differs')
    need([a[1] for a in host] == sorted(a[1] for a in host), 'times of the host')


def test_nothing(t):
    guest = t.build('sums.c', 'x86_64')
    done = t.finish(t.user('x86_64', guest, ',flags=none'))
    need(done.status == 42 and not done.errors, done)
    need(not t.stream().items, 'something was recorded')


def test_disassembly(t):
    """Each translation once, with its bytes and its text."""
    guest = t.build('sums.c', 'x86_64')
    done = t.finish(t.user('x86_64', guest, ',flags=disas', '-d', 'in_asm', '-D', t.log))
    need(done.status == 42, done.errors)
    stream = t.stream()
    blocks, notes = stream.of('tb'), stream.of('note')
    with open(t.log, encoding='utf-8') as f:
        log = f.read()
    need(len(blocks) == len(notes) == log.count('\nIN:'), len(blocks), len(notes))
    for tb, note in zip(blocks, notes):
        need(note.text.endswith('\n'), note.text, 'does not end')
        lines = note.text.splitlines()
        first = f'0x{tb.vaddr:x}: '
        need(lines[0].startswith(first), lines[0], 'not', first)
        need(tb.paddr == tb.vaddr, 'an address in user mode')
        need(''.join(l.split()[1] for l in lines) == tb.code.hex(), 'bytes of', note.text)
    at = [f'{b.vaddr:#010x}' for b in blocks]
    need(at == [block.split('\n')[1].split(':')[0] for block in log.split('\nIN:')[1:]], at[:5])


def check_counts(t, arch):
    guest = t.build('sums.c', arch, '-O1')
    done = t.finish(t.user(arch, guest, ',flags=coverage', *qemulog.LOGGING, '-D', t.log))
    need(done.status == 42 and not done.errors, done)
    log = qemulog.Log(t.log)
    counts = etrace.counts(t.stream(), log.following)
    need(counts == collections.Counter(log.instructions()), f'{arch}: counts')


def test_counts(t):
    check_counts(t, 'x86_64')
    check_counts(t, 'aarch64')


if __name__ == '__main__':
    main(globals())
