# SPDX-License-Identifier: GPL-2.0-or-later
"""What the etrace tests share: a decoder of streams, written from the description of the format and
not from src/format; QEMU's own log of what ran (-d in_asm,exec,nochain); guests; runs of QEMU.

A test file defines functions test_*(t), each given a struct of its own scratch folder; main() runs
those named on the command line, or all. Raised Failure fails one, Skip skips it.
"""
import collections
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import traceback
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
PLUGIN = os.environ.get('GUESTTRACE_PLUGINS', '') + '/libetrace.so'
PREFIX = 'guesttrace-etrace: '
SECONDS = 100
FILE_LIMIT = 1 << 30
EXEC, TB, NOTE, MEM, ARCH, BARRIER, EVENT, INFO = 1, 2, 3, 4, 5, 6, 8, 0x4554
COMPILERS = {'x86_64': ('gcc', []), 'i386': ('gcc', ['-m32']),
             'aarch64': ('aarch64-linux-gnu-gcc', []), 'riscv64': ('riscv64-linux-gnu-gcc', []),
             'arm': ('clang', ['--target=armv7-linux-gnueabi', '-fuse-ld=lld']),
             'mips': ('clang', ['--target=mips-linux-gnu', '-fuse-ld=lld']),
             'ppc64': ('clang', ['--target=powerpc64-linux-gnu', '-fuse-ld=lld']),
             's390x': ('clang', ['--target=s390x-linux-gnu'])}


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def need(good, *words):
    if not good:
        raise Failure(' '.join(str(w) for w in words))


# ---- streams -------------------------------------------------------------------------------------

class Stream:
    """A whole stream. `items`: everything in order, each with its kind and unit: EXEC entries one by
    one (start, end, time, duration), MEM, EVENT, NOTE, TB. Notes of mapped files are apart."""

    def __init__(self, data):
        self.kinds, self.items, self.guest, self.mappings = [], [], None, []
        at = 0
        while at < len(data):
            need(len(data) - at >= 8, 'a header is cut at', at)
            kind, unit, size = struct.unpack_from('<HHI', data, at)
            body = data[at + 8:at + 8 + size]
            need(len(body) == size, 'a packet is cut at', at)
            self.packet(kind, unit, body)
            at += 8 + size
        need(self.kinds[:2] == [INFO, ARCH], 'the stream begins with', self.kinds[:2])
        for kind, following in zip(self.kinds, self.kinds[1:] + [None]):
            need(kind != EXEC or following == BARRIER, 'no barrier after EXEC, but', following)

    def packet(self, kind, unit, body):
        self.kinds.append(kind)
        if kind == INFO:
            need(body == bytes(12), 'INFO', body)
        elif kind == ARCH:
            need(len(body) == 16, 'ARCH of', len(body))
            machine, bits, big = struct.unpack_from('<IBB', body)
            self.guest = SimpleNamespace(machine=machine, bits=bits, big=big)
        elif kind == EXEC:
            self.exec(unit, body)
        elif kind == MEM:
            time, vaddr, paddr, value, attr, size = struct.unpack('<QQQQIB3x', body)
            self.add('mem', unit, time=time, vaddr=vaddr, paddr=paddr, value=value, size=size,
                     write=bool(attr & 1))
        elif kind == EVENT:
            _, unit, _, time, value, previous, n, m = struct.unpack_from('<IHHQQQHH', body)
            need(len(body) == 36 + n + m, 'EVENT of', len(body))
            self.add('event', unit, time=time, value=value, previous=previous,
                     device=body[36:36 + n - 1].decode(), name=body[36 + n:-1].decode())
        elif kind == NOTE:
            self.note(unit, struct.unpack_from('<Q', body)[0], body[8:].decode())
        elif kind == TB:
            vaddr, paddr, _, n, m = struct.unpack_from('<QQQII', body)
            need(len(body) == 32 + n and m == 0, 'TB of', len(body))
            self.add('tb', unit, vaddr=vaddr, paddr=paddr, code=body[32:])
        else:
            need(kind == BARRIER and not body, 'packet of kind', kind)

    def note(self, unit, time, text):
        if text.startswith('mapping '):
            need(text.endswith('\n'), text)
            self.mappings.append(text[:-1])
        else:
            self.add('note', unit, time=time, text=text)

    def exec(self, unit, body):
        layout = struct.Struct('<IQQ' if self.guest.bits == 64 else '<III')
        need((len(body) - 8) % layout.size == 0, 'EXEC of', len(body))
        time = struct.unpack_from('<Q', body)[0]
        for duration, start, end in layout.iter_unpack(body[8:]):
            self.add('exec', unit, start=start, end=end, time=time, duration=duration)
            time += duration

    def add(self, kind, unit, **more):
        self.items.append(SimpleNamespace(kind=kind, unit=unit, **more))

    def of(self, kind, unit=None):
        return [i for i in self.items if i.kind == kind and unit in (None, i.unit)]


