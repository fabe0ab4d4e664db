/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that fill the CPU's return predictor, in the forms that kernels have: none of them calls a
 * function. Traps of several kinds and sizes; addresses that are dropped at once, in pairs, after
 * 16 calls, after a loop; at each place about the end of a page.
 *
 * arches: x86_64
 * flags: -fcf-protection=none
 */
#include "guest.h"

#define OVER(trap, n) "call " #n "f\n9: " trap #n ":\n"
#define INT3          "int3\n"
#define PAUSE         "pause; lfence; jmp 9b\n"
#define UD2           "ud2; nopw 0(%rax,%rax,1)\n"
#define FAR_APART     INT3 ".balign 64, 0xcc\n"
#define ASM(name, text)                                                                            \
    __asm__(".globl " name "; .type " name ",@function\n" name ":\n" text ".size " name            \
            ", .-" name "\n")

F int plain(int a)
{
    WORK();
    return a;
}

ASM("one", OVER(INT3, 1) "add $8,%rsp\nlfence\njmp plain\n");
ASM("two_pause", OVER(PAUSE, 1) OVER(PAUSE, 2) "add $16,%rsp\ncall plain\nret\n");
ASM("two_ud2", OVER(UD2, 1) OVER(UD2, 2) "lea 16(%rsp),%rsp\ncall plain\nret\n");
ASM("two_apart", OVER(FAR_APART, 1) OVER(FAR_APART, 2) "add $16,%rsp\ncall plain\nret\n");
ASM("looped", "mov $16,%ecx\n3: " OVER(INT3, 1)
                  OVER(INT3, 2) "add $16,%rsp\ndec %ecx\njnz 3b\nlfence\ncall plain\nret\n");
/* The addresses stay until the loop has ended. */
ASM("looped_kept", "mov $16,%ecx\n3: " OVER(PAUSE, 1)
                       OVER(PAUSE, 2) "dec %ecx\njnz 3b\nadd $256,%rsp\ncall plain\nret\n");
ASM("sixteen", ".rept 16\n" OVER(INT3, 1) ".endr\nadd $128,%rsp\ncall plain\nret\n");
ASM("restored",
    "mov %rsp,%rbx\n.rept 32\n" OVER(PAUSE, 1) ".endr\nmov %rbx,%rsp\ncall plain\nret\n");
/* A function of its own in the middle of another one, and one that begins with a call over a trap.
 */
ASM("with_inner", "call 4f\ncall plain\nret\n4: push %rax\n" OVER(INT3, 1)
                      OVER(INT3, 2) "add $16,%rsp\ncall plain\npop %rax\nret\n");
ASM("begins_so", OVER(INT3, 1) OVER(INT3, 2) "add $16,%rsp\ncall plain\nret\n");
ASM("jumps_there", "call plain\njmp begins_so\n");

/* They begin N bytes before the end of a page. */
#define AT_PAGE_END(name, trap, numbers)                                                           \
    __asm__(".irp n," numbers "\n.balign 4096\n.skip 4096-\\n\n.type " name                        \
            "\\n,@function\n.globl " name "\\n\n" name "\\n:\n" OVER(trap, 1)                      \
                OVER(trap, 2) "add $16,%rsp\njmp plain\n.size " name "\\n,.-" name "\\n\n.endr\n")
#define SHORT "1,2,3,4,5,6,7,8,9,10,11,12"
#define LONG  "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27"
AT_PAGE_END("short_", INT3, SHORT);
AT_PAGE_END("long_", PAUSE, LONG);
__asm__(".section .data\n.balign 8\nplaces:\n.irp n," SHORT "\n.quad short_\\n\n.endr\n.irp n," LONG
        "\n.quad long_\\n\n.endr\n.quad 0\n.text\n");

int one(int a), two_pause(int a), two_ud2(int a), two_apart(int a), looped(int a),
    looped_kept(int a), sixteen(int a), restored(int a), with_inner(int a), begins_so(int a),
    jumps_there(int a);
extern int (*places[])(int);

int main(void)
{
    register long kept __asm__("rbx") = 1; /* restored uses it */
    __asm__ volatile("" : "+r"(kept) : : "memory");
    one(1), two_pause(1), two_ud2(1), two_apart(1), looped(1), looped_kept(1);
    sixteen(1), with_inner(1), begins_so(1), jumps_there(1);
    for (int i = 0; places[i]; i++)
        places[i](i);
    __asm__ volatile("call restored" : : : "rax", "rbx", "rcx", "rdi", "memory");
    return 0;
}

/* calls:
main
  one
  plain
  two_pause
    plain
  two_ud2
    plain
  two_apart
    plain
  looped
    plain
  looped_kept
    plain
  sixteen
    plain
  with_inner
    with_inner
      plain
    plain
  begins_so
    plain
  jumps_there
    plain
  begins_so
    plain
  short_1
  plain
  short_2
  plain
  short_3
  plain
  short_4
  plain
  short_5
  plain
  short_6
  plain
  short_7
  plain
  short_8
  plain
  short_9
  plain
  short_10
  plain
  short_11
  plain
  short_12
  plain
  long_1
  plain
  long_2
  plain
  long_3
  plain
  long_4
  plain
  long_5
  plain
  long_6
  plain
  long_7
  plain
  long_8
  plain
  long_9
  plain
  long_10
  plain
  long_11
  plain
  long_12
  plain
  long_13
  plain
  long_14
  plain
  long_15
  plain
  long_16
  plain
  long_17
  plain
  long_18
  plain
  long_19
  plain
  long_20
  plain
  long_21
  plain
  long_22
  plain
  long_23
  plain
  long_24
  plain
  long_25
  plain
  long_26
  plain
  long_27
  plain
  restored
    plain
 */
