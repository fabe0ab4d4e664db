#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`report`, `graph` and `info`: layout, order, formats, parts of a recording, what they refuse."""
import csv
import io
import json
import os

from gttest import cases, etrace_write
from sums_case import Recording, SumsTest


CLOCK = '# Times are instructions of the guest, 1 ns each.\n'


class Report(SumsTest):
    def names(self, *arguments):
        return [row[-1] for row in self.rows(*arguments)[1:]]

    def rows(self, *arguments):
        """Of the CSV."""
        text = self.plain('report', '--csv', *arguments)
        return list(csv.reader(io.StringIO(text, newline=''), strict=True))

    def test_functions(self):
        self.assertEqual(self.plain('report', self.some()), CLOCK + '''\
  Total time   Self time       Calls   Total avg   Total min   Total max  Module     Function
  ==========  ==========  ==========  ==========  ==========  ==========  =========  ====================
    3.002  s    3.002  s           2    1.501  s    2.000 ms    3.000  s  libx.so.6  read
    3.000  s    0.007 us           1    3.000  s    3.000  s    3.000  s  prog       thread
    2.003 ms    0.101 us           2    1.001 ms    0.003 us    2.003 ms  prog       main
    2.003 ms    1.007 us           2    1.001 ms    0.002 us    2.003 ms  prog       work
    2.000 us    2.000 us           2    1.000 us    0.500 us    1.500 us  prog       step
    0.100 us    0.100 us           4    0.055 us    0.030 us    0.100 us  prog       fib
    0.009 us    0.009 us           1    0.009 us    0.009 us    0.009 us  libx.so.6  copy
''')

    def test_tasks(self):
        self.assertEqual(self.plain('report', '--by', 'task', self.some()), CLOCK + '''\
  Total time       Calls   Functions         TID         PID  Task
  ==========  ==========  ==========  ==========  ==========  ====================
    3.000  s           3           3           8           7  prog
    2.003 ms           9           5           7           7  prog
    0.003 us           2           2           9           9  child
''')

    def test_modules(self):
        self.assertEqual(self.plain('report', '--by', 'module', self.some()), CLOCK + '''\
  Total time   Self time       Calls   Functions  Module
  ==========  ==========  ==========  ==========  ====================
    3.002  s    3.215 us          11           5  prog
    3.002  s    3.002  s           3           2  /lib/libx.so.6
''')

    def test_range(self):
        some = self.some()
        for text, options in [('1us~2ms', ('--from', '1us', '--to', '2ms')), ('~1us', ('--to', '1us')),
                              ('2us~', ('--from', '2us'))]:
            self.assertEqual(self.rows('--range', text, some), self.rows(*options, some), text)
        self.assertEqual(self.refused('report', '-r', '1us', some, status=2),
                         "option '--range' takes FROM~TO, as 1.2s~1.3s, not '1us'")
        self.assertEqual(self.refused('report', '-r', '1us~', '--to', '2us', some, status=2),
                         '--range 1us~ is --from and --to: give one of them')

    def test_sort(self):
        some = self.some()
        for keys, names in [('self', ['read', 'step', 'work', 'main', 'fib', 'copy', 'thread']),
                            ('calls,name', ['fib', 'main', 'read', 'step', 'work', 'copy', 'thread']),
                            ('call,self', ['fib', 'read', 'step', 'work', 'main', 'copy', 'thread']),
                            ('name', ['copy', 'fib', 'main', 'read', 'step', 'thread', 'work']),
                            ('module,name', ['copy', 'read', 'fib', 'main', 'step', 'thread', 'work']),
                            ('min', ['thread', 'read', 'step', 'fib', 'copy', 'main', 'work']),
                            ('max', ['thread', 'read', 'main', 'work', 'step', 'fib', 'copy']),
                            ('avg', ['thread', 'read', 'main', 'work', 'step', 'fib', 'copy']),
                            ('self-max', ['read', 'step', 'work', 'main', 'fib', 'copy', 'thread'])]:
            self.assertEqual(self.names('--sort', keys, some), names, keys)
        self.assertEqual(self.names('--by', 'task', '-s', 'tid', some), ['child', 'prog', 'prog'])
        self.assertEqual(self.names('-l', '2', some), ['read', 'thread'])

    def test_csv(self):
        recording = Recording(self.path('odd'), ['a,b', 'c'])
        recording.task(1, 'x"y( +5 c:f( +7 ) ) z\x1b[31m( +1 )').write()
        self.assertEqual(self.rows(self.path('odd')), [
            ['total_ns', 'self_ns', 'slept_ns', 'calls', 'total_avg_ns', 'total_min_ns', 'total_max_ns', 'self_avg_ns',
             'self_min_ns', 'self_max_ns', 'open', 'module', 'file', 'line', 'function'],
            ['12', '5', '0', '1', '12', '12', '12', '5', '5', '5', '0', 'a,b', '', '', 'x"y'],
            ['7', '7', '0', '1', '7', '7', '7', '7', '7', '7', '0', 'c', '', '', 'f'],
            ['1', '1', '0', '1', '1', '1', '1', '1', '1', '1', '0', 'a,b', '', '', 'z\\x1b[31m']])

    def test_json(self):
        found = json.loads(self.plain('report', '--json', '-l', '1', self.some()))
        self.assertEqual(found, {'by': 'function', 'rows': [
            {'function': 'read', 'module': '/lib/libx.so.6', 'total_ns': 3002000009, 'self_ns': 3002000000,
             'slept_ns': 0, 'calls': 2,
             'total_avg_ns': 1501000004, 'total_min_ns': 2000000, 'total_max_ns': 3000000009,
             'self_avg_ns': 1501000000, 'self_min_ns': 2000000, 'self_max_ns': 3000000000, 'open': 0}]})
        for what, keys in [('task', ['task', 'total_ns', 'slept_ns', 'calls', 'functions', 'tid', 'pid', 'open']),
                           ('module', ['module', 'total_ns', 'self_ns', 'slept_ns', 'calls', 'functions', 'open'])]:
            found = json.loads(self.plain('report', '--json', '--by', what, self.path('some')))
            self.assertEqual((found['by'], list(found['rows'][0])), (what, keys))

    def test_source_lines(self):
        some = self.some()
        self.write('some/prog.dbg', '# path name: prog\nF: 1000 main\nL: 12 src/main.c\n')
        row = next(r for r in json.loads(self.plain('report', '--json', some))['rows'] if r['function'] == 'main')
        self.assertEqual((row['file'], row['line']), ('src/main.c', 12))
        self.assertIn(['src/main.c', '12', 'main'], [row[-3:] for row in self.rows(some)])

    def test_parts(self):
        some = self.some()
        self.assertEqual(self.names('--task', '8', some), ['thread', 'read', 'copy'])
        self.assertEqual(self.names('--task', 'ch*', some), ['main', 'work'])
        self.assertEqual(self.names('--depth', '1', some), ['thread', 'main'])
        self.assertEqual(self.names('-t', '1ms', some), ['read', 'thread', 'main', 'work'])
        self.assertEqual(self.names('--task', '7', '--from', '2.003106ms', '--to', '2.003165ms', some), ['fib', 'main'])
        self.assertEqual([row[:4] for row in self.rows('--task', '9', '--to', '2ns', some)[1:]],
                         [['2', '1', '0', '1'], ['1', '1', '0', '1']])

    def test_demangled(self):
        path = self.make('c++', '_ZN2ns1fEi( +5 )')
        self.assertEqual(self.names(path), ['ns::f(int)'])
        self.assertEqual(self.names('--no-demangle', path), ['_ZN2ns1fEi'])

    def test_one_name_in_two_modules(self):
        recording = Recording(self.path('two'), ['prog', 'lib'])
        recording.task(1, 'f( +5 ) lib:f( +4 )').write()
        self.assertEqual([(row[0], row[11]) for row in self.rows(self.path('two'))[1:]], [('5', 'prog'), ('4', 'lib')])

    def test_one_name_at_two_addresses(self):
        path = self.make('same', 'f( +5 g( +1 f( +3 ) ) ) g( +2 )')
        with open(f'{path}/prog.sym', encoding='utf-8') as f:
            text = f.read().replace(' g\n', ' f\n')
        self.write('same/prog.sym', text)
        self.assertEqual([row[:4] + row[-1:] for row in self.rows(path)[1:]], [['15', '11', '0', '4', 'f']])

    def test_clock(self):
        some = self.some()
        for command in 'report', 'graph':
            text = self.plain(command, some)
            self.assertTrue(text.startswith(CLOCK), text)
            self.assertEqual(self.plain(command, '-q', some), text.removeprefix(CLOCK))
        self.assertNotIn('Times are', self.plain('report', self.make('host', 'f( +1 )', stats={'host_clock': 1, 'processes': 1})))

    def test_quiet(self):
        some = self.some()
        os.rename(some, self.path('uftrace.data'))
        self.write('uftrace.gtrace', b'')
        os.utime(self.path('uftrace.data', 'info'), (1 << 33, 1 << 33))
        for command in 'report', 'graph', 'info', 'replay':
            self.assertIn('is taken', self.expect(0, command).stderr)
            self.assertEqual(self.expect(0, command, '--quiet').stderr, '')
        self.assertEqual(self.expect(0, 'export', '-q', '--format', 'folded', '-o', '-').stderr, '')

    def test_nothing(self):
        path = self.make('empty', '')
        self.assertEqual(self.plain('report', path).count('\n'), 2)
        self.assertEqual(json.loads(self.plain('report', '--json', path))['rows'], [])
        self.assertEqual(self.plain('graph', path), '# TOTAL TIME   SELF TIME    TOTAL   FUNCTION\n')


