# SPDX-License-Identifier: GPL-2.0-or-later
"""The workloads: what runs, and on which QEMU.

A workload is a function that makes the command line for a QEMU, with '@' where the plugin's options
go. It raises Missing with the reason where it cannot run here.
"""
import collections
import glob
import os
import re
import shutil
import struct
import subprocess
import sys

import devicetree
from table import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SCRIPTS = os.path.join(ROOT, 'scripts')
sys.path.insert(0, SCRIPTS)
import initrd  # noqa: E402

SYSROOT = '/usr/aarch64-linux-gnu'
CFLAGS = ['-O1', '-Wall', '-Wextra', '-Werror']
MACHINES = {
    # -cpu, where the program is, compiler, its flags, options of QEMU
    'aarch64': (['-cpu', 'cortex-a57'], '0x40080000', 'aarch64-linux-gnu-gcc',
                ['-mgeneral-regs-only', '-mstrict-align'], []),
    'riscv64': ([], '0x80000000', 'riscv64-linux-gnu-gcc',
                ['-march=rv64imac', '-mabi=lp64', '-mcmodel=medany'], ['-bios', 'none']),
}

Qemu = collections.namedtuple('Qemu', 'series version path abi')  # abi 1: no conditional callbacks


def cache_dir():
    return os.path.join(os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'),
                        'guesttrace')


def need(program, why):
    path = shutil.which(program)
    if not path:
        raise Missing('no %s: %s' % (program, why))
    return path


class Context:
    """Where guests are built."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def compile(self, compiler, source, name, flags):
        need(compiler, 'to compile %s (scripts/setup --what bench)' % source)
        out = self.path(name)
        done = subprocess.run([compiler] + CFLAGS + flags +
                              ['-o', out, os.path.join(HERE, 'guests', source)],
                              stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Missing('%s cannot compile %s: %s' % (compiler, source, done.stderr[-300:]))
        return out


def version_of(path):
    """Series and version of a QEMU that takes plugins (statically linked ones do not)."""
    try:
        text, options = (subprocess.run([path, option], stdout=subprocess.PIPE, text=True).stdout
                         for option in ('--version', '-h'))
    except OSError:
        return None
    if '-plugin' not in options:
        return None
    found = re.search(r'version (\d+\.\d+)(\.\d+)?', text)
    return found and (found.group(1), found.group(1) + (found.group(2) or ''))


def qemus(kind, arch):
    """The machine's own QEMU, and those that scripts/qemus has fetched, or built for user mode."""
    name = ('qemu-' if kind == 'user' else 'qemu-system-') + arch
    paths = [shutil.which(name)] if shutil.which(name) else []
    # The folders are 10.0, 11.1; user.
    paths += sorted(glob.glob(os.path.join(cache_dir(), 'qemus', '*', name)),
                    key=lambda p: [int(x) for x in re.findall(r'\d+', p.split('/')[-2])])
    found = {}
    for path in paths:
        version = version_of(path)
        if version and version[0] not in found:
            abi = 1 if int(version[0].split('.')[0]) < 9 else 2
            found[version[0]] = Qemu(version[0], version[1], path, abi)
    return list(found.values())


def with_plugin(command, plugin):
    return [x for w in command for x in (['-plugin', plugin] if w == '@' else [w])]


def program(source, *args):
    def command(context, qemu):
        out = context.compile('gcc', source, source[:-2], [])
        return [qemu.path, '@', out] + list(args)
    return command


def libraries(times):
    """A program that loads and unloads a library so often."""
    def command(context, qemu):
        library = context.compile('gcc', 'library.c', 'library.so', ['-shared', '-fPIC'])
        out = context.compile('gcc', 'libraries.c', 'libraries', ['-ldl'])
        return [qemu.path, '@', out, library, str(times)]
    return command


def program_aarch64(source, *args):
    def command(context, qemu):
        out = context.compile('aarch64-linux-gnu-gcc', source, source[:-2] + '-aarch64', [])
        return [qemu.path, '-L', SYSROOT, '@', out] + list(args)
    return command


def installed(name, *args):
    def command(_, qemu):
        # Behind the alternatives' links: QEMU's user mode runs a file.
        return [qemu.path, '@', os.path.realpath(need(name, 'an interpreter'))] + list(args)
    return command


