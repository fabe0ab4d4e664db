# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs with random prototypes that print what they are called with, for values_test.py.

As those of places_programs.py, for a machine without an operating system or for Linux. They call all functions again and
again, with other values each time, and print

    m N MASK,... MASK        which bits count: of each parameter of f<N>, and of its result ("-": none)
    c N BYTES,... BYTES      each call; the lowest byte first
"""
import places_programs

PUT = {
    'x86_64': '__asm__ volatile("outb %0, %1" : : "a"(c), "Nd"((unsigned short)0x3f8));',
    'aarch64': '*(volatile unsigned *)0x9000000 = c;',
    'riscv64': '*(volatile unsigned char *)0x10000000 = c;',
}
# What the start code of tests/lib/start calls: main, with floats.
BEGIN = {
    'x86_64': 'mov %cr0,%rax; and $-5,%rax; or $2,%rax; mov %rax,%cr0; mov %cr4,%rax; or $0x600,%rax; mov %rax,%cr4;'
              ' fninit; jmp main',
    'aarch64': 'mov x0,#0x300000; msr cpacr_el1,x0; isb; b main',
    'riscv64': 'li t0,0x6000; csrs mstatus,t0; j main',
}
WRITE = {  # a byte in memory, by a system call
    'x86_64': 'long r; __asm__ volatile("syscall" : "=a"(r) : "a"(1), "D"(1), "S"(at), "d"(n) : "rcx", "r11", "memory");',
    'aarch64': 'register long a __asm__("x0") = 1, d __asm__("x2") = n, e __asm__("x8") = 64;'
               ' register const char *b __asm__("x1") = at;'
               ' __asm__ volatile("svc #0" : "+r"(a) : "r"(b), "r"(d), "r"(e) : "memory");',
    'riscv64': 'register long a __asm__("a0") = 1, d __asm__("a2") = n, e __asm__("a7") = 64;'
               ' register const char *b __asm__("a1") = at;'
               ' __asm__ volatile("ecall" : "+r"(a) : "r"(b), "r"(d), "r"(e) : "memory");',
}
COMMON = r"""
typedef unsigned long word; typedef void *pointer;
volatile int count; void *volatile used;
static inline void use(void *p) { used = p; __asm__ volatile("" : : "r"(p) : "memory"); }
__attribute__((noinline)) void set(void *p, word n)
{ for (word i = 0; i < n; i++) ((volatile char *)p)[i] = -1; }
static unsigned seed;
__attribute__((noinline)) void fill(void *p, const void *m, word n) {
 for (word i = 0; i < n; i++) { seed = seed * 1103515245 + 12345;
 ((volatile char *)p)[i] = (seed >> 16) & ((const volatile char *)m)[i]; } }
"""
PRINTING = r"""
__attribute__((noinline)) static void bytes(const void *p, word n, char after) {
 const unsigned char *b = (const unsigned char *)p;
 if (!n) put('-');
 for (word i = 0; i < n; i++) { put("0123456789abcdef"[b[i] >> 4]); put("0123456789abcdef"[b[i] & 15]); }
 put(after); }
__attribute__((noinline)) static void line(char kind, const char *number) {
 put(kind); put(' '); while (*number) put(*number++); put(' '); }
"""


class Program(places_programs.Program):
    """`rounds`: how often each function is called; `machine`: for no operating system; `prints`: as above."""

    def __init__(self, seed, arch, rounds, machine, prints=True, **more):
        self.rounds, self.machine, self.prints = rounds, machine, prints
        super().__init__(seed, arch, **more)

    def scalar(self):
        """Long doubles of some architectures need a library, which machines have not."""
        kind = super().scalar()
        return kind if kind != 'long double' or self.arch == 'x86_64' or not self.machine else 'double'

    def lines_of(self, letter, number, params, result):
        """Statements that print a line."""
        prefix = {'m': 'm', 'c': 'v'}[letter]
        out = [f"line('{letter}', \"{number}\");"]
        for i in range(len(params)):
            name = f'{prefix}{number}_{i}'
            out.append(f"bytes(&{name}, sizeof {name}, '{' ' if i + 1 == len(params) else ','}');")
        if not params:
            out.append("bytes(0, 0, ' ');")
        name = {'m': 'mw', 'c': 'w'}[letter] + str(number)
        out.append(f"bytes(&{name}, sizeof {name}, '\\n');" if result != 'void' else "bytes(0, 0, '\\n');")
        return out

    def caller(self, number, params, result, variadic):
        out = [f'__attribute__((noinline)) static void c{number}(int first) {{', 'if (first) {']
        for i, kind in enumerate(params):
            out += self.mask(kind, f'm{number}_{i}')
        out += self.mask(result, f'mw{number}') if result != 'void' else []
        out += self.lines_of('m', number, params, result) if self.prints else []
        out.append('}')
        for i, kind in enumerate(params):
            out.append(self.fill(kind, f'v{number}_{i}', f'm{number}_{i}'))
        if result != 'void':
            out.append(self.fill(result, f'w{number}', f'mw{number}'))
        out += self.lines_of('c', number, params, result) if self.prints else []
        args = [f'v{number}_{i}' for i in range(len(params))] + (['1', '2.0'] if variadic else [])
        keep = result != 'void' and not self.cxx
        out.append((f'{result} r = ' if keep else '') + f'f{number}({", ".join(args)});' + (' use(&r);' if keep else ''))
        return out + ['}']

    def text(self):
        extern = 'extern "C" ' if self.cxx else ''
        out = [COMMON]
        if self.machine:
            out.append('static void put(char c) { ' + PUT[self.arch] + ' }')
        else:
            out.append('static char buffer[4096]; static word n_buffer;'
                       'static void flush(void) { const char *at = buffer; word n = n_buffer; n_buffer = 0; '
                       + WRITE[self.arch] + ' }'
                       "static void put(char c) { buffer[n_buffer++] = c; if (c == '\\n' || n_buffer == 4096) flush(); }")
        out += [PRINTING, *self.lines]
        for function in self.functions:
            out += self.caller(*function)
        out.append(f'{extern}__attribute__((used)) int main(void) {{ seed = 1; '
                   f'for (int i = 0; i < {self.rounds}; i++) {{')
        out += [f'c{number}(!i);' for number, _, _, _ in self.functions]
        out.append('} return 0; }')
        if self.machine:
            out.append(f'__asm__(".globl begin_values\\nbegin_values: {BEGIN[self.arch]}");')
        else:
            out.append(places_programs.START[self.arch])
        return '\n'.join(out) + '\n' + places_programs.HELPERS.replace('EXTERN', extern) \
            + (places_programs.RUNTIME if self.cxx else '')
