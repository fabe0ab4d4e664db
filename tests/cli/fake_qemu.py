#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Plays a QEMU with our plugin, for tests of the command line alone.

Linked into a test's PATH as qemu-x86_64 and the like. What it is started with goes to FAKE_LOG, a
line of JSON a start. FAKE_DO says what to do, steps separated by spaces:
  record        write a small uftrace directory where the plugin's output= says
  partial       the same, but as a kill leaves it: an open function, half a record
  full          the same where the disk is full: a file of records that is empty, and no others
  stats=K:V,..  write guesttrace.stats there
  machine=FILE  write the directory that the JSON in FILE says: see write_machine
  out=HEX       write the bytes to standard output
  from=FILE     the same with the file's bytes
  tty           say on FAKE_EVENTS what standard output is: "pipe" or "LINES COLUMNS raw|cooked"
  taken         wait until all of that has been read
  size=LxC      wait until standard output is a terminal of that size
  refused       write to standard output until that fails because nobody reads it
  copy          copy a line of standard input to standard output
  linger        leave a process behind that has standard output open; it waits as `await` does
  now=N         the newest time of the trace, in OUTPUT/.now
  touch=FILE    make an empty file
  code          copy the file of the plugin's argument code= to OUTPUT/seen.map
  listen        open the FIFO of the plugin's argument console=
  heard=N       wait until N messages have come there, and append them to the file FIFO.heard
  ticks         wait until the parent has been woken a few times
  say=TEXT      write TEXT, a line, to the descriptor FAKE_EVENTS
  await         wait for a line on the descriptor FAKE_COMMANDS
  signals       from now on take signals: `forever` says each one's name, and ends with SIGTERM
  default=NAME  let the signal do what it does by default
  sets          print which signals are blocked and ignored
  forever       wait for signals, or to die of one
  kill=NAME     die by the signal
  exit=N
"""
import fcntl
import json
import os
import resource
import shutil
import signal
import struct
import sys
import termios
from time import CLOCK_MONOTONIC, clock_gettime

from gttest import uftrace_write as write

SID = '0123456789abcdef'
SIGNALS = [signal.Signals['SIG' + name] for name in
           ('HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'ALRM', 'TERM', 'WINCH', 'TSTP')]


def plugin_options():
    """The words of the last -plugin option, as QEMU reads them: a doubled comma is one."""
    words, value = [''], sys.argv[len(sys.argv) - sys.argv[::-1].index('-plugin')]
    i = 0
    while i < len(value):
        if value[i] == ',' and value[i + 1:i + 2] != ',':
            words.append('')
        else:
            i += value[i] == ','
            words[-1] += value[i]
        i += 1
    return dict(word.split('=', 1) for word in words)


def put(name, data):
    folder = plugin_options()['output']
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def write_directory(rest, end):
    """A machine's recording: all code in one module, four functions with made-up names."""
    base = 0x40000000
    put('info', write.info([1]))
    put('task.txt', write.tasks(SID, [1]))
    put(f'sid-{SID}.map', write.mappings(base, base + 0x10000))
    names = {a: f'0x{base + a:x}' for a in (0x0, 0x1000, 0x1400, 0x9000)}
    put('guest.sym', write.symbols(names, kind='T', end=0x10000))
    put('1.dat', write.records((1, 0, 0, base), (2, 0, 1, base + 0x1000), (3, 0, 2, base + 0x1400),
                               (4, 1, 2, base + 0x1400), (5, 1, 1, base + 0x1000),
                               (6, 0, 1, base + 0x9000), (7, 1, 1, base + 0x9000), *end) + rest)


def write_machine(path):
    """{"entries": [address...], "found": TEXT}: calls one after the other, from time 1 on, and
    code.found; "clock": what is added to the times."""
    with open(path, encoding='utf-8') as f:
        what = json.load(f)
    write_directory(b'', [])
    time = what.get('clock', 0)
    if time == 'host':
        time = int(clock_gettime(CLOCK_MONOTONIC) * 1e9)
    put('1.dat', write.calls(what['entries'], time))
    put(f'sid-{SID}.map', write.mappings())
    put('guest.sym', write.symbols({addr & write.MASK: f'0x{addr & write.MASK:x}' for addr in what['entries']}))
    if 'found' in what:
        put('code.found', what['found'])


def write_now(value):
    path = os.path.join(plugin_options()['output'], '.now')
    with open(path, 'r+b' if os.path.exists(path) else 'wb') as f:
        f.write(struct.pack('<Q', int(value)))


def write_out(data):
    while data:
        data = data[os.write(1, data):]