def read_stream(path):
    with open(path, 'rb') as f:
        return Stream(f.read())


def expand(entries, following):
    """The instructions of execution entries, by what follows each."""
    out = []
    for e in entries:
        at = e.start
        while at < e.end:
            out.append(at)
            need(at in following, f'{at:#x} is no instruction, in {e.start:#x}-{e.end:#x}')
            at = following[at]
        need(at == e.end, f'{e.start:#x}-{e.end:#x} ends inside of an instruction')
    return out


def counts(stream, following):
    """How often each instruction ran, of a stream of flags=coverage."""
    out = collections.Counter()
    for e in stream.of('event'):
        need(e.device == 'coverage' and e.value > 0, e)
        start, end = (int(a, 16) for a in e.name.split('-'))
        for at in expand([SimpleNamespace(start=start, end=end)], following):
            out[at] += e.value
    return out


# ---- QEMU's log ----------------------------------------------------------------------------------

INSN = re.compile(r'0x([0-9a-f]+):\s+((?:[0-9a-f]{2} ?)+|[0-9a-f]{4,8})(\s+\S.*)?$')
WORD = re.compile(r'0x([0-9a-f]+):\s')  # of machines whose disassembly has no bytes: all of 4
TRACE = re.compile(r'Trace (\d+): (0x[0-9a-f]+) \[[^/]*/([0-9a-f]+)/[^/]*/([0-9a-f]+)\]')
LEFT = re.compile(r'(?:\.\.\.with ELR |async:0,.* epc:)0x([0-9a-f]+)')


class Log:
    """What QEMU logs of its own. `ran`: (vCPU, [instructions of a block that ran]); `following`: where
    an instruction ends. With `faults`, a block that an exception left (-d int) ends there."""

    def __init__(self, path, faults=False):
        self.ran, self.following = [], {}
        self.blocks, self.at, self.fresh, self.faults = {}, {}, None, faults
        with open(path, encoding='utf-8', errors='replace') as f:
            for line in f:
                self.line(line)

    def line(self, line):
        insn = INSN.match(line)
        left = LEFT.search(line)
        if line.startswith('IN:'):
            self.fresh = []
        elif insn and self.fresh is not None:
            self.instruction(int(insn[1], 16), len(insn[2].replace(' ', '')) // 2, bool(insn[3]))
        elif self.fresh is not None and WORD.match(line):
            self.instruction(int(WORD.match(line)[1], 16), 4, True)
        elif line.startswith('Trace '):
            self.trace(line)
        elif line.startswith('Stopped execution of TB chain before'):
            self.ran.pop()
        elif left and self.faults and int(left[1], 16) in self.ran[-1][1]:
            self.cut(self.ran[-1][1].index(int(left[1], 16)) + 1)

    def instruction(self, at, size, whole):
        """The bytes of a long one go on in a line of their own."""
        if whole:
            self.fresh.append(at)
            self.at[self.fresh[0]] = self.fresh
            self.following[at] = at + size
        else:
            self.following[self.fresh[-1]] += size

    def trace(self, line):
        cpu, where, pc, flags = TRACE.match(line).groups()
        pc, where = int(pc, 16), (where, pc)
        if where not in self.blocks or self.fresh and self.fresh[0] == pc:
            self.blocks[where] = self.at[pc]
        self.fresh = None
        block = self.blocks[where]
        alone = len(block) == 1 and int(flags, 16) & 0x1ff == 1
        if alone and self.ran and pc in self.ran[-1][1][:-1]:
            self.cut(self.ran[-1][1].index(pc))  # an access to a device runs again, alone
        self.ran.append((int(cpu), list(block)))

    def cut(self, n):
        self.ran[-1] = (self.ran[-1][0], self.ran[-1][1][:n])

    def instructions(self, cpu=None):
        return [at for runs_on, block in self.ran for at in block if cpu in (None, runs_on)]


def same_instructions(stream, log, last=None):
    """None, or how the instructions that ran differ, up to the last one."""
    got, want = expand(stream.of('exec'), log.following), log.instructions()
    if last in got and last in want:
        got, want = got[:got.index(last) + 1], want[:want.index(last) + 1]
    if got == want:
        return None
    at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
    return f'{len(got)} instructions, QEMU says {len(want)}; from number {at} on ' \
           f'{[hex(a) for a in got[at:at + 4]]}, QEMU says {[hex(a) for a in want[at:at + 4]]}'


# ---- runs ----------------------------------------------------------------------------------------

started = []


def end_all():
    """What a test that failed has left."""
    for child in started:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    started.clear()


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


def said_by_us(errors):
    return [line[len(PREFIX):] for line in errors.split('\n') if line.startswith(PREFIX)]


def start(command, **more):
    more = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE,
            'preexec_fn': limit, **more}
    child = subprocess.Popen([str(c) for c in command], start_new_session=True, **more)
    started.append(child)
    return child


