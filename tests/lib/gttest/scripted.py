# SPDX-License-Identifier: GPL-2.0-or-later
"""Scripts of the scripted host (tests/host): their form, and the plan, program and expectation made of them.

One statement a line; "#" begins a comment. The head:

    targets aarch64 x86_64      which guests it is played as (default: all of them)
    abi 1 2 4 5 6 7             on which versions of the plugin ABI (default: all)
    machine 2 [4]               system mode, with 2 vCPUs (at most 4); default: user mode
    base zero                   guest_base is 0; default: where memory happens to be
    args clock=insn depth=5     the plugin's arguments (output is added)
    hide times                  times are not compared (vCPUs that run at once)
    data NAME word...           words of memory: numbers, names of blocks, `&DATA`; or "text"
    register NAME               one that the plugin can read; a vCPU's own value, 0 at first

The program; a block is a label and its instructions, which are laid out one after the other:

    func NAME                   NAME "-": code without a symbol
      LABEL: nop; call NAME     nop call icall ret jump branch ijump syscall setsp
    lib NAME                    what follows is another ELF file

A block's name is FUNC.LABEL; a function's name alone is its first block. `setsp` loads the stack
pointer from a register or from memory; `eret` returns from an exception. What each vCPU does, a life after the other:

    vcpu 0                      or "vcpu 1-39": each of them
      BLOCK BLOCK...            runs them:  BLOCK/2 from instruction 2 on, BLOCK..BLOCK as one block
                                across both, BLOCK!2 instruction 2 faults, and accesses of the block
                                before: +2w:DATA (instruction 2 writes), +0r:DATA+8, +1s:NAME=VALUE (sets a register)
      *5 BLOCK BLOCK            the line 5 times
      syscall NAME arg...       rt_sigaction rt_sigreturn munmap execve exit_group clone, or a number;
      sysret NAME result        arguments like words
      start N | join N          threads;  signal K | await K   flags between them
      flush | exit | discon KIND FROM TO | unmap LIB | map LIB at LIB
      share LIB LIB2            machines: the code of LIB lies in the memory of LIB2

After the line `expect`: what was recorded, as print_trace below writes it.
"""
import os
import re
import struct

from gttest import paths

MACHINES = {  # e_machine, bits, padding instruction
    'aarch64': (183, 64), 'x86_64': (62, 64), 'riscv64': (243, 64), 'i386': (3, 32),
}
SYSCALLS = {
    'x86_64': dict(rt_sigaction=13, rt_sigreturn=15, munmap=11, execve=59, exit_group=231, clone=56),
    'aarch64': dict(rt_sigaction=134, rt_sigreturn=139, munmap=215, execve=221, exit_group=94, clone=220),
    'i386': dict(rt_sigaction=174, rt_sigreturn=173, munmap=91, execve=11, exit_group=252, clone=120),
}
SYSCALLS['riscv64'] = SYSCALLS['aarch64']
LOW, SIZE, FILE_STEP, DATA = 0x400000, 0x400000, 0x40000, 0x700000


def fixed(word):
    return lambda at, to: struct.pack('<I', word)


