/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Returns that are written as jumps: out of a leaf, out of functions that call themselves, and
 * through return addresses that the program has replaced, as tracers and garbage collectors do.
 */
#include "tree_log.h"

#if defined __x86_64__
#define ASM(name, body)                                                                            \
    __asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" body ".size " #name \
            ",.-" #name "\n")
#else
#define ASM(name, body)                                                                            \
    __asm__(".text\n.globl " #name "\n.type " #name ",%function\n" #name ":\n" body ".size " #name \
            ",.-" #name "\n")
#endif

F void leaf(void)
{
    ENTER();
    LEAVE();
}

void jump_leaf(void);
void jump_caller(void);
long jump_recursive(long n);
void back_again(void);

#if defined __x86_64__
ASM(jump_leaf, "pop %rcx\njmp *%rcx\n");
ASM(jump_caller, "sub $8,%rsp\ncall leaf\nadd $8,%rsp\npop %rcx\njmp *%rcx\n");
ASM(jump_recursive, "push %rbx\nmov %rdi,%rbx\ncall leaf\nxor %eax,%eax\ntest %rbx,%rbx\nje 1f\n"
                    "lea -1(%rbx),%rdi\ncall jump_recursive\ncall leaf\n"
                    "1: lea 1(%rbx),%rax\npop %rbx\npop %rdx\njmp *%rdx\n");
ASM(back_again, "push %rax\nsub $8,%rsp\ncall hook\nmov %rax,%rcx\nadd $8,%rsp\npop %rax\n"
                "jmp *%rcx\n");
#elif defined __aarch64__
ASM(jump_leaf, "mov x9,x30\nbr x9\n");
ASM(jump_caller, "stp x29,x30,[sp,-16]!\nbl leaf\nldp x29,x9,[sp],16\nbr x9\n");
ASM(jump_recursive, "stp x19,x30,[sp,-16]!\nmov x19,x0\nbl leaf\ncbz x19,1f\nsub x0,x19,#1\n"
                    "bl jump_recursive\nbl leaf\n1: add x0,x19,#1\nldp x19,x30,[sp],16\nbr x30\n");
ASM(back_again, "stp x0,x1,[sp,-16]!\nbl hook\nmov x9,x0\nldp x0,x1,[sp],16\nbr x9\n");
#else
ASM(jump_leaf, "mv t1,ra\njr t1\n");
ASM(jump_caller, "addi sp,sp,-16\nsd ra,0(sp)\ncall leaf\nld t1,0(sp)\naddi sp,sp,16\njr t1\n");
ASM(jump_recursive, "addi sp,sp,-16\nsd ra,0(sp)\nsd s1,8(sp)\nmv s1,a0\ncall leaf\nbeqz s1,1f\n"
                    "addi a0,s1,-1\ncall jump_recursive\ncall leaf\n1: addi a0,s1,1\n"
                    "ld s1,8(sp)\nld t1,0(sp)\naddi sp,sp,16\njr t1\n");
ASM(back_again, "addi sp,sp,-16\nsd a0,0(sp)\ncall hook\nmv t1,a0\nld a0,0(sp)\naddi sp,sp,16\n"
                "jr t1\n");
#endif

static long replaced[64];
static int n_replaced;

F long hook(void)
{
    ENTER();
    leaf();
    LEAVE();
    return replaced[--n_replaced];
}

F long hooked(int n)
{
#if defined __riscv
    long *slot = (long *)__builtin_frame_address(0) - 1;
#else
    long *slot = (long *)__builtin_frame_address(0) + 1;
#endif
    ENTER();
    replaced[n_replaced++] = *slot;
    *slot = (long)back_again;
    long r = n ? hooked(n - 1) : 0;
    leaf();
    LEAVE();
    return r + 1;
}

F void inner(void)
{
    ENTER();
    jump_caller();
    leaf();
    jump_leaf();
    LEAVE();
}

F void outer(void)
{
    ENTER();
    inner();
    leaf();
    if (jump_recursive(3) != 4)
        __builtin_trap();
    leaf();
    LEAVE();
}

int main(void)
{
    ENTER();
    for (int i = 0; i < 5; i++)
        outer();
    for (int i = 0; i < 5; i++)
        if (hooked(4) != 5)
            __builtin_trap();
    leaf();
    PRINT_LOG()
    return 0;
}