class Slept(SumsTest):
    """What a task slept is no time of its calls, unless it is asked for."""
    TEXT = 'main( +10 work( +20 read( +5 < +1000 > +6 ) +3 ) < +500 > +1 )', 'wait( +7 < +9000 > )'

    def sums(self, *arguments):
        rows = json.loads(self.plain('report', '--json', *arguments))['rows']
        return {row['function']: tuple(row[f'{key}_ns'] for key in ('total', 'total_max', 'self', 'slept')) for row in rows}

    def test_report(self):
        path = self.make('slept', *self.TEXT)
        self.assertEqual(self.sums(path), {'main': (45, 45, 11, 1500), 'work': (34, 34, 23, 1000),
                                           'read': (11, 11, 11, 1000), 'wait': (7, 7, 7, 9000)})
        self.assertEqual(self.sums('--wall', path), {
            'main': (1545, 1545, 11, 0), 'work': (1034, 1034, 23, 0), 'read': (1011, 1011, 11, 0),
            'wait': (9007, 9007, 7, 0), 'linux:schedule': (10500, 9000, 10500, 0)})
        self.assertEqual(self.plain('report', path), '''\
  Total time   Self time       Slept       Calls   Total avg   Total min   Total max  Module  Function
  ==========  ==========  ==========  ==========  ==========  ==========  ==========  ======  ====================
    0.045 us    0.011 us    1.500 us           1    0.045 us    0.045 us    0.045 us  prog    main
    0.034 us    0.023 us    1.000 us           1    0.034 us    0.034 us    0.034 us  prog    work
    0.011 us    0.011 us    1.000 us           1    0.011 us    0.011 us    0.011 us  prog    read
    0.007 us    0.007 us    9.000 us           1    0.007 us    0.007 us    0.007 us  prog    wait
''')
        self.assertNotIn('Slept', self.plain('report', '--wall', path))
        self.assertEqual(self.plain('report', '--by', 'task', '--sort', 'tid', path).split('\n')[2:4], [
            '    0.007 us    9.000 us           1           1           2           1  prog',
            '    0.045 us    1.500 us           3           3           1           1  prog'])

    def test_parts(self):
        """Where calls are left out, or a window begins while the task sleeps."""
        path = self.make('slept', *self.TEXT)
        self.assertEqual(self.sums('--depth', '1', path), {'main': (45, 45, 45, 1500), 'wait': (7, 7, 7, 9000)})
        self.assertEqual(self.sums('--depth', '1', '--wall', path), {'main': (1545, 1545, 1545, 0), 'wait': (9007, 9007, 9007, 0)})
        self.assertEqual(self.sums('--time-filter', '1100ns', path), {'main': (45, 45, 45, 1500), 'wait': (7, 7, 7, 9000)})
        self.assertEqual(self.sums('--task', '1', '--from', '535ns', '--to', '1600ns', path), {
            'main': (10, 10, 1, 1000), 'work': (9, 9, 3, 500), 'read': (6, 6, 6, 500)})

    def test_graph(self):
        path = self.make('slept', *self.TEXT)
        self.assertEqual(self.plain('graph', path), '''\
# TOTAL TIME   SELF TIME       SLEPT    TOTAL   FUNCTION
    0.052 us    0.000 us   10.500 us  100.0 % : (2) prog
    0.045 us    0.011 us    1.500 us   86.5 % :  +-(1) main
    0.034 us    0.023 us    1.000 us   65.3 % :  | (1) work
    0.011 us    0.011 us    1.000 us   21.1 % :  | (1) read
                                               :  |
    0.007 us    0.007 us    9.000 us   13.4 % :  +-(1) wait
''')
        self.assertIn('(1) linux:schedule\n', self.plain('graph', '--wall', path))

    def test_values(self):
        """As --by FUNC:VALUE has them, which reads call by call, filters do."""
        path = self.make('slept', *self.TEXT)
        self.assertEqual(self.sums('-F', 'work', path), {'work': (34, 34, 23, 1000), 'read': (11, 11, 11, 1000)})


