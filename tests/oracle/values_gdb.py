# SPDX-License-Identifier: GPL-2.0-or-later
"""For values_test.py, inside gdb: what `info args` and `finish` show at each call of some functions.

GT_STUB is the socket of QEMU's gdbstub, GT_FUNCTIONS the functions' addresses, GT_OUT the file to write, a line for each
entry (e) and return (r):

    KIND FUNCTION [PARAMETER=BYTES/MASK|?]...

? is what gdb does not know; the mask leaves padding out. GT_DEBUG: code without optimization, whose parameters have their
places after the prologue. In other code a parameter whose place is in the frame is not there yet at the first instruction:
gdb, which believes the debug information, shows what was there before. Such are `?`.
"""
import os

import gdb  # pylint: disable=import-error

FRAME = 1 << 16  # bytes, at most
DEBUG = os.environ['GT_DEBUG']


def scalar(value, kind):
    """Its bytes; None: gdb does not say."""
    if kind.code == gdb.TYPE_CODE_FLT:
        number = int(value.format_string(format='x'), 16)
        return (number & (1 << 8 * kind.sizeof) - 1).to_bytes(kind.sizeof, 'little')
    return (int(value) & (1 << 8 * kind.sizeof) - 1).to_bytes(kind.sizeof, 'little')


def fill(value, data, mask, at):
    """Sets the bytes of a value at bit `at`."""
    kind = value.type.strip_typedefs()
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        for field in kind.fields():
            if not hasattr(field, 'bitpos'):  # static
                continue
            inner = value[field]
            if field.bitsize:
                number = int(inner) & (1 << field.bitsize) - 1
                put(data, mask, at + field.bitpos, number, field.bitsize)
            else:
                fill(inner, data, mask, at + field.bitpos)
    elif kind.code == gdb.TYPE_CODE_ARRAY:
        low, high = kind.range()
        for i in range(low, high + 1):
            fill(value[i], data, mask, at + (i - low) * 8 * kind.target().sizeof)
    else:
        one = scalar(value, kind)
        data[at // 8:at // 8 + len(one)] = one
        mask[at // 8:at // 8 + len(one)] = b'\xff' * len(one)


def put(data, mask, bit, number, width):
    for i in range(width):
        mask[(bit + i) // 8] |= 1 << (bit + i) % 8
        data[(bit + i) // 8] |= (number >> i & 1) << (bit + i) % 8


def shown(value):
    try:
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value, kind = value.referenced_value(), kind.target()
        data, mask = bytearray(kind.sizeof), bytearray(kind.sizeof)
        fill(value, data, mask, 0)
        return f'{data.hex()}/{mask.hex()}'
    except (gdb.error, ValueError, OverflowError, TypeError):
        return '?'


def is_not_known(value, stack):
    if value.address is None:
        return 'x86-64' in ARCH and holds(value.type, is_float)  # gdb shows QEMU's xmm registers as 0
    # Clang has it as an offset from the stack pointer after the prologue; so has GCC, of aarch64, the address of a struct.
    moves = 'clang' in PRODUCER or 'aarch64' in ARCH and value.type.sizeof > 16
    return moves or -FRAME < (int(value.address) & (1 << 64) - 1) - stack < 0


def is_an_address(value, frame):
    """Clang, of aarch64, says of a struct whose address is on the stack that it is there itself."""
    return 'clang' in PRODUCER and 'aarch64' in ARCH and value.type.sizeof > 16 and value.address is not None and \
        int(value.address) >= int(frame.older().read_register('sp'))


def holds(kind, test):
    """Whether the test is true of a type or of one inside it."""
    kind = kind.strip_typedefs()
    if kind.code == gdb.TYPE_CODE_ARRAY:
        return holds(kind.target(), test)
    if kind.code in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
        return any(holds(f.type, test) for f in kind.fields())
    return test(kind)


def is_float(kind):
    return kind.code == gdb.TYPE_CODE_FLT


def holds_complex(kind):
    """gdb 13 ends itself when it shows some of these in registers."""
    return holds(kind, lambda k: k.code == gdb.TYPE_CODE_COMPLEX or k.code == gdb.TYPE_CODE_FLT and k.sizeof > 8)


def ends_gdb(kind):
    """So do results of 128 bits, and those in xmm registers, as QEMU describes them."""
    return holds(kind, lambda k: k.code == gdb.TYPE_CODE_INT and k.sizeof > 8) or holds_complex(kind) or \
        'x86-64' in ARCH and (kind.sizeof > 8 or holds(kind, is_float))


def entry(frame):
    """The parameters of the frame's function."""
    out, block, stack = [], frame.block(), int(frame.read_register('sp'))
    while block.function is None:
        block = block.superblock
    for symbol in block:
        if symbol.is_argument:
            try:
                value = None if holds_complex(symbol.type) else symbol.value(frame)
                unknown = value is None or (is_an_address(value, frame) if DEBUG else is_not_known(value, stack))
                text = '?' if unknown else shown(value)
            except gdb.error:
                text = '?'
            out.append(f'{symbol.name}={text}')
    return block.function.name.split('.')[0].split('(')[0], out


def follow(out):
    while True:
        try:
            gdb.execute('continue', to_string=True)
            frame = gdb.newest_frame()
        except gdb.error:  # the program has ended; gdb 16 says that of the connection. values_test.py counts the calls
            return
        name, values = entry(frame)
        print('e', name, *values, file=out)
        print('r', name, *leave(frame), file=out)


def leave(frame):
    """Lets the function return; what it returned."""
    kind = frame.function().type.target()
    if ends_gdb(kind):
        back = frame.older()
        while back.type() == gdb.TAILCALL_FRAME:
            back = back.older()
        gdb.execute(f'tbreak *{back.pc()}', to_string=True)
        gdb.execute('continue', to_string=True)
        return ['=?']
    try:
        text = gdb.execute('finish', to_string=True)
    except gdb.MemoryError:  # of a result in memory, whose address gdb takes from a register that has changed
        return ['=?']
    if 'Value returned is' not in text:
        return []
    # gdb 13 takes x8 for the address of such a result, which does not keep it.
    return ['=?' if 'aarch64' in ARCH and kind.sizeof > 16 else '=' + shown(gdb.history(0))]


for setting in ('pagination off', 'confirm off', 'print entry-values no', 'height 0', 'width 0', 'print frame-arguments none',
                'print object off', 'breakpoint always-inserted on', 'print frame-info location', 'print elements 1', 'breakpoint pending off'):
    gdb.execute('set ' + setting)
gdb.execute('target remote ' + os.environ['GT_STUB'], to_string=True)
ARCH = gdb.selected_frame().architecture().name()
PRODUCER = os.environ['GT_COMPILER']
for function in os.environ['GT_FUNCTIONS'].split():
    at = gdb.block_for_pc(int(function, 16)).function.name.split('(')[0] if DEBUG else f'*0x{function}'
    gdb.Breakpoint(at, internal=True)
with open(os.environ['GT_OUT'], 'w', encoding='ascii') as output:
    follow(output)
