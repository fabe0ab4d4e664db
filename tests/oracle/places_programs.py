# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with random prototypes, for places_test.py.

Function f<N> takes parameters of random types. main() fills a global v<N>_<I> for each with a pattern, calls
f<N> with them, and f<N> returns the global w<N>. m_<N>_<I> (mw_<N> of the result) has all bits set that
count: those of members, not of padding. Nothing needs a C library.
"""
import itertools
import random

SCALARS = ['char', 'signed char', 'unsigned char', 'short', 'unsigned short', 'int', 'unsigned', 'long',
           'unsigned long', 'long long', 'float', 'double', 'pointer', '_Bool', 'enum color']
WIDE = ['__int128', 'unsigned __int128']
ODD = ['long double', 'float _Complex', 'double _Complex']
ALL = 'all'
FIELDS = ['int', 'unsigned', 'short', 'unsigned char', 'long long']


class Program:
    """One source; `cxx`: of C++; `ignores`: some functions do not use all their scalars, or
    with ALL all their parameters, as those of static functions do not; `mangled`: names of C++."""

    def __init__(self, seed, arch, cxx=False, functions=40, static=False, ignores=False, mangled=False):
        self.random = random.Random(seed)
        self.arch, self.cxx, self.static, self.ignores, self.mangled = arch, cxx, static, ignores, mangled
        self.types = []  # (name, [(member, type, width of a bit field, elements)], is_union)
        self.lines = ['enum color { LEAST = -0x7fffffff - 1, RED = 0, GREEN = 5, BLUE = 100, MOST = 0x7fffffff };']
        self.functions = []
        if cxx:
            self.lines.append('#define _Bool bool')
        for _ in range(14):
            self.add_type()
        for number in range(functions):
            self.add_function(number)

    def scalar(self):
        pick = self.random.random()
        if pick < 0.06 and self.arch != 'i386':
            return self.random.choice(WIDE)
        if pick < 0.14:
            return self.random.choice(ODD)
        if pick < 0.3:
            return self.random.choice(['float', 'double'])
        return self.random.choice(SCALARS)

    def any_type(self):
        if self.types and self.random.random() < 0.45:
            return self.random.choice(self.types)[0]
        return self.scalar()

    def add_type(self):
        number, union = len(self.types), self.random.random() < 0.15
        same = self.scalar() if self.random.random() < 0.3 else None  # homogeneous
        if same and self.random.random() < 0.5:
            same = self.random.choice(['float', 'double'])
        members = []
        for i in range(self.random.choice([0, 1, 1, 2, 2, 2, 3, 3, 4, 5]) or (not self.cxx and 1)):
            kind, width, elements = same or self.any_type(), 0, 0
            if not same and self.random.random() < 0.15:
                kind, width = self.random.choice(FIELDS), self.random.randint(1, 8)
            elif self.random.random() < 0.15:
                elements = self.random.randint(1, 3)
            members.append((f'a{i}', kind, width, elements))
        if self.arch == 'riscv64' and not union:
            members = without_overlap(members)
        name = ('union' if union else 'struct') + f' t{number}'
        text = ' '.join(f'{k} {n}{f" : {w}" if w else ""}{f"[{e}]" if e else ""};' for n, k, w, e in members)
        base = ''
        if self.cxx and not union and self.types and self.random.random() < 0.3:
            other = self.random.choice(self.types)
            if other[0].startswith('struct'):
                base = ' : ' + other[0].split()[1]
                members = [(None, other[0], 0, 0)] + members
        if self.cxx and not union and self.random.random() < 0.2:
            text += f' t{number}(); t{number}(const t{number} &o); ~t{number}();'
            self.types.append((name, members, union, True))
        else:
            self.types.append((name, members, union, self.holds_trouble(members)))
        if self.cxx and union and self.types[-1][3]:
            self.types.pop()
            return
        self.lines.append(f'{name}{base} {{ {text} }};')
        if text.endswith(f'~t{number}();'):
            self.lines.append(f't{number}::t{number}() {{}} t{number}::~t{number}() {{}}')
            self.lines.append(f't{number}::t{number}(const t{number} &o) {{ char *p = (char *)this;'
                              ' const char *q = (const char *)&o;'
                              ' for (unsigned i = 0; i < sizeof o; i++) p[i] = q[i]; }')

    def holds_trouble(self, members):
        """Whether a member's class has a copy constructor."""
        return any(self.of(k) and self.of(k)[3] for _, k, _, _ in members)

    def of(self, name):
        return next((t for t in self.types if t[0] == name), None)

    def scalars(self, kind, place):
        """(type, place, width of a bit field) of each member that is no struct, at any depth."""
        found = self.of(kind)
        if not found:
            yield kind, place, 0
            return
        for name, member, width, elements in found[1]:
            at = f'(({member} &){place})' if name is None else f'{place}.{name}'
            if width:
                yield member, at, width
                continue
            for one in [f'{at}[{i}]' for i in range(elements)] or [at]:
                yield from self.scalars(member, one)

    def mask(self, kind, place):
        """Statements that set the bits of members at a place."""
        sizes = {'long double': '10'} if self.arch in ('x86_64', 'i386') else {}
        return [f'{at} = -1;' if width else f'set(&{at}, {sizes.get(one, f"sizeof({at})")});'
                for one, at, width in self.scalars(kind, place)]

    def is_used(self, kind):
        may_ignore = self.static or self.ignores is ALL or self.ignores and not self.of(kind)
        return not may_ignore or self.random.random() < 0.7

    def add_function(self, number):
        params = [self.any_type() for _ in range(self.random.randint(0, 9))]
        result = self.any_type() if self.random.random() < 0.85 else 'void'
        variadic = params and self.random.random() < 0.1
        names = [f'p{i}' for i in range(len(params))]
        for i, kind in enumerate(params):
            self.lines.append(f'{kind} v{number}_{i}, m{number}_{i};')
        if result != 'void':
            self.lines.append(f'{result} w{number}, mw{number};')
        head = ', '.join(f'{k} {n}' for k, n in zip(params, names)) + (', ...' if variadic else '')
        uses = ' '.join(f'use(&{n});' for n, k in zip(names, params) if self.is_used(k))
        give = f'return w{number};' if result != 'void' else ''
        scope = 'static ' if self.static else 'extern "C" ' if self.cxx and not self.mangled else ''
        self.lines.append(f'{scope}__attribute__((noinline)) {result} f{number}('
                          f'{head or "void"}) {{ count++; {uses} {give} }}')
        self.functions.append((number, params, result, variadic))

    def text(self):
        out = ['typedef unsigned long word; typedef void *pointer;', 'int count; void *volatile used;',
               'static inline void use(void *p) { used = p; __asm__ volatile("" : : "r"(p) : "memory"); }',
               '__attribute__((noinline)) void set(void *p, word n)'
               ' { for (word i = 0; i < n; i++) ((volatile char *)p)[i] = -1; }',
               'static unsigned seed = 1;',
               '__attribute__((noinline)) void fill(void *p, const void *m, word n) {'
               ' for (word i = 0; i < n; i++) { seed = seed * 1103515245 + 12345;'
               f' ((volatile char *)p)[i] = (seed >> 16) & ((const volatile char *)m)[i]{self.no_nan()}; }} }}']
        out += self.lines
        extern = 'extern "C" ' if self.cxx else ''
        for number, params, result, variadic in self.functions:
            out.append(f'__attribute__((noinline)) void c{number}(void) {{')
            for i, kind in enumerate(params):
                out += self.mask(kind, f'm{number}_{i}')
                out.append(self.fill(kind, f'v{number}_{i}', f'm{number}_{i}'))
            if result != 'void':
                out += self.mask(result, f'mw{number}')
                out.append(self.fill(result, f'w{number}', f'mw{number}'))
            args = [f'v{number}_{i}' for i in range(len(params))] + (['1', '2.0'] if variadic else [])
            keep = result != 'void' and not self.cxx
            out.append((f'{result} r = ' if keep else '') + f'f{number}({", ".join(args)});'
                       + (' use(&r);' if keep else ''))
            out.append('}')
        out.append(f'{extern}__attribute__((used)) int main(void) {{')
        out += [f'c{number}();' for number, _, _, _ in self.functions]
        out.append('return 0; }')
        return '\n'.join(out) + '\n' + START[self.arch] + HELPERS.replace('EXTERN', extern) + (RUNTIME if self.cxx else '')

    def no_nan(self):
        """i386 passes floats through the x87, which changes signalling NaNs: the top bit of exponents stays 0."""
        return ' & (i % 4 == 3 ? 0xbf : 0xff)' if self.arch == 'i386' else ''

    def fill(self, kind, place, mask):
        """Statements that set what is at a place to a value of its type: a truth value is 0 or 1."""
        truths = [f'*(volatile unsigned char *)&{at} &= 1;' for one, at, _ in self.scalars(kind, place) if one == '_Bool']
        return ' '.join([f'fill(&{place}, &{mask}, sizeof {place});', *truths])


