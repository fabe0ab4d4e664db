/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stacks switched by hand. argv[1] says how: the new stack pointer comes in a register (R, V) or is
 * loaded from memory (M), where one instruction may store or load it with another word (P, p), and
 * the switch ends in a return or a jump (r, m). Coroutines are resumed
 * in an order that is not that in which they were suspended, switch among themselves at one call
 * instruction, and are abandoned; others begin in the memory of those.
 */
#include "tree_log.h"

#include <stdlib.h>
#include <string.h>

typedef void *sp_t;
/* Return the stack pointer of who has switched here. */
sp_t swR(sp_t to), swr(sp_t to);
void swM(sp_t *from, sp_t *to), swm(sp_t *from, sp_t *to), swV(sp_t *from, sp_t to);
void swP(sp_t from[2], sp_t to[2]), swp(sp_t from[2], sp_t to[2]); /* the second word */

#if defined __x86_64__
#define TYPE         ",@function\n"
#define SAVE         "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
#define RESTORE      "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\n"
#define BY_REGISTER  "mov %rsp,%rax\nmov %rdi,%rsp\n"
#define BY_MEMORY    "mov %rsp,(%rdi)\nmov (%rsi),%rsp\n"
#define BY_VALUE     "mov %rsp,(%rdi)\nmov %rsi,%rsp\n"
#define STORE_PAIR   "mov %rsp,8(%rdi)\nmov 8(%rsi),%rsp\n"
#define LOAD_PAIR    STORE_PAIR
#define RETURN       "ret\n"
#define JUMP         "pop %rcx\njmp *%rcx\n"
#define CALL_STARTED "mov %rax,%rdi\ncall started\n"
enum { FRAME = 7, PC = 6 };
#elif defined __aarch64__
#define TYPE ",%function\n"
#define SAVE                                                                                       \
    "sub sp,sp,#112\nstp x19,x20,[sp]\nstp x21,x22,[sp,16]\nstp x23,x24,[sp,32]\n"                 \
    "stp x25,x26,[sp,48]\nstp x27,x28,[sp,64]\nstp x29,x30,[sp,80]\nmov x9,sp\n"
#define RESTORE                                                                                    \
    "ldp x19,x20,[sp]\nldp x21,x22,[sp,16]\nldp x23,x24,[sp,32]\nldp x25,x26,[sp,48]\n"            \
    "ldp x27,x28,[sp,64]\nldp x29,x30,[sp,80]\nadd sp,sp,#112\n"
#define BY_REGISTER  "mov sp,x0\nmov x0,x9\n"
#define BY_MEMORY    "str x9,[x0]\nldr x9,[x1]\nmov sp,x9\n"
#define BY_VALUE     "str x9,[x0]\nmov sp,x1\n"
#define STORE_PAIR   "stp x10,x9,[x0]\nldr x9,[x1,8]\nmov sp,x9\n"
#define LOAD_PAIR    "str x9,[x0,8]\nldp x10,x9,[x1]\nmov sp,x9\n"
#define RETURN       "ret\n"
#define JUMP         "br x30\n"
#define CALL_STARTED "bl started\n"
enum { FRAME = 14, PC = 11 };
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
#define STORE_PAIR   "sd sp,8(a0)\nld sp,8(a1)\n"
#define LOAD_PAIR    STORE_PAIR
#define RETURN       "ret\n"
#define JUMP         "mv t1,ra\njr t1\n"
#define CALL_STARTED "call started\n"
enum { FRAME = 14, PC = 12 };
#endif
#define ASM(name, body)                                                                            \
    __asm__(".text\n.globl " #name "\n.type " #name TYPE #name ":\n" body ".size " #name           \
            ",.-" #name "\n")
ASM(swR, SAVE BY_REGISTER RESTORE RETURN);
ASM(swr, SAVE BY_REGISTER RESTORE JUMP);
ASM(swM, SAVE BY_MEMORY RESTORE RETURN);
ASM(swm, SAVE BY_MEMORY RESTORE JUMP);
ASM(swV, SAVE BY_VALUE RESTORE RETURN);
ASM(swP, SAVE STORE_PAIR RESTORE RETURN);
ASM(swp, SAVE LOAD_PAIR RESTORE RETURN);
ASM(enter_coroutine, CALL_STARTED);
void enter_coroutine(void);

enum { COROUTINES = 6, SIZE = 16384, MAIN = 0 };
static char memory[COROUTINES + 1][SIZE] __attribute__((aligned(64)));
static sp_t at[COROUTINES + 1]; /* of all that are suspended, main included */
static sp_t pair[COROUTINES + 1][2];
static int id[COROUTINES + 1]; /* in the log */
static int now, ids = 1, left; /* left: who has switched last */
static char how;

F static void leaf(void)
{
    ENTER();
    LEAVE();
}

/* From the running one to another: one call instruction each for all. */
F static void go(int to)
{
    ENTER();
    int from = now;
    now = to;
    log_stack = id[to];
    switch (how) {
    case 'R':
    case 'r': {
        left = from;
        sp_t sp = how == 'R' ? swR(at[to]) : swr(at[to]);
        at[left] = sp;
        break;
    }
    case 'M':
        swM(&at[from], &at[to]);
        break;
    case 'm':
        swm(&at[from], &at[to]);
        break;
    case 'P':
        swP(pair[from], pair[to]);
        break;
    case 'p':
        swp(pair[from], pair[to]);
        break;
    default:
        swV(&at[from], at[to]);
    }
    leaf();
    LEAVE();
}

F static void step(int n)
{
    ENTER();
    while (n-- > 0)
        leaf();
    LEAVE();
}

F static void nested(int depth, int to)
{
    ENTER();
    if (depth)
        nested(depth - 1, to);
    else
        go(to);
    leaf();
    LEAVE();
}

F void body(void)
{
    ENTER();
    for (int round = 0;; round++) {
        step(now);
        nested(now % 3, MAIN);
        leaf();
        int other = 1 + (now + round) % COROUTINES;
        nested(2, other == now ? MAIN : other);
    }
}

void started(sp_t from)
{
    ENTER();
    if (how == 'R' || how == 'r')
        at[left] = from;
    body();
    abort();
}

F static void create(int i)
{
    ENTER();
    long *frame = (long *)(memory[i] + SIZE - 256 - 16 * i);
    memset(frame, 0, FRAME * sizeof *frame);
    frame[PC] = (long)enter_coroutine;
    at[i] = pair[i][1] = frame;
    id[i] = ids++;
    LEAVE();
}

int main(int argc, char **argv)
{
    ENTER();
    how = argc > 1 ? argv[1][0] : 'R';
    for (int round = 0; round < 3; round++) {
        for (int i = 1; i <= COROUTINES; i++)
            create(i);
        for (int n = 0; n < 4 * COROUTINES; n++)
            go(1 + (5 * n * n + n) % COROUTINES);
        leaf();
    }
    LEAVE();
    PRINT_LOG()
    return 0;
}
