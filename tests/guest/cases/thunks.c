/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Returns and indirect calls as compilers and kernels write them against speculation: what is
 * called there is no function, and what returns there may be a jump. gcc's thunks, and its returns
 * inline; clang's retpolines of x86_64; a kernel's safe-ret; calls that fill the return predictor;
 * a tracer's function that returns in another's place (ftrace's return_to_handler).
 *
 * arches: x86_64
 * flags: -fcf-protection=none -mindirect-branch-register
 */
#include "guest.h"

#define TRAP    "pause; lfence; jmp 9b\n"
#define OUTSIDE __attribute__((indirect_branch("thunk"), function_return("thunk")))
#define INSIDE  __attribute__((function_return("thunk-inline")))
#define ASM(name, text)                                                                            \
    __asm__(".globl " name "; .type " name ",@function\n" name ":\n" text ".size " name            \
            ", .-" name "\n")

int (*volatile to)(int);

F OUTSIDE static int leaf(int a)
{
    WORK();
    return a + 1;
}

F OUTSIDE static int outside(int a)
{
    return to(a) + to(a);
}

F INSIDE static int deep(int a)
{
    WORK();
    return a ? deep(a - 1) + 1 : to(a);
}

F INSIDE static int computed(int a)
{
    static void *const labels[] = {&&add, &&call, &&end};
    int at = 0;
    goto *labels[at];
add:
    a++;
    goto *labels[++at];
call:
    a += to(a);
    goto *labels[++at];
end:
    return a;
}

int clang_retpoline(int a), safe_returned(int a), filled(int a), hooked(int a), after_hook(int a);
F int plain(int a)
{
    WORK();
    return a;
}

ASM("retpoline_r11", "call 1f\n9: " TRAP ".balign 16\n1: mov %r11,(%rsp)\nret\n");
ASM("clang_retpoline", "push %rax\nlea plain(%rip),%r11\ncall retpoline_r11\npop %rcx\n"
                       "lea plain(%rip),%r11\njmp retpoline_r11\n");
ASM("safe_ret", "lea 8(%rsp),%rsp\nret\nint3\n");
ASM("safe_thunk", "call safe_ret\nud2\n");
ASM("safe_returned", "push %rax\ncall plain\npop %rcx\njmp safe_thunk\n");
ASM("filled", "call 1f\nint3\n1: call 2f\nint3\n2: add $16,%rsp\ncall plain\nret\n");
/* Its return address is replaced; the hook puts the true one back. */
ASM("hooked", "mov (%rsp),%rax\nmov %rax,kept(%rip)\nlea after_hook(%rip),%rax\nmov %rax,(%rsp)\n"
              "push %rdi\ncall plain\npop %rdi\nret\n");
ASM("after_hook",
    "push %rax\npush %rax\ncall plain\npop %rax\npop %rax\nmov kept(%rip),%rdi\ncall 1f\nint3\n"
    "1: mov %rdi,(%rsp)\nret\n");
__asm__(".local kept; .comm kept,8,8");

int main(void)
{
    to = leaf;
    int sum = outside(1) + deep(2) + computed(3);
    sum += clang_retpoline(1) + safe_returned(2) + filled(3) + hooked(5) + plain(6);
    return sum == 0;
}

/* calls:
main
  outside
    __x86_indirect_thunk_rax
    leaf
    __x86_return_thunk
    __x86_indirect_thunk_rax
    leaf
    __x86_return_thunk
  __x86_return_thunk
  deep
    deep
      deep
        leaf
        __x86_return_thunk
  computed
    leaf
    __x86_return_thunk
  clang_retpoline
    retpoline_r11
    plain
  retpoline_r11
  plain
  safe_returned
    plain
  safe_thunk
  filled
    plain
  hooked
    plain
  after_hook
    plain
  plain
 */
