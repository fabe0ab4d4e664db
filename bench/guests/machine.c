/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs without an operating system, for the machines "virt" of QEMU's aarch64 and riscv64: the
 * call storm, a sort with a callback, and an interpreter of byte code. Started as the kernel
 * (aarch64) or in place of the firmware (riscv64), each prints its result and powers the machine
 * off.
 *
 * Compiled with -DWORK=STORM, SORT or INTERPRETER, and -DSIZE=N.
 */
#include <stddef.h>
#include <stdint.h>

#define F __attribute__((noinline, noclone))

void start(void);
F uint64_t work(unsigned size);

#ifdef __aarch64__
#define UART ((volatile uint32_t *)0x09000000)
__asm__(".globl _start\n_start:\n"
        "    ldr x0, =0x44000000\n"
        "    mov sp, x0\n"
        "    mov x29, xzr\n"
        "    bl start\n"
        "    b .\n");

static void power_off(void)
{
    register uint64_t x0 __asm__("x0") = 0x84000008; /* PSCI: SYSTEM_OFF */
    __asm__ volatile("hvc #0" : "+r"(x0));
}
#else
#define UART ((volatile uint8_t *)0x10000000)
__asm__(".globl _start\n_start:\n"
        "    li sp, 0x84000000\n"
        "    call start\n"
        "1:  j 1b\n");

static void power_off(void)
{
    *(volatile uint32_t *)0x100000 = 0x5555; /* the test device: pass */
}
#endif

void *memset(void *to, int c, size_t n)
{
    for (char *p = to; n--; p++)
        *(volatile char *)p = (char)c;
    return to;
}

/* STORM: nothing but calls. */
F static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static uint64_t storm(unsigned size)
{
    return (uint64_t)fib((int)size);
}

/* SORT: quicksort, the comparison is a callback. */
typedef int compare_fn(const uint32_t *a, const uint32_t *b);

F static int compare(const uint32_t *a, const uint32_t *b)
{
    return (*a > *b) - (*a < *b);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t t = *a;
    *a = *b;
    *b = t;
}

F static void sort(uint32_t *a, int n, compare_fn *less)
{
    while (n > 1) {
        uint32_t pivot = a[n / 2];
        int i = 0, j = n - 1;
        for (;;) {
            while (less(&a[i], &pivot) < 0)
                i++;
            while (less(&a[j], &pivot) > 0)
                j--;
            if (i >= j)
                break;
            swap(&a[i++], &a[j--]);
        }
        sort(a, i, less);
        a += i;
        n -= i;
    }
}

static uint64_t sort_numbers(unsigned size)
{
    static uint32_t a[1 << 20];
    static compare_fn *volatile less = compare;
    uint32_t x = 1;
    for (unsigned i = 0; i < size; i++)
        a[i] = x = x * 1664525 + 1013904223;
    sort(a, (int)size, less);
    return a[size / 2];
}

/* INTERPRETER: a stack machine whose variables live in a hash table, so that some of the
 * instructions call. The program is fib() again, with a count in a variable. */
enum op { PUSH, LOCAL, LESS, JUMP_IF_NOT, ADD, SUBTRACT, CALL, RETURN, GET, SET, HALT };

struct slot {
    uint32_t key;
    int64_t value;
};

static struct slot variables[64];

F static uint32_t hash(uint32_t key)
{
    return (key * 2654435761u) >> 26;
}

F static struct slot *lookup(uint32_t key)
{
    for (uint32_t i = hash(key);; i = (i + 1) % 64) {
        if (variables[i].key == key)
            return &variables[i];
        if (variables[i].key == 0) {
            variables[i].key = key;
            return &variables[i];
        }
    }
}

F static int64_t get(uint32_t key)
{
    return lookup(key)->value;
}

F static void set(uint32_t key, int64_t value)
{
    lookup(key)->value = value;
}

enum { COUNT = 77, FIB = 6 };

static const int program[] = {
    PUSH,
    0, /* the argument, written by interpret() */
    CALL,
    FIB,
    HALT,
    0,
    /* FIB: */ LOCAL,
    PUSH,
    2,
    LESS,
    JUMP_IF_NOT,
    14,
    LOCAL,
    RETURN,
    /* 14: */ GET,
    COUNT,
    PUSH,
    1,
    ADD,
    SET,
    COUNT,
    LOCAL,
    PUSH,
    1,
    SUBTRACT,
    CALL,
    FIB,
    LOCAL,
    PUSH,
    2,
    SUBTRACT,
    CALL,
    FIB,
    ADD,
    RETURN,
};

F static int64_t interpret(const int *code, int64_t argument)
{
    static int64_t stack[4096];
    static const int *returns[1024];
    static int64_t locals[1024];
    int64_t *top = stack;
    int depth = 0;
    *top++ = argument;
    for (const int *pc = code + 2;;) {
        switch ((enum op) * pc++) {
        case PUSH:
            *top++ = *pc++;
            break;
        case LOCAL:
            *top++ = locals[depth];
            break;
        case LESS:
            top--;
            top[-1] = top[-1] < *top;
            break;
        case JUMP_IF_NOT:
            pc = *--top ? pc + 1 : code + *pc;
            break;
        case ADD:
            top--;
            top[-1] += *top;
            break;
        case SUBTRACT:
            top--;
            top[-1] -= *top;
            break;
        case GET:
            *top++ = get((uint32_t)*pc++);
            break;
        case SET:
            set((uint32_t)*pc++, *--top);
            break;
        case CALL:
            locals[++depth] = *--top;
            returns[depth] = pc + 1;
            pc = code + *pc;
            break;
        case RETURN:
            pc = returns[depth--];
            break;
        case HALT:
            return top[-1];
        }
    }
}

static uint64_t interpreter(unsigned size)
{
    return (uint64_t)interpret(program, size) + (uint64_t)get(COUNT);
}

#define STORM       storm
#define SORT        sort_numbers
#define INTERPRETER interpreter

F uint64_t work(unsigned size)
{
    (void)storm, (void)sort_numbers, (void)interpreter;
    return WORK(size);
}

F static void print(uint64_t n)
{
    if (n >= 10)
        print(n / 10);
    *UART = (unsigned char)('0' + n % 10);
}

void start(void)
{
    print(work(SIZE));
    *UART = '\n';
    power_off();
}