def bare_machine(arch, work, size):
    cpu, start, compiler, flags, options = MACHINES[arch]

    def command(context, qemu):
        out = context.compile(compiler, 'machine.c', 'machine-%s-%s' % (arch, work.lower()),
                              flags + ['-ffreestanding', '-nostdlib', '-static', '-fno-pie',
                                       '-no-pie', '-Wl,-Ttext=' + start, '-Wl,--build-id=none',
                                       '-DWORK=' + work, '-DSIZE=%d' % size])
        return [qemu.path, '-M', 'virt', '-m', '128', '@', '-display', 'none', '-serial', 'stdio',
                '-monitor', 'none', '-nic', 'none'] + cpu + options + ['-kernel', out]
    return command


def first_of(*paths):
    for p in paths:
        if os.path.exists(p):
            return p
    raise Missing('no %s (scripts/setup --what bench)' % paths[0])


def firmware(context, qemu):
    """OpenSBI, then U-Boot, which looks for something to boot on every device it has, and powers
    off: its boot command is written into the machine's device tree."""
    sbi = first_of('/usr/lib/riscv64-linux-gnu/opensbi/generic/fw_jump.bin')
    uboot = first_of('/usr/lib/u-boot/qemu-riscv64_smode/u-boot.bin')
    start = [qemu.path, '-m', '128', '-display', 'none', '-serial', 'stdio', '-monitor', 'none',
             '-nic', 'none', '-bios', sbi, '-kernel', uboot]
    tree = context.path('virt-%s.dtb' % qemu.series)
    subprocess.run(start + ['-M', 'virt,dumpdtb=' + tree], check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30)
    with open(tree, 'rb') as f:
        data = f.read()
    with open(tree, 'wb') as f:
        f.write(devicetree.add_node(data, 'config', {
            'bootdelay': struct.pack('>i', -2),  # U-Boot: do not wait, do not look for a key
            'bootcmd': b'run distro_bootcmd; poweroff\0'}))
    return start + ['@', '-M', 'virt', '-dtb', tree]


def read(*path):
    with open(os.path.join(*path), 'rb') as f:
        return f.read()


def linux_files(name):
    """The folder with vmlinuz and busybox. name: ARCH or ARCH-RELEASE, as for scripts/kernels."""
    done = subprocess.run([os.path.join(SCRIPTS, 'kernels'), name], stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Missing((done.stderr.strip().splitlines() or ['scripts/kernels failed'])[-1])
    return os.path.join(cache_dir(), 'kernels', name)


def linux(work, folders=(), files=lambda kernels: {}, options=(), kernel='aarch64'):
    def command(context, qemu):
        kernels = linux_files(kernel)
        image = context.path('linux.cpio')
        with open(image, 'wb') as f:
            f.write(initrd.image(read(kernels, 'busybox'), work, folders, files(kernels)))
        return [qemu.path, '@', *initrd.machine(kernel.split('-')[0], kernels, image), *options]
    return command


def lua_files(kernels):
    tree = os.path.join(kernels, 'lua')
    names = [os.path.relpath(os.path.join(folder, name), kernels)
             for folder, _, files in os.walk(tree) for name in sorted(files)]
    return {'mix.lua': read(SCRIPT), **{name: read(kernels, name) for name in names}}


def program_files(_):
    """git, Lua and SQLite, with what they do: see guests/work.sh."""
    programs = linux_files(PROGRAMS)
    files = {f'p/{folder}/{name}': read(programs, folder, name)
             for folder in ('bin', 'lib') for name in sorted(os.listdir(os.path.join(programs, folder)))}
    return {**files, **{name: read(HERE, 'guests', name) for name in ('mix.lua', 'work.sh', 'work.sql')}}


SCRIPT = os.path.join(HERE, 'guests', 'mix.lua')
RUN_LUA = ('echo GUEST BEGINS\n'
           '/lua/lib/ld-linux-aarch64.so.1 --library-path /lua/lib /lua/bin/lua5.4 /mix.lua 12')
PROGRAMS = 'programs'  # of scripts/kernels
RUN_PROGRAMS = 'sh /work.sh %d'
PROGRAM_FOLDERS = ('p', 'p/bin', 'p/lib')
BUSY = 'ls -lR /sys/kernel >/dev/null'