class Partial(Program):
    """Functions that each use one of two members of a small struct: optimised callers leave the other one undefined."""

    def __init__(self, arch):
        super().__init__(0, arch, functions=0)
        self.types, self.lines = [], self.lines[:1]
        kinds = ['int', 'long', 'float', 'double']
        for first, second in itertools.product(kinds, kinds):
            number = len(self.types)
            name = f'struct t{number}'
            self.types.append((name, [('a0', first, 0, 0), ('a1', second, 0, 0)], False, False))
            self.lines.append(f'{name} {{ {first} a0; {second} a1; }};')
            for used in range(2):
                self.add_use(2 * number + used, name, used)

    def add_use(self, number, kind, used):
        self.lines += [f'{kind} v{number}_0, m{number}_0; int w{number}, mw{number};',
                       f'volatile __typeof__(v{number}_0.a{used}) kept{number};',
                       f'__attribute__((noinline)) int f{number}({kind} p0) '
                       f'{{ count++; kept{number} = p0.a{used}; return w{number}; }}']
        self.functions.append((number, [kind], 'int', False))


def without_overlap(members):
    """Clang 14 takes a bit field of 8 bytes beside a float for more than the struct has, and writes over its frame."""
    if any(k == 'float' for _, k, _, _ in members):
        return [(n, 'int' if k == 'long long' and w else k, w, e) for n, k, w, e in members]
    return members


