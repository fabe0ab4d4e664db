#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A stack that is deeper than a record's depth can say, in a compact file: what is read from the middle, where a segment
begins deep inside, is what the whole has.
"""
import json
import re
import subprocess

from gttest import cases, compact, compilers, paths, qemus, recordings
from gttest.paths import GUESTTRACE
from gttest.results import read_bytes

DEEP, CALLS = 5000, 1300000  # two records each; a segment has 2 Mi
LINE = re.compile(r' *(\d+)\.(\d{9}) +(\d+) +(\d+) (enter|leave) +(?:(\d+)\.(\d{9})|-) (.*)\n')
SOON = 20000  # ns before the end of all calls at the bottom


class Deep(cases.ScratchCase):
    def setUp(self):
        super().setUp()
        qemus.user('x86_64')
        program = self.path('deep')
        compilers.compile_to(program, 'x86_64', paths.source('replay', 'deep.c'), '-O1', '-static')
        self.file, self.directory = self.path('deep.gtrace'), self.path('deep.data')
        recordings.record(self.file, ['--format', 'compact', '--clock', 'insn', '--depth', '100000'],
                          [program, str(DEEP), str(CALLS)])

    def lines(self, since, *words):
        """[(time, depth, what, duration, function)] of what happens from a time on."""
        found = []
        with subprocess.Popen([GUESTTRACE, 'replay', '--flat', '--no-pager', *words, self.file], text=True,
                              stdout=subprocess.PIPE) as child:
            for line in child.stdout:
                match = LINE.fullmatch(line)
                if match and int(match[1] + match[2]) >= since:
                    time, duration = int(match[1] + match[2]), int((match[6] or '0') + (match[7] or ''))
                    found.append((time, int(match[4]), match[5], duration, match[8]))
        self.assertEqual(child.returncode, 0)
        return found

    def blocks(self):
        return compact.all_blocks(read_bytes(self.file))[0]

    def begins_segment(self, block):
        return block.type == compact.RECORDS and block.flags & compact.SEGMENT

    def rows(self, recording):
        out = self.must(GUESTTRACE, 'report', '--json', recording).stdout
        return {row['function']: row for row in json.loads(out)['rows']}

    def test_from_the_middle(self):
        whole = self.lines(0)
        self.assertEqual(sum(line[4] == 'down' and line[2] == 'enter' for line in whole), DEEP + 1)
        bottom = next(line for line in whole if line[4] == 'many' and line[2] == 'leave')
        first, begin = whole[0][0], bottom[0] - SOON
        self.assertTrue(any(self.begins_segment(block) and first < block.first < begin for block in self.blocks()))
        part = self.lines(0, '--from', f'{begin - first}ns')
        wanted = [line for line in whole if line[0] >= begin]
        self.assertGreater(len(wanted), 2 * DEEP)
        self.assertEqual(part[:50], wanted[:50])
        self.assertTrue(part == wanted)

    def test_in_segments(self):
        """All segments side by side, and the records without them: the same sums."""
        recordings.export(self.file, self.directory)
        rows, others = self.rows(self.file), self.rows(self.directory)
        self.assertEqual(rows['leaf']['calls'], CALLS + 1)
        self.assertEqual(rows['down']['calls'], DEEP + 1)
        self.assertEqual(rows, others)


if __name__ == '__main__':
    cases.main()
