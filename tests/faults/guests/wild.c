/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * x86-64 code that no compiler makes, each piece in a net that its faults fall into: `wild MODE N
 * SEED`. The net is a signal handler on a stack of its own that puts everything back.
 */
#include "guest.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

enum { CODE = 4096, STACK = 65536 };

static sigjmp_buf net;
static unsigned char *code, *stack;
static uint64_t state;
static long faults;
static uint64_t thread_pointer;

/* The segment registers are loaded by chance, too; libc's data are found by one of them. */
static void arch_prctl(long what, uint64_t value)
{
    long number = SYS_arch_prctl;
    __asm__ volatile("syscall" : "+a"(number) : "D"(what), "S"(value) : "rcx", "r11", "memory");
}

static void put_thread_pointer_back(void)
{
    enum { SET_FS = 0x1002 };
    arch_prctl(SET_FS, thread_pointer);
}

static void keep_thread_pointer(void)
{
    enum { GET_FS = 0x1003 };
    arch_prctl(GET_FS, (uint64_t)(uintptr_t)&thread_pointer);
}

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static void on_fault(int number)
{
    __asm__ volatile("cld; push $2; popf");
    put_thread_pointer_back();
    faults += number != SIGALRM;
    siglongjmp(net, 1);
}

/* Runs what is in `code` with registers full of `word` and the stack pointer `sp`; what it does to
 * them is put back if it returns. */
F static void go(uint64_t word, void *sp)
{
    static uint64_t kept;
    __asm__ volatile("push %%rbx; push %%rbp; push %%r12; push %%r13; push %%r14; push %%r15\n\t"
                     "mov %%rsp, %0\n\t"
                     "mov %2, %%rsp\n\t"
                     "mov %1, %%rbx; mov %1, %%rbp; mov %1, %%r12; mov %1, %%r13; mov %1, %%r14\n\t"
                     "mov %1, %%rsi; mov %1, %%rdi; mov %1, %%r8; mov %1, %%r15\n\t"
                     "call *%3\n\t"
                     "cld\n\t"
                     "mov %0, %%rsp\n\t"
                     "pop %%r15; pop %%r14; pop %%r13; pop %%r12; pop %%rbp; pop %%rbx"
                     : "+m"(kept)
                     : "a"(word), "d"(sp), "c"(code)
                     : "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
}

F static void leaf(void)
{
    WORK();
}

/* System calls would change more than can be put back. */
static void fill_random(void)
{
    for (int i = 0; i < CODE; i++)
        code[i] = (unsigned char)next();
    for (int i = 0; i + 1 < CODE; i++)
        if ((code[i] == 0x0f && (code[i + 1] == 0x05 || code[i + 1] == 0x34)) || code[i] == 0xcd)
            code[i] = 0xc3;
}

/* More calls, jumps and returns than chance would give. */
static void fill_calls(void)
{
    static const unsigned char some[] = {0xe8, 0xe9, 0xeb, 0xc3, 0xc2, 0xff, 0x50, 0x58,
                                         0x74, 0xc9, 0x5c, 0x54, 0xf2, 0xf3, 0x41, 0x90};
    fill_random();
    for (int i = 0; i < CODE; i += 1 + (int)(next() % 5))
        code[i] = some[next() % sizeof some];
    for (int i = 0; i + 4 < CODE; i++)
        if (code[i] == 0xe8 || code[i] == 0xe9) { /* near targets */
            int32_t to = (int32_t)(next() % 512) - 256;
            memcpy(code + i + 1, &to, 4);
        }
    for (int i = 0; i + 1 < CODE; i++)
        if ((code[i] == 0x0f && (code[i + 1] == 0x05 || code[i + 1] == 0x34)) || code[i] == 0xcd)
            code[i] = 0x90;
}

static void put(const char *bytes, size_t n)
{
    memset(code, 0xc3, CODE);
    memcpy(code, bytes, n);
}

/* What a smashed stack does: it returns to `to`. */
F static void return_to(uint64_t to)
{
    put("\x48\x89\xc0\x48\x89\x34\x24\xc3", 8); /* mov %rsi,(%rsp); ret */
    go(to, stack + STACK / 2);
}

/* A return to where nobody called from. */
__asm__(".text\n.type inside, @function\ninside: nop; nop\n.globl inside_middle\n"
        "inside_middle: nop; ret\n.size inside, . - inside");
extern char inside_middle[];

F static void astray(void)
{
    put("\x50\xc3", 2); /* push %rax; ret */
    go((uint64_t)(uintptr_t)inside_middle, stack + STACK / 2);
}

/* A jump into the middle of an instruction: a mov whose constant is "call *%rax". */
F static void into_the_middle(void)
{
    put("\xeb\x01\xb8\xff\xd0\xc3\x90\x90", 8);
    go((uint64_t)(uintptr_t)leaf, stack + STACK / 2);
}

/* Code that writes the instruction after it: a call becomes two no-ops or the other way round. */
F static void modify(uint16_t insn)
{
    /* mov %si,4(%rip)... : 66 89 35 rel32 */
    put("\x66\xc7\x05\x00\x00\x00\x00\x90\x90\xff\xd0\xc3", 12);
    memcpy(code + 7, &insn, 2);
    go((uint64_t)(uintptr_t)leaf, stack + STACK / 2);
}

F static void one(const char *mode, long i)
{
    if (strcmp(mode, "random") == 0) {
        fill_random();
        go(next(), stack + STACK / 2);
    } else if (strcmp(mode, "calls") == 0) {
        fill_calls();
        go((uint64_t)(uintptr_t)(stack + next() % STACK), stack + STACK / 2);
    } else if (strcmp(mode, "smash") == 0) {
        return_to(i % 3 == 0   ? next()
                  : i % 3 == 1 ? (uint64_t)(uintptr_t)leaf
                               : (uint64_t)(uintptr_t)stack);
    } else if (strcmp(mode, "astray") == 0) {
        astray();
    } else if (strcmp(mode, "middle") == 0) {
        into_the_middle();
    } else if (strcmp(mode, "modify") == 0) {
        modify(i % 2 ? 0xd0ff : 0x9090);
    } else if (strcmp(mode, "garbage") == 0) {
        put("\xc3", 1);
        go(next(), (void *)(uintptr_t)next()); /* a stack pointer that points nowhere */
    }
}

static void make_net(void)
{
    static const int numbers[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP, SIGALRM};
    struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK | SA_NODEFER};
    void *own = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sigaltstack(&(stack_t){.ss_sp = own, .ss_size = STACK}, NULL);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &sa, NULL);
}

int main(int argc, char **argv)
{
    int all = PROT_READ | PROT_WRITE | PROT_EXEC;
    code = mmap(NULL, CODE, all, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (argc < 4 || code == MAP_FAILED || stack == MAP_FAILED)
        return 1;
    state = strtoull(argv[3], NULL, 10) * 2654435761u + 88172645463325252u;
    bool may_loop = strcmp(argv[1], "random") == 0 || strcmp(argv[1], "calls") == 0;
    make_net();
    keep_thread_pointer();
    for (volatile long i = 0; i < atol(argv[2]); i++) {
        if (sigsetjmp(net, 1) == 0) {
            if (may_loop)
                setitimer(ITIMER_REAL, &(struct itimerval){.it_value.tv_usec = 5000}, NULL);
            one(argv[1], i);
        }
        put_thread_pointer_back();
        setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
        leaf();
    }
    printf("%s %s\n", argv[1], faults ? "faults" : "no fault");
    return 3;
}