class Graph(SumsTest):
    HEAD = '# TOTAL TIME   SELF TIME    TOTAL   FUNCTION\n'

    def graph(self, *arguments):
        text = self.plain('graph', *arguments).removeprefix(CLOCK)
        self.assertTrue(text.startswith(self.HEAD))
        return text.removeprefix(self.HEAD)

    def test_whole(self):
        self.assertEqual(self.graph(self.some()), '''\
    3.002  s    0.000 us  100.0 % : (3) prog
    3.000  s    0.007 us   99.9 % :  +-(1) thread
    3.000  s    3.000  s   99.9 % :  | (1) read
    0.009 us    0.009 us    0.0 % :  | (1) copy
                                   :  |
    2.003 ms    0.101 us    0.0 % :  +-(2) main
    2.003 ms    1.007 us    0.0 % :     +-(2) work
    2.000 ms    2.000 ms    0.0 % :     |  +-(1) read
                                   :     |  |
    2.000 us    2.000 us    0.0 % :     |  +-(2) step
                                   :     |
    0.100 us    0.010 us    0.0 % :     +-(1) fib
    0.090 us    0.060 us    0.0 % :       (2) fib
    0.030 us    0.030 us    0.0 % :       (1) fib
''')

    def test_json(self):
        some = self.some()
        found = json.loads(self.plain('graph', '--json', some))
        (root,) = found['roots']
        self.assertEqual((root['name'], root['nodes'][0]), ('prog', {
            'depth': 0, 'calls': 3, 'open': 0, 'total_ns': 3002003224, 'self_ns': 0, 'slept_ns': 0}))
        self.assertEqual([(n['depth'], n['function'], n['calls']) for n in root['nodes'][1:]], [
            (1, 'thread', 1), (2, 'read', 1), (3, 'copy', 1), (1, 'main', 2), (2, 'work', 2), (3, 'read', 1), (3, 'step', 2),
            (2, 'fib', 1), (3, 'fib', 2), (4, 'fib', 1)])
        self.assertEqual(root['nodes'][2], {'depth': 2, 'function': 'read', 'module': '/lib/libx.so.6', 'calls': 1,
                                            'open': 0, 'total_ns': 3000000009, 'self_ns': 3000000000, 'slept_ns': 0})
        part = json.loads(self.plain('graph', '--json', '--function', 'work', '--depth', '1', some))['roots']
        self.assertEqual([(r['name'], [n['function'] for n in r['nodes']]) for r in part], [('work', ['work'])])

    def test_order(self):
        text = self.graph('--sort', 'first', '--function', 'main', self.some())
        self.assertEqual([line.split()[-1] for line in text.split('\n') if '(' in line],
                         ['main', 'work', 'step', 'read', 'fib', 'fib', 'fib'])

    def test_below(self):
        self.assertEqual(self.graph('--function', 'fib', '--function', 'libx*:read', self.some()), '''\
    3.002  s    3.002  s   99.9 % : (2) read
    0.009 us    0.009 us    0.0 % : (1) copy

    0.100 us    0.010 us    0.0 % : (1) fib
    0.090 us    0.060 us    0.0 % : (2) fib
    0.030 us    0.030 us    0.0 % : (1) fib
''')

    def test_callers(self):
        self.assertEqual(self.graph('--callers', '--function', 'read', self.some()), '''\
    3.002  s    3.002  s  100.0 % : (2) read
    3.000  s    3.000  s   99.9 % :  +-(1) thread
                                   :  |
    2.000 ms    2.000 ms    0.0 % :  +-(1) work
    2.000 ms    2.000 ms    0.0 % :    (1) main
''')
        self.assertEqual(self.graph('--callers', '--function', 'fib', self.path('some')), '''\
    0.100 us    0.100 us  100.0 % : (4) fib
    0.100 us    0.010 us  100.0 % :  +-(1) main
                                   :  |
    0.000 us    0.090 us    0.0 % :  +-(3) fib
    0.000 us    0.060 us    0.0 % :     +-(2) main
                                   :     |
    0.000 us    0.030 us    0.0 % :     +-(1) fib
    0.000 us    0.030 us    0.0 % :       (1) main
''')

    def test_groups(self):
        text = self.graph('--by', 'process', self.some())
        self.assertIn('99.9 % : (2) prog [7]\n', text)
        self.assertTrue(text.endswith('''\
       (1) fib

    0.003 us    0.000 us    0.0 % : (1) child [9]
    0.003 us    0.001 us    0.0 % : (1) main
    0.002 us    0.002 us    0.0 % : (1) work
'''))
        text = self.graph('--by', 'task', self.path('some'))
        self.assertEqual([line.split(' : ')[1] for line in text.split('\n') if line.endswith(']')],
                         ['(1) prog [7]', '(1) prog [8]', '(1) child [9]'])

    def test_parts(self):
        some = self.some()
        self.assertEqual(self.graph('--function', 'work', '-D', '1', some), '''\
    2.003 ms    1.007 us  100.0 % : (2) work
''')
        self.assertEqual(self.graph('--task', '9', '-D', '1', some), '''\
    0.003 us    0.000 us  100.0 % : (1) prog
    0.003 us    0.003 us  100.0 % : (1) main
''')
        self.assertEqual(self.graph('--function', 'main', '-t', '1ms', some), '''\
    2.003 ms    0.200 us  100.0 % : (1) main
    2.003 ms    3.005 us   99.9 % : (1) work
    2.000 ms    2.000 ms   99.8 % : (1) read
''')

    def test_names(self):
        path = self.make('odd', '_ZN2ns1fEi( +5 a\x1b[2J( +5 ) )')
        self.assertEqual([line.split(' : ')[1] for line in self.graph('--function', 'ns::f', path).splitlines()],
                         ['(1) ns::f(int)', '(1) a\\x1b[2J'])
        self.assertIn('(1) _ZN2ns1fEi\n', self.graph('--no-demangle', path))

    def test_deep(self):
        depth = 5000
        text = self.graph(self.make('deep', 'f( ' * depth + ') ' * depth))
        self.assertEqual(text.count('(1) f\n'), depth)


