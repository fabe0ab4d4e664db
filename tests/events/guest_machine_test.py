#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Trace events at places in a machine's firmware, on each QEMU there is; older ones refuse them.

The guest, on the bare board, sends the arguments of its calls over its serial port, and works whenever a key is typed
there; while it waits it never leaves the vCPU's thread, so that switches reach it from outside."""
import json
import os
import re
import subprocess
import sys

from gttest import boards, commands, qemus
from gttest.commands import printed
from gttest.paths import GUESTTRACE
from gttest.results import need, read_text, same_lines, write

GUEST = r'''
typedef unsigned int u32;
typedef unsigned long u64;
#define UART(offset) (*(volatile u32 *)(0x09000000 + (offset)))
__attribute__((noipa)) static void put(char c) { UART(0) = c; }
__attribute__((noipa)) static void text(const char *s) { while (*s) put(*s++); }
static void number(const char *name, u64 v)
{
    text(name);
    for (int i = 60; i >= 0; i -= 4)
        put("0123456789abcdef"[v >> i & 15]);
}
__attribute__((noipa)) u64 mixed(u64 a, int b, const char *s, u64 c, u64 d, u64 e, u64 f, u64 g, u64 h, u64 i)
{
    number("mixed a=", a); number(" b=", (u64)(long)b); text(" s="); text(s); number(" h=", h); number(" i=", i);
    text("\n");
    return a * 3 + c + d + e + f + g;
}
__attribute__((noipa)) void wild(const char *s) { __asm__ volatile("" : : "r"(s)); }
void start(void)
{
    u64 seed = 1;
    for (u32 key = 0; key != 'q';) {
        put('>');
        while (UART(0x18) & 0x10) /* nothing was typed */
            ;
        key = UART(0);
        for (int n = 0; n < 3; n++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            number("done ret=", mixed(seed, (int)seed, "some text", 1, 2, 3, 4, 5, seed >> 1, ~seed));
            text("\n");
        }
        wild((const char *)0xfffffffffffffff0);
        wild((const char *)0x7000000000000000);
    }
}
'''
EVENTS = '''vcpu mixed(uint64_t a, int b, const char *s, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h, \
uint64_t i) ""
at=mixed@return done(uint64_t ret) ""
wild(const char *s) ""
at=guest:mixed+0x0 same(uint64_t x0, int w1) ""
at=0x{mixed:x} address(uint64_t x0, uint64_t sp) ""
at=other:mixed never(void) ""
'''


CONSOLE = '''at=console ">" prompt(void) ""
at=console "^done ret=[0-9a-f]{16}$" done_line(void) ""
at=console " s=some text " line(const char *s) "%s"
at=console "no such text" never(void) ""
at=done:mixed also_never(void) ""
'''


class Machine:
    def __init__(self, folder, qemu, *options):
        self.folder = folder
        self.child = commands.start(
            [GUESTTRACE, 'record', '-q', '--guest-events', f'{folder}/events', '-o', f'{folder}/trace', '--control',
             f'{folder}/socket', *options, '--', qemu, *boards.BOARDS['aarch64'][3][:4], '-m', '128', '-display',
             'none', '-serial', 'stdio', '-monitor', 'none', '-nic', 'none', '-kernel', f'{folder}/guest.elf'],
            stdin=subprocess.PIPE)
        self.prompt()

    def prompt(self):
        """What it prints up to the next one."""
        text = b''
        while not text.endswith(b'>'):
            byte = self.child.stdout.read(1)
            need(byte, 'it ended:', text)
            text += byte
        return text[:-1].decode().splitlines()

    def work(self):
        self.child.stdin.write(b'w')
        self.child.stdin.flush()
        return self.prompt()

    def ask(self, words):
        return printed([GUESTTRACE, 'ctl', f'{self.folder}/socket', words])

    def records(self):
        self.ask('trace-file flush')
        text = printed([GUESTTRACE, 'events', 'simpletrace', '--json', f'{self.folder}/trace'])
        return [json.loads(line) for line in text.splitlines()]


def line_of(record):
    """As the guest prints it."""
    a = record['args']
    if record['event'] == 'done':
        return f'done ret={a["ret"]:016x}'
    need(a['__cpu'] == '0x0' and [a[n] for n in 'cdefg'] == [1, 2, 3, 4, 5], record)
    return f'mixed a={a["a"]:016x} b={a["b"] % 2**64:016x} s={a["s"]} h={a["h"]:016x} i={a["i"]:016x}'


