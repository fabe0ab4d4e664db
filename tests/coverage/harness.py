# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests of `guesttrace coverage` share. GUESTTRACE names the executable under test."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

GUESTTRACE = os.environ['GUESTTRACE']
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, 'programs')
CROSS = {'x86_64': '', 'aarch64': 'aarch64-linux-gnu-', 'riscv64': 'riscv64-linux-gnu-'}


class Scratch(unittest.TestCase):
    def setUp(self):
        self.dir = os.path.realpath(tempfile.mkdtemp(prefix='guesttrace-coverage-'))
        self.addCleanup(shutil.rmtree, self.dir)

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def write(self, name, data):
        with open(self.path(name), 'wb' if isinstance(data, bytes) else 'w') as f:
            f.write(data)
        return self.path(name)

    def tool(self, *command, status=0, **more):
        done = subprocess.run(command, cwd=self.dir, text=True, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=100, **more)
        if status is not None:
            self.assertEqual(done.returncode, status, f'{command}\n{done.stdout}{done.stderr}')
        return done

    def coverage(self, *arguments, status=0, quiet=True):
        done = self.tool(GUESTTRACE, 'coverage', *arguments, status=status)
        if quiet and status == 0:
            self.assertEqual(done.stderr, '')
        return done

    def compile(self, source, *options, arch='x86_64', output='program'):
        compiler = CROSS[arch] + ('g++' if source.endswith('.cc') else 'gcc')
        self.tool(compiler, '-g', '-o', self.path(output), *options, source)
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


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            print(f'SKIP: no {tool}', flush=True)
            sys.exit(77)


def machines(arch):
    """Each QEMU that there is."""
    name = f'qemu-system-{arch}'
    folder = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'),
                          'guesttrace', 'qemus')
    paths = [shutil.which(name), f'{folder}/10.0/{name}', f'{folder}/11.1/{name}']
    return [path for path in paths if path and os.path.exists(path)]


def need_plugins(qemu):
    with open(shutil.which(qemu), 'rb') as f:
        if b'/ld-linux' not in f.read(4096):
            print(f'SKIP: {qemu} is statically linked and loads no plugins', flush=True)
            sys.exit(77)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    unittest.main(verbosity=2)
