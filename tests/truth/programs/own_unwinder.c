/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinders of its own, as runtimes of languages have them: they load the stack pointer of a
 * function that is several times on the stack. One continues at the entry of another function,
 * which returns in that one's place; the other one, which touches no stack before, in the function
 * itself. The argument says which. To be built with -O0: they restore the frame pointer only.
 */
#include "tree_log.h"

/* Calls fn(n), with where it continues in *at; 0. Or 1 where it was left by leave_to. */
long catching(void (*fn)(int), int n, void **at);
void leave_to(void *at) __attribute__((noreturn));
void leave_inside(void **at) __attribute__((noreturn)); /* *at */

#if defined __x86_64__
__asm__(".text\n.globl catching,leave_to,landing\n"
        ".type catching,@function\ncatching: push %rbp\nmov %rsp,(%rdx)\nmov %rdi,%rax\n"
        "mov %esi,%edi\ncall *%rax\nxor %eax,%eax\npop %rbp\nret\n"
        "caught: mov $1,%eax\npop %rbp\nret\n.size catching,.-catching\n"
        ".type landing,@function\nlanding: mov $1,%eax\npop %rbp\nret\n.size landing,.-landing\n"
        ".type leave_to,@function\nleave_to: push %rbx\nmov %rdi,%rsp\nmov (%rsp),%rsi\n"
        "lea landing(%rip),%rcx\njmp *%rcx\n.size leave_to,.-leave_to\n"
        ".type leave_inside,@function\nleave_inside: mov (%rdi),%rsp\n"
        "lea caught(%rip),%rcx\njmp *%rcx\n.size leave_inside,.-leave_inside\n");
#elif defined __aarch64__
__asm__(".text\n.globl catching,leave_to,landing\n"
        ".type catching,%function\ncatching: stp x29,x30,[sp,#-16]!\nmov x9,sp\nstr x9,[x2]\n"
        "mov x9,x0\nmov w0,w1\nblr x9\nmov x0,#0\nldp x29,x30,[sp],#16\nret\n"
        "caught: mov x0,#1\nldp x29,x30,[sp],#16\nret\n"
        ".size catching,.-catching\n"
        ".type landing,%function\nlanding: mov x0,#1\nldp x29,x30,[sp],#16\nret\n"
        ".size landing,.-landing\n"
        ".type leave_to,%function\nleave_to: str x19,[sp,#-16]!\nmov sp,x0\nldr x1,[sp]\n"
        "adr x9,landing\nbr x9\n.size leave_to,.-leave_to\n"
        ".type leave_inside,%function\nleave_inside: ldr x9,[x0]\nmov sp,x9\nldr x1,[sp]\n"
        "adr x9,caught\nbr x9\n.size leave_inside,.-leave_inside\n");
#else
__asm__(
    ".text\n.globl catching,leave_to,landing\n"
    ".type catching,@function\ncatching: addi sp,sp,-16\nsd ra,8(sp)\nsd s0,0(sp)\nsd sp,0(a2)\n"
    "mv t1,a0\nmv a0,a1\njalr t1\nli a0,0\nld s0,0(sp)\nld ra,8(sp)\naddi sp,sp,16\nret\n"
    "caught: li a0,1\nld s0,0(sp)\nld ra,8(sp)\naddi sp,sp,16\nret\n"
    ".size catching,.-catching\n"
    ".type landing,@function\nlanding: li a0,1\nld s0,0(sp)\nld ra,8(sp)\naddi sp,sp,16\nret\n"
    ".size landing,.-landing\n"
    ".type leave_to,@function\nleave_to: addi sp,sp,-16\nsd s1,0(sp)\nmv sp,a0\n"
    "ld a1,0(sp)\nlla t1,landing\njr t1\n.size leave_to,.-leave_to\n"
    ".type leave_inside,@function\nleave_inside: ld sp,0(a0)\n"
    "lla t1,caught\njr t1\n.size leave_inside,.-leave_inside\n");
#endif

static void *places[16];
static int depths[16];
static volatile int leave_at, inside;

F static void leaf(void)
{
    ENTER();
    LEAVE();
}

static void deeper(int n);

/* Not inlined into itself; each level may be left for any outer one. */
F static void try_deeper(int n)
{
    ENTER();
    depths[n] = log_depth[0];
    if (catching(deeper, n, &places[n]))
        log_depth[0] = depths[n];
    leaf();
    LEAVE();
}

F static void deeper(int n)
{
    ENTER();
    leaf();
    if (n > 0)
        try_deeper(n - 1);
    else if (inside)
        leave_inside(&places[leave_at]);
    else
        leave_to(places[leave_at]);
    leaf();
    LEAVE();
}

int main(int argc, char **argv)
{
    inside = argc > 1 && argv[1][0] == 'i';
    ENTER();
    for (int i = 0; i < 40; i++) {
        leave_at = i % 6;
        try_deeper(5);
    }
    leaf();
    LEAVE();
    PRINT_LOG()
    return 0;
}
