# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs for machines without an operating system, on QEMU's usual board of an architecture. Their start
code is that of tests/lib/start, or built of its macros; image.ld there says where what is."""
from gttest import paths, qemus
from gttest.commands import must
from gttest.compilers import compiler, prefix

FLAGS = ['-O1', '-g0', '-Wall', '-Wextra', '-Werror', '-ffreestanding', '-nostdlib', '-static',
         '-fno-pie', '-no-pie', '-fno-stack-protector', '-fno-optimize-sibling-calls',
         '-fno-asynchronous-unwind-tables', '-Wl,--build-id=none', '-Wl,-z,noexecstack', f'-I{paths.START}']
BOARDS = {  # the compiler's flags, where the image and the rest are, QEMU's arguments
    'aarch64': (['-mgeneral-regs-only', '-mstrict-align', '-mno-outline-atomics'], 0x40080000, 0x40100000,
                ['-M', 'virt', '-cpu', 'cortex-a57', '-kernel', '{elf}']),
    'riscv64': (['-mcmodel=medany'], 0x80000000, 0x80100000,
                ['-M', 'virt', '-bios', 'none', '-kernel', '{elf}']),
    'x86_64': (['-mgeneral-regs-only', '-mno-red-zone'], 0xf0000, 0x10000,
               ['-M', 'pc', '-cpu', 'max', '-net', 'none', '-no-reboot', '-bios', '{image}']),
}
MEMORY = ['-m', '64']


class Image:
    """A program, built: `elf` with its symbols, `image` as it lies in the machine's memory."""

    def __init__(self, arch, name, folder):
        self.arch, self.elf, self.image = arch, f'{folder}/{name}.elf', f'{folder}/{name}.bin'
        self.arguments = BOARDS[arch][3]

    def words(self, arguments):
        """QEMU's arguments, with the files in their places."""
        return [word.format(elf=self.elf, image=self.image) for word in arguments]

    def command(self, qemu, *more):
        """A machine that shows nothing."""
        return [qemu, *qemus.QUIET, *MEMORY, *self.words(self.arguments), *more]

    def command_on_stdio(self, qemu, *more):
        """A machine whose serial port is its standard input and output."""
        return [qemu, *qemus.ON_STDIO, *MEMORY, *self.words(self.arguments), *more]


def build(arch, name, folder, sources, *flags, base=None, ram=None):
    """An Image of sources in C and assembly. In assembly, BASE is where the image is."""
    more, usual_base, usual_ram, _ = BOARDS[arch]
    base, ram = base or usual_base, ram or usual_ram
    built = Image(arch, name, folder)
    must([*compiler(arch), *FLAGS, *more, *flags, f'-DBASE={base}', '-T', f'{paths.START}/image.ld',
          f'-Wl,--defsym=BASE={base},--defsym=RAM={ram}', '-o', built.elf, *sources])
    must([prefix(arch) + 'objcopy', '-O', 'binary', built.elf, built.image])
    return built


def start_code(arch):
    """The source of the start code that calls START_MAIN on a stack and cuts the power."""
    return f'{paths.START}/{arch}.S'


# ---- the kernel that logs its own calls: tests/machine/kernel ----------------------------------------------

KERNEL = paths.source('machine', 'kernel')
KERNEL_SOURCES = ['log.c', 'boot.c', 'threads.c', 'machine.c', 'x86.c', 'guest.c']
KERNEL_FLAGS = ['-falign-functions=16', '-Wno-infinite-recursion', f'-I{KERNEL}']
KERNEL_MORE = {'x86_64': ['-fpie', '-fvisibility=hidden']}
KERNEL_AT = {'x86_64': (0x100000, 0x200000)}  # the firmware copies itself there


def kernel_at(arch):
    """Where its image and the rest are."""
    return KERNEL_AT.get(arch, BOARDS[arch][1:3])


def build_kernel(arch, folder, case, defines=(), flags=()):
    """An Image of the kernel with one of tests/machine/cases."""
    base, ram = kernel_at(arch)
    sources = [f'{KERNEL}/start_{arch}.S', f'{KERNEL}/guest_{arch}.S', case, *[f'{KERNEL}/{s}' for s in KERNEL_SOURCES]]
    return build(arch, arch, folder, sources, *KERNEL_FLAGS, *KERNEL_MORE.get(arch, []),
                 *flags, *[f'-D{d}' for d in defines], base=base, ram=ram)