# Compilers may call memcpy only after they have seen that nothing does (-flto).
HELPERS = r"""
EXTERN __attribute__((used)) void *memcpy(void *d, const void *s, word n)
{ for (word i = 0; i < n; i++) ((volatile char *)d)[i] = ((const char *)s)[i]; return d; }
EXTERN __attribute__((used)) void *memset(void *d, int c, word n)
{ for (word i = 0; i < n; i++) ((volatile char *)d)[i] = c; return d; }
"""
RUNTIME = 'extern "C" { void *__dso_handle; int __cxa_atexit(void (*)(void *), void *, void *) { return 0; } }\n'
START = {
    'x86_64': '__asm__(".globl _start\\n_start: xor %ebp,%ebp\\n and $-16,%rsp\\n call main\\n'
              ' mov $0,%edi\\n mov $60,%eax\\n syscall\\n");',
    'i386': '__asm__(".globl _start\\n_start: xor %ebp,%ebp\\n and $-16,%esp\\n call main\\n'
            ' mov $0,%ebx\\n mov $1,%eax\\n int $0x80\\n");',
    'aarch64': '__asm__(".globl _start\\n_start: bl main\\n mov x0,#0\\n mov x8,#93\\n svc #0\\n");',
    'riscv64': '__asm__(".globl _start\\n_start: .option push\\n.option norelax\\n la gp,__global_pointer$\\n'
               '.option pop\\n call main\\n li a0,0\\n li a7,93\\n ecall\\n");',
}
