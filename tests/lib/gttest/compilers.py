# SPDX-License-Identifier: GPL-2.0-or-later
"""Compilers for each architecture of guests, and where its programs find their libraries."""
import os
import shutil

from gttest.commands import must, run, tool
from gttest.results import Skip, need

CLANG = {'arm': ['--target=armv7-linux-gnueabi', '-fuse-ld=lld'],
         'mips': ['--target=mips-linux-gnu', '-fuse-ld=lld'],
         'ppc64': ['--target=powerpc64-linux-gnu', '-fuse-ld=lld'],
         's390x': ['--target=s390x-linux-gnu']}
# Functions are where the source has them, and call what it says.
AS_WRITTEN = ['-fno-inline', '-fno-optimize-sibling-calls', '-Wno-infinite-recursion']


def is_host(arch):
    return arch == os.uname().machine or arch == 'i386' and os.uname().machine == 'x86_64'


def prefix(arch):
    """Of the names of binutils and GCC."""
    return '' if is_host(arch) else f'{arch}-linux-gnu-'


def sysroot(arch):
    """What qemu-ARCH takes with -L."""
    return '/' if is_host(arch) else f'/usr/{arch}-linux-gnu'


def why_not(arch, language='gcc'):
    """Why nothing can be compiled for it, or None."""
    return None if shutil.which(prefix(arch) + language) else f'no compiler for {arch}'


def compiler(arch, source=''):
    """The words that a compiler's command line begins with, for a source of C or C++."""
    if arch in CLANG:
        flags = CLANG[arch]
        tool('ld.lld' if '-fuse-ld=lld' in flags else flags[0].split('=')[1] + '-ld')
        return [tool('clang'), *flags]
    language = 'g++' if source.endswith('.cc') else 'gcc'
    if why_not(arch, language):
        raise Skip(why_not(arch, language))
    return [prefix(arch) + language, *(['-m32'] if arch == 'i386' else [])]


def compile_to(out, arch, source, *flags, **more):
    """A program or library of one source and what the flags name; its path."""
    command = [*compiler(arch, source), '-o', out, source, *flags]
    if arch == 'i386':  # the compiler of x86_64 may come without its libraries
        done = run(command, **more)
        if done.returncode:
            raise Skip('no compiler for i386: ' + done.stderr.decode(errors='replace')[-200:])
    else:
        must(command, **more)
    need(os.path.exists(os.path.join(more.get('cwd', ''), out)), 'no', out)
    return out
