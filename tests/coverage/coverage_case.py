# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of `guesttrace etrace coverage` share."""
from gttest import cases, compilers, paths
from gttest.paths import GUESTTRACE

PROGRAMS = paths.source('coverage', 'programs')


class CoverageTest(cases.ScratchCase):
    def coverage(self, *arguments, status=0, quiet=True):
        done = self.must(GUESTTRACE, 'etrace', 'coverage', *arguments, status=status)
        if quiet and status == 0:
            self.assertEqual(done.stderr, '')
        return done

    def compile(self, source, *options, arch='x86_64', output='program'):
        """What the options name comes first: start code does."""
        self.must(*compilers.compiler(arch, source), '-g', '-o', self.path(output), *options, source)
        return self.path(output)


def lcov(text, ends=False):
    """{source: ({line: count}, {function: (line, count)})}, checked against its own sums. With ends,
    of the format lcov2, functions are (line, last line or None, count)."""
    files, lines, functions, found = {}, {}, {}, {}
    for record in text.splitlines():
        key, _, value = record.partition(':')
        if key == 'SF':
            lines, functions, found = {}, {}, {}
            assert value not in files, value
            files[value] = (lines, functions)
        elif key == 'FN':
            line, name = value.split(',', 1)
            found[name] = (int(line),)
            if ends:
                end, comma, rest = name.partition(',')
                has = comma and end.isdigit()
                found[rest if has else name] = (int(line), int(end) if has else None)
        elif key == 'FNDA':
            count, name = value.split(',', 1)
            functions[name] = (*found[name], int(count))
        elif key == 'DA':
            line, count = value.split(',')
            assert int(line) not in lines, record
            lines[int(line)] = int(count)
        elif key in ('FNF', 'FNH', 'LF', 'LH'):
            counts = [f[-1] for f in functions.values()] if key[0] == 'F' else list(lines.values())
            want = len(counts) if key[-1] == 'F' else sum(c > 0 for c in counts)
            assert int(value) == want, (record, want)
    return files
