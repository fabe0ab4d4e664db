/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine that calls functions with pointers to a device whose registers change when they are
 * read, to memory that is not there, to strings, and to code that changes; and functions whose
 * stack pointer is garbage: see device_values_test.py. */

#ifdef __aarch64__
#define RETURNS(n)                                                                                 \
    {                                                                                              \
        0x52800000 | (n) << 5, 0xd65f03c0                                                          \
    } /* mov w0, n; ret */
#define AFTER_CHANGE "dsb ish; ic iallu; dsb ish; isb"
enum { DISTRIBUTOR = 0x08000000, CPU = 0x08010000, CONSOLE = 0x09000000 };

static volatile unsigned *at(unsigned long address)
{
    return (volatile unsigned *)address;
}

/* The interrupt controller's register that acknowledges an interrupt: reading it takes that. */
static void arm(void)
{
    *at(DISTRIBUTOR) = 1;
    *at(CPU) = 1;
    *at(CPU + 4) = 0xff;
    *at(DISTRIBUTOR + 0xf00) = 2 << 24 | 1; /* to this vCPU */
}

static const char *device(void)
{
    return (const char *)at(CPU + 0xc);
}

static int is_untouched(void)
{
    unsigned first = *at(CPU + 0xc), second = *at(CPU + 0xc);
    *at(CPU + 0x10) = 1; /* its end */
    return first == 1 && second == 1023;
}
#else
#define RETURNS(n)                                                                                 \
    {                                                                                              \
        0x00000513 | (n) << 20, 0x00008067                                                         \
    } /* li a0, n; ret */
#define AFTER_CHANGE "fence.i"
enum { CONSOLE = 0x10000000 };

static volatile unsigned char *at(unsigned long address)
{
    return (volatile unsigned char *)address;
}

/* The UART's register of the interrupt's cause: reading "ready to send" ends that. */
static void arm(void)
{
    *at(CONSOLE + 1) = 0;
    *at(CONSOLE + 1) = 2;
}

static const char *device(void)
{
    return (const char *)at(CONSOLE + 2);
}

static int is_untouched(void)
{
    return (*at(CONSOLE + 2) & 15) == 2 && (*at(CONSOLE + 2) & 15) == 1;
}
#endif

static volatile int sum;

__attribute__((noinline)) void text(const char *s)
{
    sum += s != 0;
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) void object(const void *s)
{
    sum += s != 0;
    __asm__ volatile("" : : : "memory");
}

__attribute__((noinline)) const char *result(const char *s)
{
    __asm__ volatile("" : : : "memory");
    return s;
}

/* on_stack's ninth argument is on the stack; call_on calls it with this stack pointer. */
void call_on(unsigned long stack);
#ifdef __aarch64__
__asm__(".type on_stack, %function; on_stack: ret; .size on_stack, . - on_stack;"
        ".type call_on, %function; call_on: stp x19, x30, [sp, #-16]!; mov x19, sp; mov sp, x0; "
        "mov x0, #7;"
        "bl on_stack; mov sp, x19; ldp x19, x30, [sp], #16; ret; .size call_on, . - call_on");
#else
__asm__(".type on_stack, %function; on_stack: ret; .size on_stack, . - on_stack;"
        ".type call_on, %function; call_on: addi sp, sp, -16; sd ra, 0(sp); sd s0, 8(sp); mv s0, "
        "sp; mv sp, a0;"
        "li a0, 7; call on_stack; mv sp, s0; ld s0, 8(sp); ld ra, 0(sp); addi sp, sp, 16; ret;"
        ".size call_on, . - call_on");
#endif

/* Code that is a text while it is changed: each change is seen by both. */
static int changes_work(void)
{
    static volatile unsigned code[3];
    const unsigned first[2] = RETURNS(1), second[2] = RETURNS(2);
    int (*volatile f)(void) = (int (*)(void))code;
    int sums = 0;
    for (int i = 0; i < 2; i++) {
        code[0] = i ? second[0] : first[0];
        code[1] = first[1];
        __asm__ volatile(AFTER_CHANGE ::: "memory");
        text((const char *)code);
        sums += f() << i * 4;
        text((const char *)code);
        sums += f() << i * 4;
    }
    return sums == 0x42;
}

static void say(const char *s)
{
    while (*s)
        *at(CONSOLE) = (unsigned char)*s++;
}

void begin(void)
{
    static char endless[5000];
    for (unsigned i = 0; i < sizeof endless; i++)
        endless[i] = 'e';
    arm();
    text(device());
    object(device());
    result(device());
    say(is_untouched() ? "untouched\n" : "touched\n");
    arm();
    say(is_untouched() ? "works\n" : "does not\n");
    call_on(0);
    call_on(0x123457);
    call_on(0xfffffffffffffffc);
    call_on(0x7000000000000000);
    say(changes_work() ? "changed\n" : "stale\n");
    text("plain");
    text(endless);
    text((const char *)0xfffffffffffffff0);
    text((const char *)0x7000000000000000);
    text((const char *)1);
}