def branch_aarch64(base, low, bits):
    return lambda at, to: struct.pack('<I', base | ((to - at) // 4 & (1 << bits) - 1) << low)


def jal(register):
    def encode(at, to):
        d = to - at
        return struct.pack('<I', 0x6f | register << 7 | (d >> 12 & 0xff) << 12 | (d >> 11 & 1) << 20
                           | (d >> 1 & 0x3ff) << 21 | (d >> 20 & 1) << 31)
    return encode


def branch_riscv(at, to):
    d = to - at
    return struct.pack('<I', 0x63 | 10 << 15 | 11 << 20 | (d >> 11 & 1) << 7 | (d >> 1 & 15) << 8
                       | (d >> 5 & 63) << 25 | (d >> 12 & 1) << 31)


def raw(text):
    return lambda at, to: bytes.fromhex(text)


def relative(opcode):
    code = bytes.fromhex(opcode)
    return lambda at, to: code + struct.pack('<i', to - at - len(code) - 4)


X86 = dict(nop=raw('90'), call=relative('e8'), icall=raw('ffd0'), ret=raw('c3'), jump=relative('e9'),
           branch=relative('0f84'), ijump=raw('ffe0'))
ENCODERS = {
    'aarch64': dict(nop=fixed(0xd503201f), call=branch_aarch64(0x94000000, 0, 26),
                    icall=fixed(0xd63f0000), ret=fixed(0xd65f03c0),
                    jump=branch_aarch64(0x14000000, 0, 26), branch=branch_aarch64(0x54000000, 5, 19),
                    ijump=fixed(0xd61f0020), syscall=fixed(0xd4000001), setsp=fixed(0x9100013f), eret=fixed(0xd69f03e0)),
    'riscv64': dict(nop=fixed(0x13), call=jal(1), icall=fixed(0x000500e7), ret=fixed(0x8067),
                    jump=jal(0), branch=branch_riscv, ijump=fixed(0x78067), syscall=fixed(0x73),
                    setsp=fixed(0x00053103), eret=fixed(0x10200073)),
    'x86_64': X86 | dict(syscall=raw('0f05'), setsp=raw('488b22'), eret=raw('48cf')),
    'i386': X86 | dict(syscall=raw('cd80'), setsp=raw('8b22'), eret=raw('cf')),
}
WITH_TARGET = ('call', 'jump', 'branch')
ENDS = ('call', 'icall', 'ret', 'jump', 'branch', 'ijump', 'syscall', 'eret')


class Script:
    def __init__(self, path):
        self.path = path
        self.targets, self.abis = list(MACHINES), [1, 2, 4, 5, 6, 7]
        self.machine, self.base, self.args, self.hide = None, 'any', [], set()
        self.texts = set()
        self.data, self.libs, self.lives, self.expected = {}, [('guest.elf', [])], [], ''
        self.registers = []
        with open(path, encoding='utf-8') as f:
            self.head, found, self.expected = f.read().partition('\nexpect\n')
        self.expected = self.expected if found else ''
        for number, line in enumerate(self.head.split('\n'), 1):
            try:
                self.statement(line.split('#')[0].strip())
            except (KeyError, ValueError, IndexError, AttributeError) as e:
                raise SystemExit(f'{path}:{number}: {line.strip()}: {e!r}')

    def statement(self, line):
        word, _, rest = line.partition(' ')
        label = re.match(r'(\w+): *(.*)$', line)
        if not line:
            return
        if label:
            insns = [i.split() for i in label[2].split(';')]
            if any(i[0] in ENDS for i in insns[:-1]):
                raise ValueError('a transfer of control ends its block')
            self.libs[-1][1][-1][1].append((label[1], insns))
        elif word in ('targets', 'args'):
            setattr(self, word, rest.split())
        elif word == 'abi':
            self.abis = [int(a) for a in rest.split()]
        elif word == 'machine':
            self.machine = [int(n) for n in rest.split()]
            self.machine = (self.machine * 2)[:2] if len(self.machine) == 1 else self.machine
        elif word == 'base':
            self.base = rest
        elif word == 'hide':
            self.hide.add(rest)
        elif word == 'register':
            self.registers.append(rest)
        elif word == 'data':
            name, *words = rest.split()
            self.data[name] = words
            if words[0].startswith('"'):
                self.texts.add(name)
                words[:] = [words[0].strip('"')]
        elif word == 'lib':
            self.libs.append((rest, []))
        elif word == 'func':
            self.libs[-1][1].append((rest, []))
        elif word == 'vcpu':
            lo, _, hi = rest.partition('-')
            self.lives.append((range(int(lo), int(hi or lo) + 1), []))
        elif self.lives:
            self.lives[-1][1].append(line)
        else:
            raise ValueError('unknown statement')


class Guest:
    """A script as the program of one target."""

    def __init__(self, script, target):
        self.script, self.target = script, target
        self.width = MACHINES[target][1] // 8
        self.insns, self.addr, self.index, self.data = [], {}, {}, {}
        self.lay_out()
        at = DATA
        for name, words in script.data.items():
            self.data[name] = at
            at += self.width * len(words) + 0x100

    def lay_out(self):
        """Instructions have one size for each mnemonic, so addresses come before encoding."""
        encode = ENCODERS[self.target]
        for k, (_, funcs) in enumerate(self.script.libs):
            at = LOW + k * FILE_STEP + 0x1000
            for func, blocks in funcs:
                for n, (label, insns) in enumerate(blocks):
                    first = len(self.insns)
                    for name in [f'{func}.{label}'] + ([func] if n == 0 and func != '-' else []):
                        self.addr[name], self.index[name] = at, (first, len(insns))
                    for insn in insns:
                        size = len(encode[insn[0]](0, 0))
                        self.insns.append((at, size, insn))
                        at += size

    def name_of(self, address):
        names = [n for n, a in self.addr.items() if a == address]
        return min(names, key=len) if names else hex(address)

    def value(self, word):
        name, _, offset = word.partition('+')
        if name in self.addr:
            base = self.addr[name]
        elif name.lstrip('&') in self.data:
            base = self.data[name.lstrip('&')]
        elif name in [lib for lib, _ in self.script.libs]:
            base = LOW + [lib for lib, _ in self.script.libs].index(name) * FILE_STEP
        else:
            base = int(name, 0)
        return base + int(offset or '0', 0)

    def text_of(self, k):
        lo = LOW + k * FILE_STEP + 0x1000
        out = b''
        for at, _, insn in self.insns:
            if lo <= at < lo + FILE_STEP:
                to = self.value(insn[1]) if insn[0] in WITH_TARGET else 0
                out += ENCODERS[self.target][insn[0]](at, to)
        return out

    def symbols_of(self, k):
        for func, blocks in self.script.libs[k][1]:
            if func == '-':
                continue
            end_first, end_count = self.index[f'{func}.{blocks[-1][0]}']
            at, size, _ = self.insns[end_first + end_count - 1]
            lo = self.addr[func]
            yield func, lo - LOW - k * FILE_STEP, at + size - lo

    def elf(self, k):
        """A position-independent ELF file: one loadable segment, code at 0x1000, symbols."""
        machine, bits = MACHINES[self.target]
        text = self.text_of(k)
        names, symtab = b'\0', b'\0' * (24 if bits == 64 else 16)
        for name, value, size in self.symbols_of(k):
            if bits == 64:
                symtab += struct.pack('<IBBHQQ', len(names), 0x12, 0, 1, value, size)
            else:
                symtab += struct.pack('<IIIBBH', len(names), value, size, 0x12, 0, 1)
            names += name.encode() + b'\0'
        strings = b'\0.text\0.symtab\0.strtab\0.shstrtab\0'
        body = b'\0' * 0x1000 + text
        offsets = []
        for part in (symtab, names, strings):
            body += b'\0' * (-len(body) % 8)
            offsets.append(len(body))
            body += part
        body += b'\0' * (-len(body) % 8)
        entry = 24 if bits == 64 else 16
        sections = [(0,) * 10, (1, 1, 6, 0x1000, 0x1000, len(text), 0, 0, 4, 0),
                    (7, 2, 0, 0, offsets[0], len(symtab), 3, 1, 8, entry),
                    (15, 3, 0, 0, offsets[1], len(names), 0, 0, 1, 0),
                    (23, 3, 0, 0, offsets[2], len(strings), 0, 0, 1, 0)]
        form = '<IIQQQQIIQQ' if bits == 64 else '<10I'
        headers = b''.join(struct.pack(form, *s) for s in sections)
        load = 0x1000 + len(text)
        ident = b'\x7fELF' + bytes([bits // 32, 1, 1]) + bytes(9)
        if bits == 64:
            head = ident + struct.pack('<HHIQQQIHHHHHH', 3, machine, 1, 0x1000, 64, len(body), 0, 64,
                                       56, 1, 64, 5, 4)
            head += struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, load, load, 0x1000)
        else:
            head = ident + struct.pack('<HHIIIIIHHHHHH', 3, machine, 1, 0x1000, 52, len(body), 0, 52,
                                       32, 1, 40, 5, 4)
            head += struct.pack('<8I', 1, 0, 0, 0, load, load, 5, 0x1000)
        return head + body[len(head):] + headers

    def plan(self, folder):
        """Writes the ELF files and the plan; returns the plan's path."""
        s = self.script
        lines = [f'target {self.target}', f'memory {LOW:#x} {SIZE:#x} {s.base}']
        if s.machine:
            lines.append(f'machine {s.machine[0]} {s.machine[1]}')
        self.files = []
        for k, (name, _) in enumerate(s.libs):
            path = f'{folder}/{name}'
            with open(path, 'wb') as f:
                f.write(self.elf(k))
            size = len(self.elf(k)) + 0xfff & ~0xfff
            self.files.append((path, size))
            lines.append(f'map {LOW + k * FILE_STEP:#x} {size:#x} {path}')
        for name, words in s.data.items():
            lines.append(f'words {self.data[name]:#x} {self.width} '
                         + ' '.join(str(w) for w in self.words_of(name, words)))
        lines += [f'reg {name} 8' for name in s.registers]
        lines += [f'insn {at:#x} {size}' for at, size, _ in self.insns]
        for vcpus, actions in s.lives:
            for vcpu in vcpus:
                lines.append(f'vcpu {vcpu}')
                for action in actions:
                    lines += self.action(action)
        with open(f'{folder}/plan', 'w', encoding='utf-8') as f:
            f.write('\n'.join(lines) + '\n')
        return f'{folder}/plan'

    def words_of(self, name, words):
        if name not in self.script.texts:
            return [self.value(w) for w in words]
        text = words[0].encode() + bytes(self.width)
        text = text[:len(text) // self.width * self.width]
        return [n for n, in struct.iter_unpack('<Q' if self.width == 8 else '<I', text)]

    def action(self, line):
        words = line.split()
        if words[0].startswith('*'):
            inner = self.action(' '.join(words[1:]))
            return [f'repeat {len(inner)} {words[0][1:]}'] + inner
        if words[0] in ('syscall', 'sysret'):
            number = SYSCALLS[self.target].get(words[1], words[1])
            return [f'{words[0]} {number} ' + ' '.join(str(self.value(w)) for w in words[2:])]
        if words[0] in ('start', 'join', 'signal', 'await', 'flush', 'exit', 'discon'):
            return [words[0] + ' ' + ' '.join(str(self.value(w)) for w in words[1:])]
        if words[0] == 'unmap':
            return [f'file {self.value(words[1]):#x} {FILE_STEP:#x} none']
        if words[0] == 'map':
            path, size = self.files[[lib for lib, _ in self.script.libs].index(words[1])]
            return [f'file {self.value(words[3]):#x} {size:#x} {path}']
        if words[0] == 'share':
            return [f'share {self.value(words[1]):#x} {FILE_STEP:#x} {self.value(words[2]):#x}']
        out = []
        for word in words:
            access = re.match(r'\+(\d+)([rw]):(.*)$', word)
            sets = re.match(r'\+(\d+)s:(\w+)=(\w+)$', word)
            if sets:
                out[-1] += f' {sets[1]}:s:{self.script.registers.index(sets[2])} {int(sets[3], 0)}'
            elif access:
                out[-1] += f' {access[1]}:{access[2]}:{self.value(access[3])}'
            else:
                out.append(self.block(word))
        return out

    def block(self, word):
        m = re.match(r'([-\w.]+?)(?:/(\d+))?(?:\.\.([-\w.]+?))?(?:!(\d+))?$', word)
        first, count = self.index[m[1]]
        if m[3]:
            end_first, end_count = self.index[m[3]]
            count = end_first + end_count - first
        skip = int(m[2] or 0)
        return f'tb {first + skip} {count - skip} {m[4] or -1}'


VERSIONS = ['1', '2', '4', '5', '6', '7']  # of the plugin ABI, a host each


def host(version):
    """The scripted host of a version, or `bare`."""
    return paths.built('host', f'scripted-{version}')


def environment(**more):
    """In which the host chooses its version."""
    return {**{k: v for k, v in os.environ.items() if k != 'GUESTTRACE_QEMU_VERSION'}, **more}


def read_script(name):
    """tests/host/NAME.script"""
    return Script(paths.source('host', f'{name}.script'))


def write_plan(name, folder):
    """The plan of a script's first target; its path."""
    script = read_script(name)
    return Guest(script, script.targets[0]).plan(folder)