def finish(child):
    """(status, output, errors); its whole session is killed where it takes too long."""
    try:
        out, errors = child.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        raise Failure(f'{child.args}: took more than {SECONDS} s') from None
    return SimpleNamespace(status=child.returncode, out=out, errors=errors.decode(errors='replace'),
                           said=said_by_us(errors.decode(errors='replace')))


def run(command, **more):
    return finish(start(command, **more))


def tool(name):
    path = shutil.which(name)
    if not path:
        raise Skip(f'no {name}')
    return path


def machines(arch):
    """(version, path) of each QEMU that there is."""
    name = f'qemu-system-{arch}'
    folder = os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'),
                          'guesttrace', 'qemus')
    paths = [shutil.which(name), f'{folder}/10.0/{name}', f'{folder}/11.1/{name}']
    for path in paths:
        if path and os.path.exists(path):
            yield version_of(path), path


def symbols(path):
    said = subprocess.run([tool('nm'), path], capture_output=True, check=True).stdout.decode()
    return {line.split()[2]: int(line.split()[0], 16) for line in said.splitlines()}


def takes_plugins(qemu):
    if b'-plugin' not in subprocess.run([qemu, '-help'], capture_output=True, check=False).stdout:
        with open(qemu, 'rb') as f:
            static = b'/ld-linux' not in f.read(4096)
        raise Skip(f'{qemu} ' + ('is statically linked' if static else 'takes no plugins'))
    return qemu


def version_of(qemu):
    said = subprocess.run([qemu, '--version'], capture_output=True, check=False).stdout
    return tuple(int(n) for n in re.search(rb'version (\d+)\.(\d+)', said).groups())


def tells_values(qemu):
    """Of memory accesses; and registers can be read."""
    return version_of(qemu) >= (9, 1)


class Test:
    def __init__(self, name):
        self.folder = tempfile.mkdtemp(prefix=f'etrace-{name}-')
        self.out = f'{self.folder}/out'
        self.log = f'{self.folder}/log'

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def build(self, source, arch, *flags):
        compiler, more = COMPILERS[arch]
        if '-fuse-ld=lld' in more:
            tool('ld.lld')
        elif compiler == 'clang':
            tool(more[0].split('=')[1] + '-ld')
        path = f'{self.folder}/{os.path.basename(source)}-{arch}'
        done = run([tool(compiler), *more, '-static', '-g0', '-Wall', *flags, '-o', path,
                    f'{HERE}/guests/{source}'])
        if done.status != 0 and arch == 'i386':
            raise Skip('no compiler for i386: ' + done.errors[-200:])
        need(done.status == 0, done.errors)
        return path

    def user(self, arch, guest, arguments, *options, command=(), **more):
        """qemu-user with the plugin."""
        qemu = takes_plugins(tool(f'qemu-{arch}'))
        return start([qemu, *options, '-plugin', f'{PLUGIN},output={self.out}' + arguments, guest,
                      *command], **more)


def main(tests):
    names = sys.argv[1:] or [n for n in tests if n.startswith('test_')]
    failed = skipped = 0
    for name in names:
        t = Test(name)
        try:
            tests[name](t)
            print(f'{name}: good')
        except Skip as why:
            skipped += 1
            print(f'SKIP: {name}: {why}')
        except Exception as bad:  # pylint: disable=broad-except
            failed += 1
            print(f'{name}: {bad}')
            if not isinstance(bad, Failure):
                traceback.print_exc()
        finally:
            end_all()
            t.close()
    sys.exit(1 if failed else 77 if skipped == len(names) else 0)
