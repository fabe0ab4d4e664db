/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls at three privilege levels: "top" starts the machine, "middle" asks it, "user" asks middle.
 * The expected trees are in levels_test.py. */

void leaf(void), top_main(void), top_nested(void), top_serve(long n), top_fault(void);
void middle_main(void), middle_asks(long n), middle_serve(long n);
void user_main(void), user_asks(long n), user_nested(long n);
/* start_ARCH.S */
void trap(long n), trap_top(long n), guarded_a(void), guarded_b(void);

void (*volatile pointer)(void);

#define FUNCTION __attribute__((noipa)) void

FUNCTION leaf(void)
{
    __asm__ volatile("");
}

FUNCTION top_nested(void)
{
    leaf();
}

FUNCTION top_main(void)
{
    top_nested();
    leaf();
}

FUNCTION top_serve(long n)
{
    if (n > 0)
        top_serve(n - 1);
    else
        leaf();
}

FUNCTION top_fault(void)
{
    leaf();
}

FUNCTION middle_asks(long n)
{
    trap_top(n);
    leaf();
}

FUNCTION middle_main(void)
{
    leaf();
    middle_asks(2);
}

FUNCTION middle_serve(long n)
{
    leaf();
    middle_asks(n);
}

FUNCTION user_asks(long n)
{
    trap(n);
}

FUNCTION user_nested(long n)
{
    if (n > 0)
        user_nested(n - 1);
    else
        user_asks(0);
    leaf();
}

FUNCTION user_main(void)
{
    leaf();
    user_asks(1);
    user_nested(2);
    pointer = guarded_a;
    pointer();
    guarded_b();
}
