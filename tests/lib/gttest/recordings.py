# SPDX-License-Identifier: GPL-2.0-or-later
"""guesttrace as a test runs it: record, symbols, repair, dump; and checks of what was recorded."""
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time

from gttest import paths, uftrace, uftrace_check
from gttest.commands import SECONDS, finish, kill, must, run, start
from gttest.paths import GUESTTRACE
from gttest.results import need, read_bytes

# Anomalies that no recording has unless the test makes them.
SEVERE = ['missed-return', 'guessed-frame', 'unknown-return', 'diverted-call', 'unknown-sigreturn',
          'too-deep']


def answer(child, said, steps, seconds=SECONDS):
    """Reads what the guest prints until it ends. Each of (text, answer) waits for its text; the answer
    is typed, or a signal."""
    at = 0
    os.set_blocking(child.stdout.fileno(), False)
    waits = selectors.DefaultSelector()
    waits.register(child.stdout, selectors.EVENT_READ)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if steps and steps[0][0] in said[at:]:
            at = said.index(steps[0][0], at) + len(steps[0][0])
            if isinstance(steps[0][1], bytes):
                os.write(child.stdin.fileno(), steps[0][1])
            else:
                child.send_signal(steps[0][1])
            steps = steps[1:]
            continue
        waits.select(1)
        data = child.stdout.read(65536)
        if data == b'':
            child.wait()
            return True
        said.extend(data or b'')
    return False


def converse(command, steps=(), seconds=SECONDS, **more):
    """Runs guesttrace, or a QEMU, and answers what the guest prints: see answer()."""
    env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=paths.PLUGINS)
    said = bytearray()
    with tempfile.TemporaryFile() as errors:
        child = start(command, stdin=subprocess.PIPE, stderr=errors, env=env, **more)
        try:
            done = answer(child, said, list(steps), seconds)
        except BrokenPipeError:
            done = True
        finally:
            if child.poll() is None:
                kill(child)
            child.stdin.close()
            child.stdout.close()
        errors.seek(0)
        wrong = errors.read()
    need(done, command[0], f'took more than {seconds} s:', said[-2000:], wrong)
    return subprocess.CompletedProcess(command, child.returncode, bytes(said), wrong)


# Without one of these options the tests' recordings of calls are directories.
FORMS = {'--format', '--last', '--split', '--size-limit', '--tool'}


def with_form(out, options):
    """The options, and the format of a recording whose name does not end as a compact file's."""
    file = out.endswith('.gtrace') or not FORMS.isdisjoint(options)
    return [*options] if file else ['--format', 'uftrace', *options]


def record(out, options, command, status=0, may_be_empty=False, **more):
    """`guesttrace record`; what it printed is returned. may_be_empty: random filters may leave nothing, which is 125 for 0."""
    done = converse([GUESTTRACE, 'record', '-o', out, *with_form(out, options), '--', *command], **more)
    empty = may_be_empty and status == 0 and done.returncode == 125 and b'filters have left nothing' in done.stderr
    need(empty or done.returncode == status, f'exit status {done.returncode}:', done.stdout[-2000:], done.stderr)
    return done


def record_until(is_true, out, options, command, seconds=SECONDS):
    """`guesttrace record` of a machine that does not end by itself: ended by SIGTERM once is_true()."""
    child = start([GUESTTRACE, 'record', '-o', out, *with_form(out, options), '--', *command])
    try:
        end = time.monotonic() + seconds
        while not is_true():
            need(child.poll() is None and time.monotonic() < end, 'nothing has come of', options)
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGTERM)
        done = finish(child)
    return done


def flat(out, *options, may_say=()):
    """`guesttrace replay --flat`, of a random set of filters: what it prints. That they leave no call is no fault, nor what
    `may_say` has: errors, a line each."""
    done = run([GUESTTRACE, 'replay', '--no-pager', '--flat', *options, out])
    wrong = [line for line in done.stderr.splitlines() if not any(text in line for text in (b'no call is left by', *may_say))]
    need(not wrong and done.returncode == (1 if done.stderr else 0), options, done.returncode, wrong)
    return done.stdout.decode()


def symbols(out, *files):
    """`guesttrace symbols`; what it printed is returned."""
    return must([GUESTTRACE, 'symbols', '--dir', out, *files])


def repair(out):
    """`guesttrace repair`; what it printed, as text."""
    return must([GUESTTRACE, 'repair', out]).stdout.decode(errors='replace')


def dump(path, *options):
    """`guesttrace dump`; its text."""
    return must([GUESTTRACE, 'dump', *options, path]).stdout.decode()


def check_directory(out, readers=True, open_ok=False, running=False):
    """It is as uftrace wants it; with readers, the installed uftrace says so, too."""
    uftrace_check.check_files(out, open_ok, running)
    if readers and uftrace_check.reader():
        uftrace_check.check_readers(out, open_ok)


def check_severe(stats, allowed=()):
    """No severe anomaly, except those that the test makes."""
    for name in SEVERE:
        value = stats.get('anomaly.' + name, 0)
        need(not value or name in allowed, f'{name} is {value}')


class BothFormats:
    """The plugin's arguments to record one run twice at once, in a directory and in a compact file,
    and what must hold for the two. The clock counts instructions: so it is the same for both."""

    def __init__(self, folder, *arguments):
        self.directory, self.file, self.back = f'{folder}/both', f'{folder}/both.gtrace', f'{folder}/back'
        self.second = shutil.copy(paths.plugin('uftrace'), f'{folder}/second.so')  # QEMU loads no plugin twice
        common = [*arguments, 'clock=insn', 'summary=off']
        self.plugins = [','.join([paths.plugin('uftrace'), 'output=' + self.directory, *common]),
                        ','.join([self.second, 'format=compact', 'output=' + self.file, *common])]

    def words(self):
        """QEMU's."""
        return [word for plugin in self.plugins for word in ('-plugin', plugin)]

    def repair(self):
        repair(self.directory)
        repair(self.file)

    def check(self):
        """The file's records are those of the directory, byte for byte, and its names as well."""
        self.check_records()
        self.check_names()

    def check_records(self):
        export(self.file, self.back)
        wanted, got = record_files(self.directory), record_files(self.back)
        wanted = {tid: data for tid, data in wanted.items() if data}
        need(wanted, 'nothing was recorded')
        need(list(wanted) == list(got), 'tasks of the file:', list(got), 'of the directory:', list(wanted))
        for tid, data in wanted.items():
            need(data == got[tid], f'records of task {tid} differ: {len(got[tid])} bytes in the file,',
                 f'{len(data)} in the directory')

    def check_names(self):
        need(called(self.directory) == called(self.back), 'names differ')
        check_directory(self.back, False)


def export(file, out):
    """A compact file as a directory. Nothing of the recording is beside the file, but a flight recorder."""
    need(not os.path.exists(file + '.parts') or os.path.exists(file + '.parts/.guesttrace.last'),
         'the text files are not in the file')
    must([GUESTTRACE, 'export', '--format', 'uftrace', '-o', out, file])


def called(out):
    """Who called what: {(task, module, function)}"""
    trace = uftrace.Trace(out)
    return {(tid, *trace.name(tid, uftrace.LAST, addr)) for tid in trace.tids()
            for (_, _, addr) in trace.counts(tid)}


def record_files(out):
    """{task: bytes of its record file}"""
    return {tid: read_bytes(f'{out}/{tid}.dat') for tid in uftrace.tids_of(out)}

