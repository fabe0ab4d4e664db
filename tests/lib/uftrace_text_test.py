#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The reader of what uftrace report and graph print, against texts made by hand."""
from gttest import cases, uftrace_text
from reader_case import ReaderCase

REPORT = '''\
  Total time   Total avg   Total min   Total max   Self time    Self avg    Self min    Self max       Calls  Function
  ==========  ==========  ==========  ==========  ==========  ==========  ==========  ==========  ==========  ========
    1.152 ms    1.152 ms    1.152 ms    1.152 ms   71.683 us   71.683 us   71.683 us   71.683 us           1  main
    2.001  s    1.015  m                1.003  h    0.001 us    0.001 us                0.001 us        1234  operator delete(void*)
'''
GRAPH = '''\
# Function Call Graph for 'main' (session: 375fb052885e0b97)
=============== BACKTRACE ===============
 backtrace #0: hit 2, time   1.152 ms
   [0] _start (0x4000001050)
   [1] main (0x400000119a)

========== FUNCTION CALL GRAPH ==========
# TOTAL TIME   SELF TIME   FUNCTION
    1.152 ms    0.019 us : (2) main
    2.883 us    0.029 us :  +-(3) print(int)
    2.854 us             :  | (1) format
                         :  |
    0.076 us    0.008 us :  +-(4) even
    0.006 us    0.006 us :     +-(5) odd
                         :     |
    0.002 us    0.002 us :     +-(6) leaf

    1.002  s    0.001 us : (7) other
'''
OURS = '''\
# TOTAL TIME   SELF TIME    TOTAL   FUNCTION
    1.152 ms    0.019 us   99.9 % : (2) main
    2.883 us    0.029 us    0.1 % :  +-(3) print(int)
    2.854 us    0.000 us    0.1 % :  | (1) format
                                   :  |
    0.076 us    0.008 us    0.0 % :  +-(4) even
    0.006 us    0.006 us    0.0 % :     +-(5) odd
                                   :     |
    0.002 us    0.002 us    0.0 % :     +-(6) leaf

    1.002  s    0.001 us   86.9 % : (7) other
'''
LINES = [
    'main calls 2 total 1152000 self 19', ' even calls 4 total 76 self 8', '  leaf calls 6 total 2 self 2',
    '  odd calls 5 total 6 self 6', ' print(int) calls 3 total 2883 self 29', '  format calls 1 total 2854 self 0',
    'other calls 7 total 1002000000 self 1',
]


class Report(ReaderCase):
    def test_columns(self):
        rows = uftrace_text.report(REPORT)
        self.assertEqual(list(rows), ['main', 'operator delete(void*)'])
        self.assertEqual(list(rows['main'].values()), ['1.152ms'] * 4 + ['71.683us'] * 4 + ['1'])
        self.assertEqual(rows['operator delete(void*)'], {
            'total': '2.001s', 'total-avg': '1.015m', 'total-min': '0.000us', 'total-max': '1.003h', 'self': '0.001us',
            'self-avg': '0.001us', 'self-min': '0.000us', 'self-max': '0.001us', 'call': '1234'})

    def test_times(self):
        for ns, text in [(0, '0.000us'), (999999, '999.999us'), (1000000, '1.000ms'), (1152999, '1.152ms'),
                         (2001000000, '2.001s'), (999999999999, '999.999s'), (3661000000000, '1.001h')]:
            self.assertEqual(uftrace_text.time_text(ns), text)
        for text, ns in [('1.152 ms', 1152000), ('  2.001  s', 2001000000), ('1.015  m', 75000000000),
                         ('1.003  h', 3780000000000)]:
            self.assertEqual(uftrace_text.ns_of(text), ns)


class Graph(ReaderCase):
    def lines(self, text):
        return [line for top in uftrace_text.graph(text) for line in top.lines()]

    def test_both_layouts(self):
        self.assertEqual(self.lines(GRAPH), LINES)
        self.assertEqual(self.lines(OURS), LINES)

    def test_backtraces(self):
        self.assertEqual(uftrace_text.backtraces(GRAPH), {('_start', 'main'): (2, '1.152ms')})

    def test_alike(self):
        def top(text):
            return uftrace_text.graph(text)[0].join_names()
        self.assertTrue(uftrace_text.alike(top(GRAPH), top(OURS)))
        for old, new in [('(6)', '(7)'), ('0.006 us   ', '0.007 us   '), ('leaf', 'lea'), ('2.854 us', '2.853 us')]:
            self.assertFalse(uftrace_text.alike(top(GRAPH), top(OURS.replace(old, new))), old)

    def test_one_name(self):
        """Two functions of one name are one for uftrace; what their printed times leave out may add up."""
        two = uftrace_text.graph('''\
    9.000 ms    9.000 ms : (1) a
    1.152 ms    0.001 us :  +-(2) f
                         :  |
    1.001 ms    0.001 us :  +-(3) f
''')[0].join_names()
        for total, good in ('2.153 ms', True), ('2.154 ms', True), ('2.155 ms', False), ('2.151 ms', False):
            one = uftrace_text.graph(f'    9.000 ms    9.000 ms : (1) a\n    {total}    0.002 us : (5) f\n')[0]
            self.assertEqual(uftrace_text.alike(two, one), good, total)

    def test_refused(self):
        self.refused(uftrace_text.graph, OURS.replace('(5) odd', '(x) odd'), 'no line of a graph')


if __name__ == '__main__':
    cases.main()