class Info(SumsTest):
    def test_text(self):
        text = self.plain('info', self.some())
        size = sum(os.path.getsize(self.path('some', name)) for name in os.listdir(self.path('some')))
        written = next(line for line in text.split('\n') if line.startswith('recorded '))
        self.assertRegex(written, r'^recorded      : \d{4}-\d\d-\d\d \d\d:\d\d:\d\d$')
        self.assertEqual(text.replace(written + '\n', ''), f'''\
recording     : {self.path('some')}
form          : uftrace directory
command       : prog
program       : prog
time          : 3.000 s, from 5.000000000 s to 8.000000016 s
clock         : instructions of the guest, 1 ns each
calls         : 14, up to 4 deep
functions     : 7
size          : {size / 1000:.2f} kB
records       : 28, 16.00 bytes each

Anomalies
               2  missed-return: returns that matched a frame further down: those above were closed

Counts
           1,234  signals: signal handlers entered

Processes
       PID      TASKS            CALLS  PROGRAM
         7          2               12  /bin/prog
         9          1                2  /bin/child

Tasks
       TID        PID            CALLS       TIME  NAME
         7          7                9   2.003 ms  prog
         8          7                3   3.000  s  prog
         9          9                2   0.003 us  child
''')

    def test_json(self):
        found = json.loads(self.plain('info', '--json', self.some()))
        self.assertEqual({key: found[key] for key in ('form', 'incomplete', 'calls', 'deepest', 'records', 'clock',
                                                      'functions', 'first_ns', 'last_ns', 'record_bytes')},
                         {'form': 'uftrace', 'incomplete': False, 'calls': 14, 'deepest': 4, 'records': 28,
                          'clock': 'insn', 'functions': 7, 'first_ns': 5000000000, 'last_ns': 8000000016,
                          'record_bytes': 448})
        self.assertEqual([(x['name'], x['count']) for x in found['anomalies']], [('missed-return', 2)])
        self.assertEqual([(x['name'], x['count']) for x in found['counts']], [('signals', 1234)])
        self.assertEqual([(x['name'], x['count']) for x in found['rules']], [('outer-return', 3)])
        self.assertEqual([t['calls'] for t in found['tasks']], [9, 3, 2])
        self.assertEqual([p['program'] for p in found['processes']], ['/bin/prog', '/bin/child'])

    def test_exact(self):
        self.assertIn('\nNo anomalies: the calls are exact.\n',
                      self.plain('info', self.make('good', 'f( +1 )', stats={'calls': 1, 'anomaly.too-deep': 0})))
        self.assertNotIn('exact', self.plain('info', self.make('unknown', 'f( +1 )')))

    def test_clock(self):
        for host, clock, words in [(0, 'insn', 'instructions of the guest, 1 ns each'), (3, 'host', "the host's"),
                                   (2, 'mixed', "the host's; of some processes instructions, 1 ns each")]:
            path = self.make(f'clock{host}', 'f( +1 )', stats={'processes': 3, 'host_clock': host})
            self.assertEqual(json.loads(self.plain('info', '--json', path))['clock'], clock)
            self.assertIn(f'\nclock         : {words}\n', self.plain('info', path))
        self.assertNotIn('clock', self.plain('info', self.make('old', 'f( +1 )', stats={'processes': 3})))

    def test_lost(self):
        path = self.make('lost', 'f( +1 )', stats={'calls': 1, 'lost_records': 12345, 'error': 'disk full'})
        self.assertIn('\nLost records\n          12,345  in 0 places: disk full\n', self.plain('info', path))

    def test_incomplete(self):
        path = self.make('cut', 'f( +1 g( +2 ) )')
        with open(f'{path}/1.dat', 'r+b') as f:
            f.truncate(3 * 16 + 5)
        done = self.expect(0, 'info', path)
        self.assertRegex(done.stderr, 'guesttrace info: .*1.dat')
        self.assertIn('\ncomplete      : no: it was cut, or is still being written\n', done.stdout)
        self.assertTrue(json.loads(self.expect(0, 'info', '--json', path).stdout)['incomplete'])

    def test_compact(self):
        some = self.some()
        self.expect(0, 'export', '--format', 'compact', '-o', 'one.gtrace', some)
        text = self.plain('info', 'one.gtrace')
        self.assertIn('form          : compact file, version 1.1\n', text)
        self.assertEqual(text.split('\n\n')[1:], self.plain('info', some).split('\n\n')[1:])
        for command in ['report'], ['report', '--by', 'task'], ['report', '--json'], ['graph', '--function', 'main']:
            self.assertEqual(self.plain(*command, 'one.gtrace'), self.plain(*command, some))


