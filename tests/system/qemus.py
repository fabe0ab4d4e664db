# SPDX-License-Identifier: GPL-2.0-or-later
"""The QEMUs that machines are recorded on: this system's, and those that scripts/qemus has fetched.

Also: a folder for a test, and a run of a command that cannot fill the disk or outlive its time.
"""
import os
import re
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ('tools', 'guest'):
    sys.path.insert(0, os.path.join(HERE, '..', folder))
import check_uftrace_dir as checker  # noqa: E402
import trace as tracing  # noqa: E402

SERIES = ['10.0', '11.1']
SECONDS = 100
FILE_LIMIT = 2 << 30
SEVERE = ['missed-return', 'guessed-frame', 'unknown-return', 'diverted-call', 'unknown-sigreturn',
          'too-deep']


class Failure(Exception):
    pass


def need(good, *words):
    if not good:
        raise Failure(' '.join(str(w) for w in words))


def cache():
    home = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.join(home, 'guesttrace', 'qemus')


def reason(series):
    try:
        with open(f'{cache()}/{series}.reason', encoding='utf-8') as f:
            return f.read().strip()
    except OSError:
        return 'scripts/qemus has not been run'


def version(qemu):
    said = subprocess.run([qemu, '--version'], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False, timeout=SECONDS).stdout.decode()
    found = re.search(r'version (\d+\.\d+\.\d+)', said)
    return found[1] if found else None


def find(target):
    """(version, path) of each QEMU for the target; a line SKIP for each that is not there."""
    found = []
    name = 'qemu-system-' + target
    for path, why in [(shutil.which(name), f'no {name}')] + [
            (f'{cache()}/{s}/{name}', f'no QEMU {s}: {reason(s)}') for s in SERIES]:
        v = version(path) if path and os.path.exists(path) else None
        if not v:
            print(f'SKIP: {why}')
        elif v not in [known for known, _ in found]:
            found.append((v, path))
    return found


def on_each(target, name, prepare, check):
    """Runs check(version, path, folder, what prepare(folder) has returned) with each QEMU for the target;
    the test's exit status. KEEP=1 in the environment keeps the folder, and says where it is."""
    found = find(target)
    folder = tempfile.mkdtemp(prefix=f'guesttrace-{name}-')
    failed = 0
    try:
        prepared = prepare(folder)
        for number, path in found:
            try:
                check(number, path, folder, prepared)
                print(f'QEMU {number}: good')
            except (Failure, OSError) as bad:
                failed += 1
                print(f'QEMU {number}: {bad}')
    finally:
        if os.environ.get('KEEP'):
            print(folder)
        else:
            shutil.rmtree(folder)
    return 1 if failed else 0 if found else 77


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_LIMIT, FILE_LIMIT))


def answer(child, said, steps):
    """Reads what the guest prints until it ends. Each of (text, answer) waits for its text; the answer
    is typed, or a signal."""
    at = 0
    os.set_blocking(child.stdout.fileno(), False)
    waits = selectors.DefaultSelector()
    waits.register(child.stdout, selectors.EVENT_READ)
    end = time.monotonic() + SECONDS
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


def run(command, steps=()):
    """Its whole session is killed where it takes too long: a QEMU would go on without the command
    that started it."""
    env = dict(os.environ, GUESTTRACE_PLUGIN_DIR=os.environ['GUESTTRACE_PLUGINS'])
    said = bytearray()
    with tempfile.TemporaryFile() as errors, subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
            start_new_session=True, preexec_fn=limit, env=env) as child:
        try:
            done = answer(child, said, list(steps))
        except BrokenPipeError:
            done = True
        finally:
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        errors.seek(0)
        wrong = errors.read()
    need(done, command[0], f'took more than {SECONDS} s:', said[-2000:], wrong)
    return subprocess.CompletedProcess(command, child.returncode, bytes(said), wrong)


def build(command, **more):
    done = subprocess.run(command, check=False, capture_output=True, **more)
    need(done.returncode == 0, ' '.join(command), done.stderr.decode(errors='replace'))


def record(out, options, command, status=0, **more):
    """`guesttrace record`; what it printed on standard error is returned."""
    done = run([os.environ['GUESTTRACE'], 'record', '-o', out, *options, '--', *command], **more)
    need(done.returncode == status, f'exit status {done.returncode}:', done.stdout[-2000:],
         done.stderr)
    return done


def symbols(out, *files):
    done = run([os.environ['GUESTTRACE'], 'symbols', '-d', out, *files])
    need(done.returncode == 0, 'guesttrace symbols:', done.stderr)


def check_directory(out, readers=True):
    try:
        checker.check_files(out, False)
        if readers and shutil.which('uftrace'):
            checker.check_readers(out, False)
    except checker.Bad as bad:
        raise Failure(str(bad)) from bad


def records(out):
    """{task: bytes of its record file}"""
    found = {}
    for name in os.listdir(out):
        if name.endswith('.dat') and name[:-4].isdigit():
            with open(f'{out}/{name}', 'rb') as f:
                found[int(name[:-4])] = f.read()
    return found
