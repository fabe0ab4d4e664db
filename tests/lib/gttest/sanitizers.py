# SPDX-License-Identifier: GPL-2.0-or-later
"""QEMU with a plugin that is built with sanitizers: it must preload their libraries."""
import functools
import re

from gttest.commands import printed
from gttest.results import need

# Of QEMU's memory, little is ours to free; its signals are the guest's.
OPTIONS = 'detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0'
REPORT = re.compile(rb'^.*(?:runtime error: |ERROR: \w+Sanitizer).*(?:\n.*){0,12}', re.M)

# What AddressSanitizer says of QEMU's coroutines, and of threads that end on stacks that it does not know.
NOTE = re.compile(r'==\d+==WARNING: ASan .*|False positive error reports may follow|For details see https://github\.com/google/.*')


@functools.lru_cache
def libraries(plugin):
    """None where it is built without."""
    return re.findall(r'=> (/\S*/lib(?:asan|ubsan)\S*)', printed(['ldd', plugin]))


def preloading(plugin, *more):
    """Words before QEMU's command, by which it preloads what the plugin needs, and `more`; the first words of user-mode
    QEMU, by which the guest does not."""
    preloaded = [*libraries(plugin), *more]
    if not preloaded:
        return [], []
    return (['env', 'LD_PRELOAD=' + ':'.join(preloaded), 'ASAN_OPTIONS=' + OPTIONS],
            ['-U', 'LD_PRELOAD', '-U', 'ASAN_OPTIONS'])


def check(errors):
    """Nothing of what a process has said on standard error is a sanitizer's."""
    report = REPORT.search(errors)
    need(not report, report and report[0].decode(errors='replace'))
