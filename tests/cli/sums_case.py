# SPDX-License-Identifier: GPL-2.0-or-later
"""A made-up recording for tests of the commands that sum up calls: written as text.

    main( +100 work( step( +10 ) step( +20 ) ) )

enters and leaves functions; +N lets N ns pass; < suspends the task, > resumes it. A function of another module is
MODULE:NAME.
"""
import os

from cli_case import CliTest
from gttest import uftrace_write
from gttest.uftrace import ENTRY, EVENT, EXIT, SCHED_IN, SCHED_OUT

SID = '00112233aabbccdd'
START = 5000000000       # time of the first record
MODULE_SIZE = 0x10000
FIRST, APART = 0x1000, 16  # address of the first function of a module; bytes of each


class Recording:
    """The functions that texts name get their addresses in order; modules lie one behind the other."""

    def __init__(self, path, modules=('prog', '/lib/libx.so.6')):
        self.path, self.modules = path, modules
        self.functions = {os.path.basename(m): [] for m in modules}
        self.tasks = {}   # tid: (pid, name, records)

    def address(self, word):
        module, _, name = word.rpartition(':') if not word.startswith(':') else ('', '', word)
        module = module or os.path.basename(self.modules[0])
        names = self.functions[module]
        if name not in names:
            names.append(name)
        return list(self.functions).index(module) * MODULE_SIZE + FIRST + APART * names.index(name)

    def task(self, tid, text, pid=None, name='prog', start=START):
        time, stack, records = start, [], []
        for word in text.split():
            if word[0] == '+':
                time += int(word[1:])
            elif word in '<>':
                records.append((time, EVENT, len(stack), SCHED_OUT if word == '<' else SCHED_IN))
            elif word == ')':
                addr = stack.pop()
                records.append((time, EXIT, len(stack), addr))
            else:
                addr = self.address(word[:-1])
                records.append((time, ENTRY, len(stack), addr))
                stack.append(addr)
        self.tasks[tid] = (pid or tid, name, uftrace_write.records(*records))
        return self

    def write(self, stats=None):
        os.mkdir(self.path)
        tids = list(self.tasks)
        self.put('info', uftrace_write.info(tids, 'prog'))
        self.put('task.txt', ''.join(self.task_lines()))
        for number, module in enumerate(self.modules):
            base = os.path.basename(module)
            names = {FIRST + APART * i: name for i, name in enumerate(self.functions[base])}
            self.put(f'{base}.sym', uftrace_write.symbols(names, module, 'T', FIRST + APART * len(names)))
            with open(f'{self.path}/sid-{SID}.map', 'a', encoding='utf-8') as f:
                f.write(f'{number * MODULE_SIZE:012x}-{(number + 1) * MODULE_SIZE:012x} r-xp 00000000 00:00 0 {module}\n')
        with open(f'{self.path}/sid-{SID}.map', 'a', encoding='utf-8') as f:
            f.write(uftrace_write.STACK)
        for tid, (_, _, records) in self.tasks.items():
            self.put(f'{tid}.dat', records)
        if stats:
            self.put('guesttrace.stats', ''.join(f'{key}={value}\n' for key, value in stats.items()))
        return self.path

    def task_lines(self):
        seconds = f'{START // 1000000000}.{START % 1000000000:09}'
        for pid in dict.fromkeys(pid for pid, _, _ in self.tasks.values()):
            name = next(name for p, name, _ in self.tasks.values() if p == pid)
            yield f'SESS timestamp={seconds} pid={pid} sid={SID} exename="/bin/{name}"\n'
        for tid, (pid, _, _) in self.tasks.items():
            yield f'TASK timestamp={seconds} tid={tid} pid={pid}\n'

    def put(self, name, data):
        with open(f'{self.path}/{name}', 'wb') as f:
            f.write(data.encode(errors='surrogateescape') if isinstance(data, str) else data)


class SumsTest(CliTest):
    def make(self, name, *texts, stats=None):
        """A recording of tasks 1, 2, ... of process 1; its path."""
        recording = Recording(self.path(name))
        for tid, text in enumerate(texts, 1):
            recording.task(tid, text, pid=1)
        return recording.write(stats)

    def some(self):
        """Two modules, two processes, three tasks, recursion, times from ns to seconds."""
        recording = Recording(self.path('some'))
        recording.task(7, 'main( +100 work( +1000 step( +500 ) step( +1500 ) libx.so.6:read( +2000000 ) +5 ) '
                       'fib( +10 fib( +20 fib( +30 ) ) fib( +40 ) ) )')
        recording.task(8, 'thread( +7 libx.so.6:read( +3000000000 libx.so.6:copy( +9 ) ) )', pid=7, name='thread')
        recording.task(9, 'main( +1 work( +2 ) )', name='child')
        return recording.write({'calls': 14, 'processes': 2, 'host_clock': 0, 'lost_records': 0, 'anomaly.guessed-frame': 0,
                                'anomaly.missed-return': 2, 'count.signals': 1234, 'count.handlers': 0,
                                'rule.outer-return': 3})

    def plain(self, *arguments, **more):
        """What a command prints that has nothing to say on standard error."""
        done = self.expect(0, *arguments, **more)
        self.assertEqual(done.stderr, '')
        return done.stdout

    def refused(self, *arguments, status=1):
        """The message, without the command's name; nothing else is printed."""
        done = self.expect(status, *arguments)
        self.assertEqual(done.stdout, '')
        return done.stderr.split('\n')[0].removeprefix(f'guesttrace {arguments[0]}: ')