class Refused(SumsTest):
    def test_recordings(self):
        self.write('note', b'mine', 0o644)
        for command in 'report', 'graph', 'info':
            self.assertRegex(self.refused(command, 'none'), '^none: No such file or directory$')
            self.assertRegex(self.refused(command, 'note'), '^note: ')
            self.assertEqual(self.refused(command, status=2),
                             'needs a recording: there is no uftrace.gtrace and no uftrace.data here')
            self.assertEqual(self.refused(command, 'a', 'b', status=2), 'takes one recording')

    def test_nothing_left(self):
        """One rule for all that choose a part: what leaves no call is an error, and no file is written."""
        some = self.some()
        exports = [['export', '-f', form, '-o', 'out'] for form in ('chrome', 'perfetto', 'folded', 'speedscope', 'callgrind', 'pprof', 'firefox', 'perf')]
        for command in [['report'], ['report', '--by', 'task'], ['graph'], ['replay'], ['replay', '--flat'], ['replay', '--json'], *exports]:
            for options, text in ((['-t', '9s'], 'no call is left by --time-filter 9s'),
                                  (['--task', '7', '--from', '1ns', '--to', '2ns', '-t', '1ms'],
                                   'no call is left by --from 1ns, --to 2ns, --task 7, --time-filter 1ms'),
                                  (['-F', 'main', '-N', 'main'], 'no call is left by the filters'),
                                  (['--task', 'nobody'], "no task 'nobody'"),
                                  (['-F', 'nobody'], '-F nobody matches no function that was called')):
                said = self.expect(1, *command, *options, some).stderr
                self.assertTrue(said.startswith(f'guesttrace {command[0]}: {some}: {text}') and said.count('\n') == 1, (command, options, said))
                self.assertFalse(os.path.exists(self.path('out')))
        self.expect(0, *exports[0], '-D', '1', some)
        empty = self.make('nothing', '')
        for command in [['report'], ['graph'], ['replay'], *exports]:
            self.expect(0, *command, empty)

    def test_function_for_a_recording(self):
        os.rename(self.some(), self.path('uftrace.data'))
        self.assertEqual(self.refused('graph', 'main'), "main: No such file or directory; a function is named with an option: -F 'main'")
        self.assertEqual(self.refused('graph', 'main.gtrace'), 'main.gtrace: No such file or directory')
        self.assertIn("any text is '.*'", self.refused('report', '-F', '*ain', status=2))
        self.expect(0, 'export', '--format', 'html', '--size', '640k', '-o', 'page.html')

    def test_kinds(self):
        """A file of another kind is named, and the command that reads it."""
        self.expect(0, 'export', '--format', 'compact', '-o', 'x.gtrace', self.some())
        self.write('x.log', b'GTEXECL\n' + bytes(64))
        self.write('x.simple', b'\xff' * 8 + bytes(64))
        self.write('x.elf', b'\x7fELF' + bytes(64))
        recording = 'x.gtrace: a recording of calls, expected '
        self.assertIn(recording, self.expect(1, 'dump', 'x.gtrace').stderr)
        self.expect(0, 'diff', 'x.gtrace', 'x.gtrace')
        self.assertIn('x.gtrace is a recording of calls, x.log is not: expected two of one kind',
                      self.expect(2, 'diff', 'x.log', 'x.gtrace').stderr)
        for command in ['report'], ['graph'], ['replay'], ['info'], ['export', '--format', 'folded', '-o', '-']:
            for name, words in (('x.log', 'an execlog log in binary form, expected a recording of calls; read it with guesttrace dump'),
                                ('x.simple', 'a simpletrace file, expected a recording of calls; read it with guesttrace events simpletrace'),
                                ('x.elf', 'an ELF file, expected a recording of calls\n')):
                self.assertIn(f'{name}: {words}', self.expect(1, *command, name).stderr)
        self.check_kinds()
        self.write('cut.gtrace', self.read_bytes('x.gtrace')[:30])
        self.assertIn('cut.gtrace: it is cut: the block with its list of tasks is missing', self.expect(1, 'report', 'cut.gtrace').stderr)

    def check_kinds(self):
        """Every verb that reads, and every kind of file that it does not read."""
        self.write('x.txt', '0, 0x1000, 0xd503201f, "nop"\n')
        self.write('x.note', 'mine\n')
        self.write('x.etrace', etrace_write.start())
        self.write('x.odd', bytes(range(1, 100)))
        self.write('x.none', b'')
        self.write('x.zst', b'\x28\xb5\x2f\xfd' + bytes(20))
        os.mkdir(self.path('x.folder'))
        calls, stream, log = 'a recording of calls', 'an etrace stream', 'a log'
        kinds = {'some': ('a uftrace directory', 'report'), 'x.gtrace': (calls, 'report'), 'x.etrace': (stream, 'dump'),
                 'x.log': ('an execlog log in binary form', 'dump'), 'x.txt': ('an execlog log, as text', 'diff'),
                 'x.simple': ('a simpletrace file', 'events simpletrace'), 'x.elf': ('an ELF file', None), 'x.note': ('a text', None),
                 'x.zst': ('a file compressed by zstd', None), 'x.odd': ('of an unknown type', None), 'x.none': ('empty', None),
                 'x.folder': ('a folder that is not a recording', None)}
        of_calls = {'some', 'x.gtrace', 'x.etrace'}
        self.write('events', 'foo(int x) "x %d"\n')
        verbs = [([verb], calls, of_calls) for verb in ('info', 'report', 'graph', 'replay', 'view', 'tui')]
        verbs += [(['export', '-f', 'folded', '-o', 'out'], calls, of_calls), (['repair'], calls, {'some', 'x.gtrace'}),
                  (['export', '-f', 'compact', '-o', 'out'], 'a uftrace directory', {'some'}),
                  (['export', '-f', 'uftrace', '-o', 'out'], calls, {'x.gtrace'}), (['dump'], stream, {'x.etrace', 'x.log'}),
                  (['etrace', 'export'], stream, {'x.etrace'}), (['etrace', 'coverage', '-e', '/bin/true'], stream, {'x.etrace'}),
                  (['top', '--json'], 'the socket', set()), (['ctl'], 'the socket', set()),
                  (['symbols', '/bin/true', '--dir'], calls, {'some', 'x.gtrace'}),
                  (['symbols', '--dir', 'some'], 'a program', {'x.elf', 'x.note', 'x.zst', 'x.odd'}),
                  (['events', 'simpletrace', 'events'], 'a simpletrace file', {'x.simple'}),
                  (['diff', 'x.txt'], log, {'x.log', 'x.txt', 'x.note', 'x.none', 'some', 'x.gtrace'})]
        for name in 'some', 'x.gtrace':
            self.assertIn(f'{name} is a recording of calls, x.txt is not: expected two of one kind',
                          self.expect(2, 'diff', 'x.txt', name).stderr)
        for verb, expected, reads in verbs:
            for name, (kind, reader) in kinds.items():
                if name not in reads:
                    done = self.expect(2 if verb[0] == 'diff' else 1, *verb, name)
                    self.assertIn(name, done.stderr)
                    self.assertNotIn('guesttrace ' + verb[0], done.stderr.split(': ', 1)[1])
                    if name == 'x.folder' and 'folded' in verb + ['folded'] * (len(verb) == 1 and expected == calls and verb != ['repair']):
                        self.assertIn('not a recording of calls', done.stderr, (verb, name))
                    elif name != 'x.odd':
                        self.assertIn(f'{name}: {kind}, expected ', done.stderr, (verb, name))
                        self.assertEqual(reader is not None, f'read it with guesttrace {reader}' in done.stderr, (verb, name))

    def test_options(self):
        some = self.some()
        self.assertEqual(self.refused('report', '--sort', 'total,size', some, status=2),
                         "--sort: no column 'size'; there are: name, module, total, self, slept, calls, total-avg, "
                         'total-min, total-max, self-avg, self-min, self-max, open')
        self.assertEqual(self.refused('report', '--by', 'task', '--sort', 'self', some, status=2),
                         "--sort: no column 'self'; there are: name, total, slept, calls, functions, tid, pid, open")
        self.assertEqual(self.refused('report', '--csv', '--json', some, status=2), 'takes one of --csv and --json')
        self.assertEqual(self.refused('graph', '--callers', some, status=2), '--callers needs --function')
        self.assertEqual(self.refused('graph', '--by', 'task', '--function', 'main', some, status=2),
                         '--by is not for --function; use --task')

    def test_window(self):
        some = self.some()
        for command in 'report', 'graph':
            self.assertRegex(self.refused(command, '--from', '5', some, status=2),
                             "^option '--from' takes a time with its unit .*, not '5'$")
            self.assertEqual(self.refused(command, '--from', '9s', some),
                             f'{some}: --from 9s is after its end, at 3.000 s')
            self.assertEqual(self.refused(command, '--task', 'chidl', some),
                             f"{some}: no task 'chidl'; near to it: child")

    def test_functions(self):
        some = self.some()
        self.assertEqual(self.refused('graph', '--function', 'maim', some),
                         f"{some}: no function 'maim' was called; near to it: main")
        self.assertEqual(self.refused('graph', '--function', 'prog:read', some),
                         f"{some}: no function 'prog:read' was called; near to it: read, thread")


if __name__ == '__main__':
    cases.main()
