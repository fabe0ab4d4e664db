/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All ways in and out of functions in one thread, the same in every run: recursion, longjmp, tail
 * calls, signal handlers, contexts, a library that is loaded several times. argv[1]: the library;
 * none: it loads nothing, and may be static. */
#ifndef STATIC
#include <dlfcn.h>
#endif
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>

static volatile int sink;
static jmp_buf back;
static ucontext_t one, two;

__attribute__((noinline)) static void tiny(void)
{
    sink++;
}

__attribute__((noinline)) static void spin(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) static int fib(int n)
{
    tiny();
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static void jump_out(int n)
{
    spin(n);
    if (n > 0)
        jump_out(n - 1);
    longjmp(back, 1);
}

__attribute__((noinline)) static void jump_back(int n)
{
    tiny();
    if (!setjmp(back))
        jump_out(n);
    spin(5);
}

__attribute__((noinline, optimize("optimize-sibling-calls"))) static void tail_two(int n)
{
    sink += n;
    spin(n);
}

__attribute__((noinline, optimize("optimize-sibling-calls"))) static void tail_one(int n)
{
    sink -= n;
    tail_two(n + 1);
}

__attribute__((noinline)) static void in_handler(int n)
{
    spin(n);
}

static void on_signal(int number)
{
    in_handler(number);
    tiny();
}

__attribute__((noinline)) static void send_signal(void)
{
    raise(SIGUSR1);
    tiny();
}

__attribute__((noinline)) static void yield_to_main(void)
{
    tiny();
    swapcontext(&two, &one);
}

static void context_main(void)
{
    for (;;) {
        fib(2);
        yield_to_main();
    }
}

__attribute__((noinline)) static void run_context(int n)
{
    static char stack[1 << 16];
    getcontext(&two);
    two.uc_stack.ss_sp = stack;
    two.uc_stack.ss_size = sizeof stack;
    two.uc_link = NULL;
    makecontext(&two, context_main, 0);
    for (int i = 0; i < n; i++) {
        tiny();
        swapcontext(&one, &two);
    }
}

__attribute__((noinline)) static void load_and_call(const char *path, int n)
{
#ifndef STATIC
    void *library = dlopen(path, RTLD_NOW);
    void (*function)(int) = library ? (void (*)(int))dlsym(library, "library_work") : NULL;
    if (!function)
        exit(2);
    function(n);
    dlclose(library);
#else
    (void)path, (void)n;
#endif
}

__attribute__((noinline)) static void do_all(int n, const char *library)
{
    fib(n % 5);
    jump_back(n % 3);
    tail_one(n);
    if (n % 2)
        send_signal();
    if (library && n % 3 == 0)
        load_and_call(library, n);
}

int main(int argc, char **argv)
{
    signal(SIGUSR1, on_signal);
    for (int i = 0; i < 7; i++)
        do_all(i, argc > 1 ? argv[1] : NULL);
    run_context(3);
    return 0;
}
