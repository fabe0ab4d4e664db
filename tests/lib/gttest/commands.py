# SPDX-License-Identifier: GPL-2.0-or-later
"""Running programs. A program has a session of its own, which is killed where it takes too long or
where the test ends before it; its files are of a limited size; it has no standard input unless the
test gives it one."""
import contextlib
import fcntl
import os
import resource
import shutil
import signal
import subprocess

from gttest.results import Failure, Skip, need

SECONDS = 100
PIPE = 1 << 20  # bytes
FILE_LIMIT = 2 << 30
started = []


def limit_files(size=FILE_LIMIT):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def widen(*pipes):
    """For much output in few turns; some machines or users may have no larger pipes."""
    for pipe in filter(None, pipes):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE)


def start(command, **more):
    """A process with pipes; finish() ends it."""
    more = {'stdin': subprocess.DEVNULL, 'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE,
            'preexec_fn': limit_files, 'start_new_session': True, **more}
    child = subprocess.Popen([str(c) for c in command], **more)
    widen(child.stdout, child.stderr)
    started.append(child)
    return child


def kill(child):
    """Its whole session: a QEMU would go on without the command that started it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


def finish(child, timeout=SECONDS, data=None):
    """Waits for the end of a started process; its subprocess.CompletedProcess."""
    try:
        out, errors = child.communicate(data, timeout=timeout)
    except subprocess.TimeoutExpired:
        kill(child)
        raise Failure(f'{child.args}: took more than {timeout} s') from None
    finally:
        if child in started and child.returncode is not None:
            started.remove(child)
    return subprocess.CompletedProcess(child.args, child.returncode, out, errors)


def end_all():
    """Kills what a test that failed has left."""
    for child in started:
        if child.poll() is None:
            kill(child)
    started.clear()


def run(command, timeout=SECONDS, input=None, **more):  # pylint: disable=redefined-builtin
    """Runs a program to its end; its subprocess.CompletedProcess, with both outputs."""
    if input is not None:
        more['stdin'] = subprocess.PIPE
    return finish(start(command, **more), timeout, input)


def text_of(output):
    return output.decode(errors='replace') if isinstance(output, bytes) else output or ''


def must(command, status=0, **more):
    """run() of what has to end with that status."""
    done = run(command, **more)
    need(done.returncode == status, f'{" ".join(map(str, command))}: exit status {done.returncode}, expected {status}\n'
         f'{text_of(done.stdout)[-2000:]}{text_of(done.stderr)}')
    return done


def printed(command, **more):
    """What a program prints, as text."""
    return must(command, **more).stdout.decode(errors='surrogateescape')


def tool(*names):
    """The path of the first program that is there."""
    for name in names:
        if shutil.which(name):
            return shutil.which(name)
    raise Skip(f'no {names[-1]}')


def tools(*names):
    """Skips where one of the programs is missing."""
    for name in names:
        tool(name)
