/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Returns that are written as jumps, to the caller and to outer frames: out of a leaf, out of a
 * function that calls itself, through replaced return addresses, past the callers in between, and
 * in another block than the return address was loaded in.
 *
 * calls: 240
 * allow: missed-return
 */
#include "kernel.h"

enum { TURNS = 50, DEEP = 4 };

#define ASM(name, body)                                                                            \
    void name(void);                                                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ",%function\n" #name ":\n" body ".size " #name \
            ",.-" #name "\n")

#define ALIGN __asm__(".text\n.balign 16\n") /* what is logged */

OWN void leaf(void)
{
    CALLED(leaf);
}

/* jumps() logs jump_later. Names of the library are in no log: what they call is their callers'.
 * k_leave_two returns past the function that calls it, whose frame is two words. */
#if defined(__x86_64__)
#undef ASM
#define ASM(name, body)                                                                            \
    void name(void);                                                                               \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body ".size " #name \
            ",.-" #name "\n")
ASM(k_jump_leaf, "pop %rcx\njmp *%rcx\n");
ASM(k_jump_caller, "sub $8,%rsp\ncall leaf\nadd $8,%rsp\npop %rcx\njmp *%rcx\n");
ALIGN;
ASM(jump_later, "sub $8,%rsp\ncall leaf\nadd $8,%rsp\npop %rcx\ntest %rcx,%rcx\njz 1f\n"
                "jmp *%rcx\n1: ud2\n");
ASM(k_call_past, "sub $8,%rsp\ncall k_leave_two\nud2\n");
ASM(k_leave_two, "sub $8,%rsp\ncall leaf\nadd $24,%rsp\npop %rcx\njmp *%rcx\n");
#elif defined(__aarch64__)
ASM(k_jump_leaf, "mov x9,x30\nbr x9\n");
ASM(k_jump_caller, "stp x29,x30,[sp,-16]!\nbl leaf\nldp x29,x9,[sp],16\nbr x9\n");
ALIGN;
ASM(jump_later,
    "stp x29,x30,[sp,-16]!\nbl leaf\nldp x29,x9,[sp],16\ncbz x9,1f\nbr x9\n1: brk #1\n");
__asm__(".text\n.balign 256\n.space 128\n"); /* as a vector may be, not at a page's beginning */
ASM(k_back_again, "stp x0,x1,[sp,-16]!\nbl hook\nmov x9,x0\nldp x0,x1,[sp],16\nbr x9\n");
ASM(k_call_past, "stp x29,x30,[sp,-16]!\nbl k_leave_two\nbrk #1\n");
ASM(k_leave_two, "stp x29,x30,[sp,-16]!\nbl leaf\nadd sp,sp,16\nldp x29,x30,[sp],16\nbr x30\n");
#else
ASM(k_jump_leaf, "mv t1,ra\njr t1\n");
ASM(k_jump_caller, "addi sp,sp,-16\nsd ra,0(sp)\ncall leaf\nld t1,0(sp)\naddi sp,sp,16\njr t1\n");
ALIGN; /* as a vector may be, too */
ASM(k_back_again, "addi sp,sp,-16\nsd a0,0(sp)\ncall hook\nmv t1,a0\nld a0,0(sp)\naddi sp,sp,16\n"
                  "jr t1\n");
ASM(k_call_past, "addi sp,sp,-16\nsd ra,0(sp)\ncall k_leave_two\nebreak\n");
ASM(k_leave_two, "addi sp,sp,-16\nsd ra,0(sp)\ncall leaf\nld t1,16(sp)\naddi sp,sp,32\njr t1\n");
ALIGN;
ASM(jump_later, "addi sp,sp,-16\nsd ra,0(sp)\ncall leaf\nld t1,0(sp)\naddi sp,sp,16\nbeqz t1,1f\n"
                "jr t1\n1: ebreak\n");
#endif

/* Without symbols a PC's code that no call leads to is no function: there its replaced address is
 * reported as an unknown return. */
#if defined(__x86_64__)
static void hook_some(int turn)
{
    (void)turn;
}
#else
static word replaced[2 * DEEP];
static int n_replaced;

OWN word hook(void)
{
    CALLED(hook);
    leaf();
    return replaced[--n_replaced];
}

OWN word hooked(int n)
{
    CALLED(hooked);
#if defined(__riscv)
    word *slot = (word *)__builtin_frame_address(0) - 1;
#else
    word *slot = (word *)__builtin_frame_address(0) + 1;
#endif
    replaced[n_replaced++] = *slot;
    *slot = (word)k_back_again;
    word r = n ? hooked(n - 1) : 0;
    leaf();
    return r + 1;
}

static void hook_some(int turn)
{
    if (hooked(DEEP - 1) != DEEP)
        k_panic("hooked", (word)turn);
}
#endif

OWN static void jumps(void)
{
    CALLED(jumps);
    k_jump_caller();
    leaf();
    k_jump_leaf();
    k_enter(jump_later);
    jump_later();
    k_leave();
    leaf();
    k_call_past();
    leaf();
}

OWN void run(void)
{
    CALLED(run);
    for (int i = 0; i < TURNS; i++) {
        jumps();
        hook_some(i);
    }
}
