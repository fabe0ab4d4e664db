#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Modules that a booted Linux loads have their functions' names, as the guest itself has them.

usage: modules_test.py KERNEL SERIES

A guest loads Debian's modules, has them work, unloads one, loads others: dummy's first place is ifb's
then, and dummy has a second one. The truth is the guest's /proc/modules and /proc/kallsyms.
"""
import lzma
import os
import re
import sys

from gttest import boots, qemus
from gttest.recordings import symbols
from gttest.results import Failure, in_folder, need, read_bytes, read_text

MODULES = ['brd', 'dummy', 'ifb', 'libcrc32c']
COMMANDS = '''busybox mount -t devtmpfs dev /dev
load() {
    busybox insmod /modules/$1.ko $2 && grep "^$1 " /proc/modules
}
network() {
    busybox ip link set $1 up
    busybox ifconfig $1 $2.1
    busybox ping -c 1 -W 1 $2.2 >/dev/null
    busybox ip link show $1 >/dev/null
    busybox ip link set $1 down
}
load brd "rd_nr=1 rd_size=4096"
busybox dd if=/dev/ram0 of=/dev/null bs=4k count=4 2>/dev/null
load libcrc32c
load dummy numdummies=1
network dummy0 10.0.0
busybox rmmod dummy
load ifb numifbs=1
network ifb0 10.0.1
load dummy numdummies=1
busybox egrep '^.{16,18}[tT] [^.$].*\\[(%s)\\]' /proc/kallsyms''' % '|'.join(MODULES)
# Functions that must have been called, each by its module's name.
CALLED = {'brd': {'brd_submit_bio', 'brd_alloc.*'}, 'dummy': {'dummy_setup', 'dummy_dev_init'},
          'ifb': {'ifb_setup', 'ifb_open', 'ifb_close'}}
STARTS = {'brd': 'brd_init', 'dummy': 'dummy_init_module', 'ifb': 'ifb_init_module',
          'libcrc32c': 'libcrc32c_mod_init'}


def unpacked(path):
    data = read_bytes(path)
    return lzma.decompress(data) if path.endswith('.xz') else data


def prepare(kernel, series, folder, commands=COMMANDS):
    """The command line of the machine, and the modules' files on this side."""
    files = boots.kernel(kernel)
    paths = {name: path for name in MODULES for path in [f'{files}/modules/{name}.ko',
             f'{files}/modules/{name}.ko.xz'] if os.path.exists(path)}
    need(sorted(paths) == MODULES, 'scripts/kernels kept only', paths)
    inside = {f'modules/{name}.ko': unpacked(path) for name, path in paths.items()}
    line = boots.command(kernel, qemus.of_series(boots.arch_of(kernel), series), folder, commands, more=(['modules'], inside))
    return line, paths


class Truth:
    """What the guest printed: where modules were loaded, in order; functions by offset."""

    def __init__(self, console):
        self.loaded = [(name, int(base, 16)) for name, base in
                       re.findall(r'^(\w+) \d+ \d+ \S+ Live 0x([0-9a-f]+)', console, re.M)]
        last = dict(self.loaded)
        self.functions = {name: {} for name in MODULES}  # of each module: {offset: names}
        for addr, name, module in re.findall(r'^([0-9a-f]+) [tT] (\S+)\t\[(\w+)\]', console, re.M):
            if module in last:
                self.functions[module].setdefault(int(addr, 16) - last[module], set()).add(name)

    def at(self, addr):
        """{module: the names that it had for the address}"""
        found = {}
        for name, base in self.loaded:
            names = self.functions[name].get(addr - base)
            if names:
                found[name] = names
        return found


def check_truth(truth):
    names = [name for name, _ in truth.loaded]
    need([n for n in names if n != 'libcrc32c'] == ['brd', 'dummy', 'ifb', 'dummy'],
         'the guest loaded', names)
    places = dict(truth.loaded[:-1])
    need(places['dummy'] == places['ifb'] != truth.loaded[-1][1],
         'dummy and ifb were not loaded at one place:', truth.loaded)
    need(all(truth.functions[name] for name in names), 'no functions:', truth.functions)


