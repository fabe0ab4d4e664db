# SPDX-License-Identifier: GPL-2.0-or-later
"""What the tests in Python share, by subject.

    results         checks, skips, a test's exit status, folders of a test
    functions       a test file of functions test_*(t)
    cases           a test file of unittest classes
    paths           the build under test and what it made
    commands        running programs; nothing outlives a test or fills the disk
    compilers       cross compilers, their roots
    qemus           the QEMUs that are there, their versions
    uftraces        the uftraces that are there, and what they need to record a program
    boards          programs for machines without an operating system
    boots           boots of Debian's kernels
    monitors        a machine, its console and QEMU's monitor
    packed          directories and compact files of the same calls
    recordings      guesttrace record, symbols, repair
    splits          recordings in several files, and the same run in one
    memory          what a process, and its flight recorder, have in memory
    filters         filters and triggers as the plugin's arguments
    sanitizers      QEMU with a plugin that is built with them
    plugin_runs     QEMU with a plugin, and what the plugin printed
    scripted        scripts of the scripted host
    sockets         both ends of a socket, and what answers as a control socket
    documented      keys of JSON, those of docs/ and those that are printed
    terminal        programs in terminals of tmux
    gdbstub         registers, memory and breakpoints of a program in QEMU

Readers of what is recorded, written from docs/formats and not from src/:

    uftrace         uftrace's data directory      uftrace_check   whether it is as its readers want it
    compact         compact files
    uftrace_text    what uftrace report and graph print
    etrace          etrace streams
    perfetto        Perfetto's traces
    execlog         execlog's lines and binary logs
    qemulog         QEMU's own log
    elf, readelf    ELF files: their own tables; what readelf prints of them

Readers of what is exported, written from what is published about the formats:

    pprof           profile.proto              callgrind_profile   callgrind's profiles

Sums that views and exports have to have: call_sums, made from a directory's records. Pages in a browser: browser;
their pictures: screenshots.

Writers of the same, for tests of readers: uftrace_write, etrace_write; made: whole recordings of random calls;
valued: one whose calls have values.
"""
import os
import signal

# What whoever starts the tests has set for themselves; a test that is about one of these sets it again.
OF_USERS = ['CLICOLOR_FORCE', 'COLUMNS', 'GLIBC_TUNABLES', 'GREP_OPTIONS', 'GUESTTRACE_PAGER', 'LD_BIND_NOW',
            'LINES', 'MAKEFLAGS', 'NO_COLOR', 'PAGER', 'QEMU_CPU', 'QEMU_LD_PREFIX', 'QEMU_LOG', 'QEMU_STRACE']


def pin():
    """The same locale, time zone, umask and signals everywhere: `make test &` in a script starts it with SIGINT ignored."""
    os.environ.update(LC_ALL='C.UTF-8', LANGUAGE='', TZ='UTC')
    for name in OF_USERS:
        os.environ.pop(name, None)
    os.umask(0o022)
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL), (signal.SIGHUP, signal.SIG_DFL),
                          (signal.SIGTERM, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, usual)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


pin()
