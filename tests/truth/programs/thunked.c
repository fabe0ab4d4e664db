/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Indirect calls and jumps of all kinds, and returns, for compilers that write them against
 * speculation: by pointers in registers and in memory, tail calls, a switch and a computed goto, a
 * library that calls back, longjmp. With EXTERNAL the thunks that compilers expect elsewhere, as
 * kernels have them.
 */
#include <setjmp.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

typedef int function(int);
struct operations {
    function *first;
    void *apart[3];
    function *second;
};

static volatile int done;
static function *volatile table[4];
static jmp_buf env;

OWN int add(int a)
{
    done += a;
    return a + 1;
}

OWN int twice(int a)
{
    done += a;
    return a * 2;
}

OWN int by_pointer(int a)
{
    return table[0](a) + 1;
}

OWN int tail(int a)
{
    done++;
    return table[1](a);
}

/* Nothing but a jump. */
OWN int tail_only(int a, function *to)
{
    return to(a);
}

OWN int by_members(struct operations *o, int a)
{
    return o->first(a) + o->second(a + 1);
}

OWN int nested(int a)
{
    return a ? nested(a - 1) + table[a & 3](a) : 0;
}

OWN int switched(int a)
{
    switch (a) {
    case 0:
        return add(1);
    case 1:
        return twice(2);
    case 2:
        done = 3;
        return 3;
    case 3:
        done = 4;
        return add(4);
    case 4:
        return twice(1) + add(2);
    case 5:
        done = 9;
        return 1;
    default:
        return 0;
    }
}

OWN int computed(int a)
{
    static void *const labels[] = {&&one, &&two, &&three};
    goto *labels[a];
one:
    done++;
    return add(a) - 1;
two:
    done += 2;
    return twice(a) - 1;
three:
    return 5;
}

OWN int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

OWN int sorted(void)
{
    int values[] = {5, 3, 4, 1, 2, 0};
    qsort(values, 6, sizeof values[0], compare);
    return values[2];
}

OWN int thrower(int a)
{
    if (a == 2)
        longjmp(env, 1);
    return table[0](a);
}

OWN int catcher(void)
{
    if (setjmp(env) == 0)
        return thrower(0) + thrower(2);
    return add(1);
}

int main(void)
{
    table[0] = add;
    table[1] = twice;
    table[2] = by_pointer;
    table[3] = tail;
    struct operations o = {.first = by_pointer, .second = tail};
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += table[i & 3](i);
    sum += by_members(&o, 2) + nested(7) + tail(3) + tail_only(1, add);
    for (int i = 0; i < 7; i++)
        sum += switched(i);
    for (int i = 0; i < 3; i++)
        sum += computed(i);
    sum += sorted() + catcher();
    return sum == 0;
}

#ifdef EXTERNAL
#define THUNK(name, text)                                                                          \
    __asm__(".text\n.balign 32, 0xcc\n.globl " name "\n.type " name ",@function\n" name ":\n" text \
            ".size " name ", .-" name "\n")
#define INDIRECT(reg)                                                                              \
    THUNK("__x86_indirect_thunk_" #reg, "call 1f\nint3\n1: mov %" #reg ",(%rsp)\n" EXTERNAL)

#define RETURNS "ret\nint3\n"              /* a plain one */
#define BY_JUMP "jmp __x86_return_thunk\n" /* patched in */

INDIRECT(rax);
INDIRECT(rbx);
INDIRECT(rcx);
INDIRECT(rdx);
INDIRECT(rsi);
INDIRECT(rdi);
INDIRECT(rbp);
INDIRECT(r8);
INDIRECT(r9);
INDIRECT(r10);
INDIRECT(r11);
INDIRECT(r12);
INDIRECT(r13);
INDIRECT(r14);
INDIRECT(r15);
#ifdef SAFE /* its return is called, and drops that call */
THUNK("safe_ret", "lea 8(%rsp),%rsp\nret\nint3\nlfence\n");
THUNK("__x86_return_thunk", "call safe_ret\nud2\n");
#elif defined STUFFED
THUNK("__x86_return_thunk", "shlq $5,depth(%rip)\njz 2f\nret\nint3\n2: .rept 16\ncall 3f\nint3\n"
                            "3:\n.endr\nadd $128,%rsp\nmovq $-1,depth(%rip)\nret\nint3\n");
__asm__(".local depth\n.comm depth,8,8\n");
#else
THUNK("__x86_return_thunk", "ret\nint3\n");
#endif
#endif
