#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The recording of a machine is looked into and steered through its socket, on each QEMU there is.

The guest, on the bare board, calls functions whenever a key is typed at its console. Events that are off
while it does so are not in the trace, those that are on are there after a flush, while it runs; and a
recording of calls has as many as one that nobody looked into."""
import os
import re
import subprocess
import sys
import tempfile

from gttest import boards, commands, paths, qemus
from gttest.commands import printed
from gttest.paths import GUESTTRACE, PLUGIN_EVENTS
from gttest.results import Failure, need, write

LIMIT = 60
GUEST = r'''
typedef unsigned int u32;
#define UART(offset) (*(volatile u32 *)(0x09000000 + (offset)))
static volatile u32 sink;
__attribute__((noipa)) static u32 fib(u32 n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void start(void)
{
    for (u32 key = 0; key != 'q';) {
        UART(0) = '>';
        while (UART(0x18) & 0x10) /* nothing was typed */
            ;
        key = UART(0);
        sink = fib(17);
    }
}
'''
TOOLS = {'uftrace': 'uftrace_window', 'etrace': 'etrace_packets'}  # and an event that comes often
KEYS = 5


class Machine:
    """A machine that is recorded, from its first prompt on."""

    def __init__(self, folder, qemu, tool, more=''):
        self.folder = folder
        self.out = tempfile.mkdtemp(dir=folder)
        self.child = commands.start(
            [qemu, *boards.BOARDS['aarch64'][3][:4], '-m', '128', '-display', 'none', '-serial', 'stdio',
             '-monitor', 'none', '-nic', 'none', '-kernel', f'{folder}/guest.elf', '-plugin',
             f'{paths.plugin(tool)},output={self.out}/out{more}'], stdin=subprocess.PIPE)
        self.prompt()

    def prompt(self):
        byte = self.child.stdout.read(1)
        need(byte == b'>', 'expected a prompt, not', byte or self.child.communicate()[1])

    def work(self):
        self.child.stdin.write(b'w')
        self.child.stdin.flush()
        self.prompt()

    def end(self):
        """What the plugin says of the recording."""
        error = self.child.communicate(b'q', timeout=LIMIT)[1].decode()
        need(self.child.returncode == 0, 'exit status', self.child.returncode, error)
        return error

    def kill(self):
        self.child.kill()
        self.child.communicate()

    def ask(self, words):
        return printed([GUESTTRACE, 'ctl', f'{self.folder}/socket', words]).strip()

    def events(self):
        """The names of the trace's events, after a flush."""
        self.ask('trace-file flush')
        return trace(self.folder)


def trace(folder):
    text = printed([GUESTTRACE, 'events', 'simpletrace', PLUGIN_EVENTS, f'{folder}/trace'])
    return [line.split()[0] for line in text.splitlines()]


def steer(machine, event):
    """The events that are in the trace at the end. KEYS times work is done."""
    need(machine.ask(f'info trace-events {event[:-3]}*') == f'{event} : state 0', event, 'is on')
    machine.work()
    need(machine.events() == [], 'events that are off')
    machine.ask(f'trace-event {event} on')
    machine.work()
    first = machine.events()
    need(first and set(first) == {event}, 'events that are on:', first)
    machine.ask(f'trace-event {event} off')
    before = machine.events()
    machine.work()
    need(machine.events() == before, 'events that are off again')
    machine.ask('trace-file off')
    machine.ask(f'trace-event {event} on')
    machine.work()
    need(machine.events() == before, 'events while the file is off')
    machine.ask('trace-file on')
    machine.work()
    last = machine.events()
    need(len(last) > len(before) and set(last) == {event}, 'events that are on again:', last)
    return last


def record_alone(folder, qemu, tool):
    machine = Machine(folder, qemu, tool)
    try:
        for _ in range(KEYS):
            machine.work()
        return machine.end()
    finally:
        machine.kill()


def run(folder, qemu, tool, event):
    machine = Machine(folder, qemu, tool, f',trace-file={folder}/trace,control={folder}/socket')
    try:
        found = steer(machine, event)
        said = machine.end()
    finally:
        machine.kill()
    need(trace(folder)[:len(found)] == found, 'the trace at the end')
    need(not os.path.exists(f'{folder}/socket'), 'the socket is left')
    if tool == 'uftrace':  # etrace's stream has the blocks that waited for a key
        calls = [re.findall(r'\d+ calls recorded', text)
                 for text in (said, record_alone(folder, qemu, tool))]
        need(calls[0] and calls[0] == calls[1], 'looked into and alone:', calls)


def build(folder):
    source = write(f'{folder}/guest.c', GUEST)
    boards.build('aarch64', 'guest', folder, [boards.start_code('aarch64'), source], '-DSTART_MAIN=start')


def check(version, qemu, folder, _):
    for tool, event in TOOLS.items():
        try:
            run(folder, qemu, tool, event)
        except Failure as failure:
            raise Failure(f'{tool}: {failure}') from failure


if __name__ == '__main__':
    sys.exit(qemus.on_each('aarch64', 'events', build, check))
