/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that end in every way, in several threads with signals at any time. Each has a number of its
 * own as its first argument, and a result made of it, or none: all are printed at the end, see
 * arguments_flow_test.py. The text is made without calls, which would be most of the recording.
 */
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <sys/time.h>
#include <unistd.h>

#define KEPT __attribute__((noinline, noclone))
#define INLINE static inline __attribute__((always_inline))

namespace
{

enum { THREADS = 3, MOST = 60000 };
long rounds = 120; /* the first argument */

struct call {
    const char *name;
    long id, n, result;
    bool returned;
};

struct log {
    call calls[MOST];
    long used;
};

log logs[THREADS];
__thread log *own;
__thread long thread_number;
__thread jmp_buf back;
__thread bool jumps;

/* The next call's number, given to it by its caller. */
long number()
{
    long at = __atomic_fetch_add(&own->used, 1, __ATOMIC_RELAXED);
    return thread_number * 1000000 + at;
}

void enter(const char *name, long id, long n)
{
    call &c = own->calls[id % 1000000];
    c.name = name;
    c.id = id;
    c.n = n;
}

long leave(long id, long result)
{
    call &c = own->calls[id % 1000000];
    c.result = result;
    c.returned = true;
    return result;
}

} // namespace

extern "C" {
KEPT long leaf(long id, long n)
{
    enter("leaf", id, n);
    return leave(id, id ^ 0x5555);
}

KEPT long tail_to(long id, long n)
{
    enter("tail_to", id, n);
    leaf(number(), n);
    return leave(id, id * 3);
}

/* Its result is that of the function that it jumps to. */
KEPT __attribute__((optimize("optimize-sibling-calls"))) long tail_from(long id, long n)
{
    enter("tail_from", id, n);
    long next = number();
    leave(id, next * 3);
    return tail_to(next, n + 1);
}

KEPT long thrower(long id, long n)
{
    enter("thrower", id, n);
    if (id % 3 == 0)
        throw n;
    leaf(number(), n);
    if (id % 3 == 1)
        throw n;
    return leave(id, -id);
}

KEPT long catcher(long id, long n)
{
    long r = 1;
    enter("catcher", id, n);
    try {
        r += thrower(number(), n);
    } catch (long thrown) {
        r += leaf(number(), thrown);
    }
    return leave(id, r);
}

KEPT long jumper(long id, long n)
{
    enter("jumper", id, n);
    if (n > 0)
        return leave(id, jumper(number(), n - 1) + id);
    if (jumps)
        longjmp(back, 1);
    return leave(id, id);
}

KEPT long lander(long id, long n)
{
    enter("lander", id, n);
    if (setjmp(back) == 0)
        jumper(number(), n);
    return leave(id, id + n);
}

KEPT long handled(long id, long n)
{
    enter("handled", id, n);
    if (n == SIGUSR1)
        tail_from(number(), n);
    return leave(id, id - n);
}

KEPT long rec(long id, long n)
{
    enter("rec", id, n);
    long r = id;
    switch (n > 0 ? (id + n) % 5 : 5) {
    case 0:
        r += tail_from(number(), n);
        break;
    case 1:
        r += catcher(number(), n);
        break;
    case 2:
        jumps = n & 1;
        r += lander(number(), n % 4);
        break;
    case 3:
        raise(SIGUSR1);
        break;
    default:
        break;
    }
    if (n > 0)
        r ^= rec(number(), n - 1);
    return leave(id, r);
}
}

static void on_signal(int signal)
{
    handled(number(), signal);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static void *run(void *arg)
{
    sigset_t alarms;
    thread_number = (long)arg;
    own = &logs[thread_number];
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    if (thread_number < 2)
        pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
    for (int i = 0; i < rounds; i++)
        rec(number(), i % 6);
    pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
    return nullptr;
}

static char text[1 << 16];
static size_t filled;

INLINE void flush()
{
    for (size_t done = 0; done < filled;) {
        ssize_t n = write(1, text + done, filled - done);
        if (n <= 0)
            _exit(1);
        done += (size_t)n;
    }
    filled = 0;
}

INLINE void put(const char *s)
{
    while (*s)
        text[filled++] = *s++;
}

INLINE void put_number(long value)
{
    char digits[24];
    unsigned long rest = value < 0 ? 0UL - (unsigned long)value : (unsigned long)value;
    char *first = digits + sizeof digits - 1;
    *first = '\0';
    do
        *--first = (char)('0' + rest % 10);
    while ((rest /= 10) != 0);
    if (value < 0)
        *--first = '-';
    put(first);
}

INLINE void print(const call &c)
{
    put(c.name);
    put("(");
    put_number(c.id);
    put(", ");
    put_number(c.n);
    put(") = ");
    if (c.returned)
        put_number(c.result);
    else
        put("?");
    put("\n");
    if (filled > sizeof text - 256)
        flush();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = std::atol(argv[1]);
    pthread_t thread[THREADS];
    const struct itimerval every = {{0, 700}, {0, 700}};
    sigset_t alarms;
    signal(SIGUSR1, on_signal);
    signal(SIGALRM, on_signal);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, nullptr);
    setitimer(ITIMER_REAL, &every, nullptr);
    for (long i = 1; i < THREADS; i++)
        pthread_create(&thread[i], nullptr, run, (void *)i);
    run(nullptr);
    for (long i = 1; i < THREADS; i++)
        pthread_join(thread[i], nullptr);
    for (const log &l : logs)
        for (long i = 0; i < l.used; i++)
            print(l.calls[i]);
    flush();
    return 0;
}
