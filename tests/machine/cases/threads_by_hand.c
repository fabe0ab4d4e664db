/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks switched by hand, as small cooperative systems do: the new stack pointer comes in a
 * register and the old one goes into another (R, r), to memory (V), or it is loaded from there (M,
 * m); the switch ends in a return, or in a jump to where it was called from (r, m). Coroutines are
 * resumed in an order that is not that in which they were suspended, and all switch by one call
 * instruction.
 *
 * calls: 1000
 * guessed: 7.2
 * same: 10.0 11.1
 */
#include "kernel.h"

/* Return the stack pointer of who has switched here. */
word k_swR(word to), k_swr(word to);
void k_swM(word *from, word *to), k_swm(word *from, word *to), k_swV(word *from, word to);
void k_enter_coroutine(void);

#if defined(__x86_64__)
#define TYPE         ",@function\n"
#define SAVE         "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
#define RESTORE      "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
#define BY_REGISTER  "mov %rsp,%rax\nmov %rdi,%rsp\n"
#define BY_MEMORY    "mov %rsp,(%rdi)\nmov (%rsi),%rsp\n"
#define BY_VALUE     "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
#define RETURN       "ret\n"
#define JUMP         "pop %rcx\njmp *%rcx\n"
#define CALL_STARTED "mov %rax,%rdi\ncall k_started\n"
enum { FRAME = 8, PC = 6 };
#elif defined(__aarch64__)
#define TYPE ",%function\n"
#define SAVE                                                                                       \
    "sub sp,sp,#96\nstp x19,x20,[sp]\nstp x21,x22,[sp,16]\nstp x23,x24,[sp,32]\n"                  \
    "stp x25,x26,[sp,48]\nstp x27,x28,[sp,64]\nstp x29,x30,[sp,80]\nmov x9,sp\n"
#define RESTORE                                                                                    \
    "ldp x19,x20,[sp]\nldp x21,x22,[sp,16]\nldp x23,x24,[sp,32]\nldp x25,x26,[sp,48]\n"            \
    "ldp x27,x28,[sp,64]\nldp x29,x30,[sp,80]\nadd sp,sp,#96\n"
#define BY_REGISTER  "mov sp,x0\nmov x0,x9\n"
#define BY_MEMORY    "str x9,[x0]\nldr x9,[x1]\nmov sp,x9\n"
#define BY_VALUE     "str x9,[x0]\nmov sp,x1\n"
#define RETURN       "ret\n"
#define JUMP         "br x30\n"
#define CALL_STARTED "bl k_started\n"
enum { FRAME = 12, PC = 11 };
#else
#define TYPE ",@function\n"
#define SAVE                                                                                       \
    "addi sp,sp,-112\nsd s0,0(sp)\nsd s1,8(sp)\nsd s2,16(sp)\nsd s3,24(sp)\nsd s4,32(sp)\n"        \
    "sd s5,40(sp)\nsd s6,48(sp)\nsd s7,56(sp)\nsd s8,64(sp)\nsd s9,72(sp)\nsd s10,80(sp)\n"        \
    "sd s11,88(sp)\nsd ra,96(sp)\n"
#define RESTORE                                                                                    \
    "ld s0,0(sp)\nld s1,8(sp)\nld s2,16(sp)\nld s3,24(sp)\nld s4,32(sp)\nld s5,40(sp)\n"           \
    "ld s6,48(sp)\nld s7,56(sp)\nld s8,64(sp)\nld s9,72(sp)\nld s10,80(sp)\nld s11,88(sp)\n"       \
    "ld ra,96(sp)\naddi sp,sp,112\n"
#define BY_REGISTER  "mv t0,sp\nmv sp,a0\nmv a0,t0\n"
#define BY_MEMORY    "sd sp,0(a0)\nld sp,0(a1)\n"
#define BY_VALUE     "sd sp,0(a0)\nmv sp,a1\n"
#define RETURN       "ret\n"
#define JUMP         "mv t1,ra\njr t1\n"
#define CALL_STARTED "call k_started\n"
enum { FRAME = 14, PC = 12 };
#endif
#define ASM(name, body)                                                                            \
    __asm__(".text\n.balign 16\n.globl " #name "\n.type " #name TYPE #name ":\n" body              \
            ".size " #name ",.-" #name "\n")
ASM(k_swR, SAVE BY_REGISTER RESTORE RETURN);
ASM(k_swr, SAVE BY_REGISTER RESTORE JUMP);
ASM(k_swM, SAVE BY_MEMORY RESTORE RETURN);
ASM(k_swm, SAVE BY_MEMORY RESTORE JUMP);
ASM(k_swV, SAVE BY_VALUE RESTORE RETURN);
ASM(k_enter_coroutine, CALL_STARTED);

enum { COROUTINES = 4, MAIN = 0, TURNS = 20 };
static const char ways[] = "RrMmV";
static char stacks[sizeof ways - 1][COROUTINES + 1][STACK_SIZE]
    __attribute__((aligned(STACK_SIZE)));
static word at[COROUTINES + 1]; /* of all that are suspended, the main one included */
static word now, left;          /* left: who has switched last */
static char how;

OWN static void leaf(void)
{
    CALLED(leaf);
}

/* From the running one to another. */
OWN static void go(word to)
{
    CALLED(go);
    word from = now;
    now = to;
    switch (how) {
    case 'R':
    case 'r': {
        left = from;
        word sp = how == 'R' ? k_swR(at[to]) : k_swr(at[to]);
        at[left] = sp;
        break;
    }
    case 'M':
        k_swM(&at[from], &at[to]);
        break;
    case 'm':
        k_swm(&at[from], &at[to]);
        break;
    default:
        k_swV(&at[from], at[to]);
    }
    leaf();
}

OWN static void nested(word depth, word to)
{
    CALLED(nested);
    if (depth)
        nested(depth - 1, to);
    else
        go(to);
    leaf();
}

OWN static void body(void)
{
    CALLED(body);
    for (word round = 0;; round++) {
        leaf();
        nested(now % 3, MAIN);
        word other = 1 + (now + round) % COROUTINES;
        nested(2, other == now ? MAIN : other);
    }
}

OWN void k_started(word from)
{
    if (how == 'R' || how == 'r')
        at[left] = from;
    body();
}

OWN static void create(word i, char *stack)
{
    CALLED(create);
    word *frame = (word *)(stack + STACK_SIZE) - FRAME;
    k_log_new("coroutine", stack);
    frame[PC] = (word)k_enter_coroutine;
    at[i] = (word)frame;
}

OWN void run(void)
{
    CALLED(run);
    for (unsigned way = 0; way < sizeof ways - 1; way++) {
        how = ways[way];
        for (word i = 1; i <= COROUTINES; i++)
            create(i, stacks[way][i]);
        for (word n = 0; n < TURNS; n++)
            go(1 + (5 * n * n + n) % COROUTINES);
        leaf();
    }
}