def steer(machine):
    machine.work()
    need(machine.records() == [], 'events that are off')
    machine.ask('trace-event * on')
    said = machine.work()
    found = machine.records()
    same_lines([line_of(r) for r in found if r['event'] in ('mixed', 'done')], said, 'what the guest says and the events')
    wild = [r['args']['s'] for r in found if r['event'] == 'wild']
    need(wild == ['<0xfffffffffffffff0>', '<0x7000000000000000>'], wild)
    for name in 'same', 'address':
        need([r['args']['x0'] for r in found if r['event'] == name] ==
             [r['args']['a'] for r in found if r['event'] == 'mixed'], name)
    need({r['args']['sp'] % 16 for r in found if r['event'] == 'address'} == {0}, 'stack pointers')
    need(not [r for r in found if r['event'] == 'never'], 'another module')
    machine.ask('trace-event * off')
    machine.work()
    need(len(machine.records()) == len(found), 'events that are off again')
    return len(found)


class Console:
    """Events at the texts that the guest prints. Messages keep their order: once the event of a prompt is there, all
    events at earlier texts are."""

    def __init__(self, machine):
        self.machine, self.said = machine, []

    def round(self):
        self.said += self.machine.work()

    def events(self, prompts):
        """By name, when there are so many of prompts."""
        found = []
        while sum(r['event'] == 'prompt' for r in found) < prompts:
            found = self.machine.records()
        return {name: [r['args'] for r in found if r['event'] == name] for name in ('prompt', 'done_line', 'line', 'never')}

    def lines(self, text):
        """Of the guest, from each prompt on."""
        return [line for line in ''.join(f'{">" * (i % 6 == 0)}{line}\n' for i, line in enumerate(self.said)).splitlines()
                if text in line]


def steer_console(machine):
    console = Console(machine)
    console.round()
    console.round()
    found = console.events(3)
    need(len(found['prompt']) == 3 and len(found['done_line']) == 6 and not found['never'], found)
    same_lines([r['s'] for r in found['line']], console.lines(' s=some text '), 'the guest\'s lines and the events')
    machine.ask('trace-event done_line off')
    console.round()
    found = console.events(4)
    need(len(found['done_line']) == 6 and len(found['line']) == 9, 'an event that is off:', found)
    machine.ask('trace-event done_line on')
    console.round()
    found = console.events(5)
    need(len(found['done_line']) == 9 and len(found['line']) == 12, 'an event that is on again:', found)
    return found['line']


def check_console(qemu, folder):
    """The log has the same."""
    write(f'{folder}/events', CONSOLE)
    machine = Machine(folder, qemu, '--backends', 'simple+log', '--log', f'{folder}/log')
    try:
        lines = steer_console(machine)
        error = commands.finish(machine.child, data=b'q').stderr.decode()
    finally:
        commands.kill(machine.child)
    need(machine.child.returncode == 0, error)
    need("events:4: event 'never': no line of the console before the end had such a text\n" in error, error)
    need("event 'also_never': no function done:mixed" in error and "'prompt'" not in error, error)
    log = read_text(f'{folder}/log').splitlines()
    need([line for line in log if line.startswith('line ')][:12] == [f'line {r["s"]}' for r in lines], log)
    need(not os.path.exists(f'{folder}/trace.console'), 'the FIFO is left')


def build(folder):
    source = write(f'{folder}/guest.c', GUEST)
    boards.build('aarch64', 'guest', folder, [boards.start_code('aarch64'), source], '-DSTART_MAIN=start')


def address_of(folder, name):
    text = printed(['aarch64-linux-gnu-nm', f'{folder}/guest.elf'])
    return int(re.search(rf'^(\w+) T {name}$', text, re.M)[1], 16)


def check(version, qemu, folder, _):
    write(f'{folder}/events', EVENTS.format(mixed=address_of(folder, 'mixed')))
    if qemus.number(version) < (10, 0):
        done = commands.run([GUESTTRACE, 'record', '--guest-events', f'{folder}/events', '-o', f'{folder}/none', '--', qemu,
                             *boards.BOARDS['aarch64'][3][:4], '-display', 'none', '-kernel', f'{folder}/guest.elf'])
        need(done.returncode and re.search(rb'QEMU (9|10).0', done.stderr), done.stderr)
        need(not os.path.exists(f'{folder}/none'), 'a trace is left')
        return
    machine = Machine(folder, qemu, '--trace', 'off')
    try:
        count = steer(machine)
        error = commands.finish(machine.child, data=b'q').stderr.decode()
    finally:
        commands.kill(machine.child)
    need(machine.child.returncode == 0 and len(error.splitlines()) == 1, error)
    need("event 'never': no function other:mixed" in error, error)
    need(len(printed([GUESTTRACE, 'events', 'simpletrace', f'{folder}/trace']).splitlines()) == count, 'the trace at the end')
    check_console(qemu, folder)


if __name__ == '__main__':
    sys.exit(qemus.on_each('aarch64', 'guest-events', build, check))