def found_places(said):
    """{(module, where record says that it was loaded)}, starts left out."""
    found = set()
    for paths, places in re.findall(r'^guesttrace record: (\S.*): \d+ functions (?:called )?at \S+, '
                                    r'loaded at (.*?)(?: one after the other)?$', said, re.M):
        for path, place in zip(paths.split(', '), places.split(', ')):
            name, _, part = os.path.basename(path).partition('.ko')
            if not part.endswith('+init'):
                found.add((name, int(place, 16)))
    return found


def check_found(said, truth):
    """What record says is what the guest says. Of libcrc32c only the start runs."""
    found = found_places(said)
    expected = {(name, base) for name, base in truth.loaded if name != 'libcrc32c'}
    need(found == expected, 'the guest says', expected, 'found were', found, 'in', said)


def check_names(boot, truth):
    """Each function that was called, at each place, is called as the guest calls it; where several
    modules had one at the same address, or a start was there before, as those that may have run."""
    called = {name: set() for name in MODULES}
    several = 0
    for row in boots.tool('count', boot.out):
        addr = int(row[0], 16)
        expected = truth.at(addr | 0xffff << 48 if addr >> 47 else addr)
        if not expected:
            continue
        said = set(boot.name(addr).split('|'))
        others = said - set(STARTS.values()).union(*expected.values())
        need(not others, f'{addr:#x} is called', others, 'but the guest has', expected)
        several += len(said) > 1
        for module, names in expected.items():
            called[module] |= names & said
    need(several, 'no address was of two functions')
    for module, patterns in CALLED.items():
        for pattern in patterns:
            need(any(re.fullmatch(pattern, name) for name in called[module]),
                 'no call of', pattern, 'but of', called[module])


def check_starts(boot, truth):
    """Starts ran one after the other, mostly at one place."""
    said = {part for name, caller in boot.count_pairs() if caller == 'do_one_initcall'
            for part in name.split('|')}
    missing = {STARTS[name] for name, _ in truth.loaded} - said
    need(not missing, 'do_one_initcall calls no', missing)


def names_of(out):
    """All that readers have names from."""
    return {name: read_text(f'{out}/{name}') for name in os.listdir(out) if name.endswith(('.sym', '.map'))}


def check_again(kernel, out, truth, paths):
    """`guesttrace symbols` after the run says the same; and it can be told where a module was."""
    before = names_of(out)
    symbols(out, *paths.values(), f'{boots.kernel(kernel)}/vmlinuz')
    changed = {name for name, text in names_of(out).items() if before.get(name) != text}
    need(not changed, 'guesttrace symbols changes', changed)
    os.unlink(f'{out}/code.found')
    base = dict(truth.loaded)['brd']
    symbols(out, f'{paths["brd"]}:{base:#x}')
    boot = boots.Boot(out)
    for row in boots.tool('count', out):
        offset = (int(row[0], 16) | 0xffff << 48) - base
        names = truth.functions['brd'].get(offset)
        need(not names or boot.name(int(row[0], 16)) in names, 'not named:', names)


def record(line, options, folder):
    """What record said, and the truth."""
    console, said = boots.record_told(f'{folder}/data', line, options)
    console = console.replace('\r', '')
    truth = Truth(console)
    check_truth(truth)
    return said, truth


def check(kernel, series, folder):
    line, paths = prepare(kernel, series, folder)
    said, truth = record(line, [word for path in paths.values() for word in ('--symbols', path)],
                         folder)
    findings = []
    boot = boots.Boot(f'{folder}/data')
    for one in (lambda: check_found(said, truth), lambda: check_names(boot, truth),
                lambda: check_starts(boot, truth),
                lambda: check_again(kernel, boot.out, truth, paths)):
        try:
            one()
        except Failure as bad:
            findings.append(str(bad)[:4000])
    need(not findings, '\n'.join(findings))
    print('good:', ', '.join(f'{name} at {base:#x}' for name, base in truth.loaded))


def main():
    kernel, series = sys.argv[1:]
    return in_folder(f'modules-{kernel}', lambda folder: check(kernel, series, folder))


if __name__ == '__main__':
    sys.exit(main())