def step_from(path):
    with open(path, 'rb') as f:
        write_out(f.read())


def step_taken(_):
    while struct.unpack('i', fcntl.ioctl(1, termios.FIONREAD, b'\0\0\0\0'))[0]:
        signal.sigtimedwait([], 0.002)


def step_size(size):
    while '{0.lines}x{0.columns}'.format(os.get_terminal_size(1)) != size:
        signal.sigtimedwait([], 0.002)


def step_refused(_):
    try:
        while True:
            os.write(1, b'x' * 4096)
    except BrokenPipeError:
        pass


def step_copy(_):
    line = b''
    while not line.endswith(b'\n'):
        line += os.read(0, 1)
    write_out(line)


def step_linger(_):
    if os.fork() == 0:
        os.close(2)
        await_command()
        os._exit(0)


def step_tty(_):
    if not os.isatty(1):
        say('pipe')
        return
    size = os.get_terminal_size(1)
    raw = not termios.tcgetattr(1)[1] & termios.OPOST
    say(f'{size.lines} {size.columns} {"raw" if raw else "cooked"}')


def step_code(_):
    with open(plugin_options()['code'], 'rb') as f:
        put('seen.map', f.read())


listening = []  # the FIFO's descriptor


def step_listen(_):
    listening.append(os.open(plugin_options()['console'], os.O_RDWR))


def step_heard(count):
    text = b''
    while text.count(b'\n') < int(count):
        text += os.read(listening[0], 4096)
    with open(plugin_options()['console'] + '.heard', 'ab') as f:
        f.write(text)


def say(text):
    os.write(int(os.environ['FAKE_EVENTS']), (text + '\n').encode())


def await_command():
    while os.read(int(os.environ['FAKE_COMMANDS']), 1) not in (b'\n', b''):
        pass


def parent_wakeups():
    with open(f'/proc/{os.getppid()}/status', encoding='ascii') as f:
        return int(next(line for line in f if line.startswith('voluntary')).split()[1])


def await_ticks():
    goal = parent_wakeups() + 3
    while parent_wakeups() < goal:
        signal.sigtimedwait([], 0.02)


def step_signals(_):
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


def step_sets(_):
    with open('/proc/self/status', encoding='ascii') as f:
        print(*(line for line in f if line.startswith(('SigBlk', 'SigIgn'))), flush=True)


def step_forever(_):
    while signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, []):
        signal.pause()
    ended = False
    while not ended:
        number = signal.sigwait(SIGNALS)
        say(signal.Signals(number).name)
        ended = number == signal.SIGTERM


def step_remove(_):
    """The output is removed, as by somebody else."""
    shutil.rmtree(plugin_options()['output'])


def step_kill(name):
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.Signals['SIG' + name], signal.SIG_DFL) if name != 'KILL' else None
    os.kill(os.getpid(), signal.Signals['SIG' + name])


STEPS = {
    'record': lambda _: write_directory(b'', [(8, 1, 0, 0x40000000)]),
    'partial': lambda _: write_directory(b'1234567', []),
    'full': lambda _: put('1.dat', b''),
    'stats': lambda v: put('guesttrace.stats',
                           ''.join('='.join(kv.split(':', 1)) + '\n' for kv in v.split(','))),
    'machine': write_machine,
    'out': lambda text: write_out(bytes.fromhex(text)),
    'from': step_from,
    'taken': step_taken,
    'size': step_size,
    'refused': step_refused,
    'copy': step_copy,
    'linger': step_linger,
    'tty': step_tty,
    'now': write_now,
    'touch': lambda path: open(path, 'wb').close(),
    'code': step_code,
    'listen': step_listen,
    'heard': step_heard,
    'ticks': lambda _: await_ticks(),
    'say': say,
    'await': lambda _: await_command(),
    'signals': step_signals,
    'sets': step_sets,
    'default': lambda name: signal.signal(signal.Signals['SIG' + name], signal.SIG_DFL),
    'forever': step_forever,
    'kill': step_kill,
    'remove': step_remove,
    'exit': lambda n: os._exit(int(n)),
}


def main():
    if '--version' in sys.argv:
        print(os.environ.get('FAKE_VERSION', 'qemu-fake version 9.1.2 (Debian 1:9.1.2+ds-1)'))
        return
    with open(os.environ['FAKE_LOG'], 'a', encoding='utf-8') as f:
        f.write(json.dumps({'argv': sys.argv, 'env': dict(os.environ)}) + '\n')
    for step in os.environ.get('FAKE_DO', '').split():
        name, _, value = step.partition('=')
        STEPS[name](value)


main()
