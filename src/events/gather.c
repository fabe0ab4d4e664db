/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * See gather.h. One lock guards the buffer and the writing, so that the order is kept. It knows its
 * owner: a handler that interrupts the owner only adds to the buffer, and says so in `due`.
 */
#include "events/gather.h"
#include "events/futex.h"
#include "events/thread.h"

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    AT_ONCE = 16, /* lines of one tick of the kernel's coarse clock, 1 to 10 ms */
    SPINS = 100,
    QUIET_PERIODS = 20, /* then the next gathered line has to wake the thread */
    LAST_WORDS_MS = 1000,
};
#define WAITERS (UINT32_C(1) << 31)
#define SECOND  (UINT32_C(1) << 31)

static _Atomic uint32_t owner; /* a futex: the lock. 0, or a thread's id, and WAITERS */
static _Atomic bool gathers;
static int file;                    /* the descriptor */
static char bytes[2][2 * PIPE_BUF]; /* one half is filled while the other is written; the second
                                       PIPE_BUF of each is for handlers */
static _Atomic uint32_t filled;     /* bytes of a half, and SECOND: which */
static _Atomic uint32_t whole;      /* the same, without what is being added */
static _Atomic bool due;
static bool torn; /* the file ends within a line */
static struct timespec tick;
static int of_tick; /* lines that were written at once in it */

static bool runs;               /* the thread does; the registry's lock */
static _Atomic uint32_t bell;   /* a futex: 1 when it has been rung */
static _Atomic uint32_t sleeps; /* the thread waits for the bell alone */

static __thread __attribute__((tls_model("initial-exec"))) uint32_t thread; /* 0: not asked yet */

uint32_t gt_events_thread_id(void)
{
    if (!thread)
        thread = (uint32_t)syscall(SYS_gettid);
    return thread;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

enum taken { TAKEN, NESTED, BUSY };

/* NESTED: the calling thread has it already. BUSY: not to be had for so long; not if negative. */
static enum taken take(int ms)
{
    uint32_t me = gt_events_thread_id(), now;
    for (int i = 0; i < SPINS; i++) {
        now = 0;
        if (atomic_compare_exchange_strong_explicit(&owner, &now, me, memory_order_acquire,
                                                    memory_order_relaxed))
            return TAKEN;
        if ((now & ~WAITERS) == me)
            return NESTED;
        pause_briefly();
    }
    for (;;) {
        now = 0;
        if (atomic_compare_exchange_strong(&owner, &now, me | WAITERS))
            return TAKEN;
        if (!(now & WAITERS) && !atomic_compare_exchange_strong(&owner, &now, now | WAITERS))
            continue;
        if (!gt_events_futex_wait(&owner, now | WAITERS, ms))
            return BUSY;
    }
}

/* As many lines as a pipe takes at once. */
static size_t piece(const char *at, size_t size)
{
    const char *last = size > PIPE_BUF ? memrchr(at, '\n', PIPE_BUF) : NULL;
    return last ? (size_t)(last + 1 - at) : size;
}

/* A line that the file ends within stays one of its own. */
static void write_lines(const char *at, size_t size)
{
    if (torn && syscall(SYS_write, file, "\n", 1) == 1)
        torn = false;
    while (size) {
        size_t n = piece(at, size), left = gt_events_log_write(file, at, n);
        if (left && left < n)
            torn = at[n - left - 1] != '\n';
        at += n;
        size -= n;
    }
}

/* Handlers add to the other half meanwhile, and say so. */
static void write_gathered(void)
{
    uint32_t now = atomic_load_explicit(&filled, memory_order_relaxed), other;
    do {
        other = ~now & SECOND;
        if (!(now & ~SECOND))
            return;
    } while (!atomic_compare_exchange_weak(&filled, &now, other));
    atomic_store_explicit(&whole, other, memory_order_relaxed);
    write_lines(bytes[now / SECOND], now & ~SECOND);
}

/* Looks for what handlers added, once more when they can take the lock themselves. */
static void leave(void)
{
    do {
        if (atomic_load_explicit(&due, memory_order_relaxed)) {
            atomic_store_explicit(&due, false, memory_order_relaxed);
            write_gathered();
        }
        if (atomic_exchange_explicit(&owner, 0, memory_order_release) & WAITERS)
            gt_events_futex_wake_one(&owner);
    } while (atomic_load_explicit(&due, memory_order_relaxed) && take(-1) == TAKEN);
}

static bool append(const char *line, size_t size, uint32_t room)
{
    uint32_t at = atomic_load_explicit(&filled, memory_order_relaxed);
    do {
        if ((at & ~SECOND) > room || size > room - (at & ~SECOND))
            return false;
    } while (!atomic_compare_exchange_weak(&filled, &at, at + (uint32_t)size));
    memcpy(bytes[at / SECOND] + (at & ~SECOND), line, size);
    return true;
}

static bool is_rare(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    if (now.tv_nsec != tick.tv_nsec || now.tv_sec != tick.tv_sec) {
        tick = now;
        of_tick = 0;
    }
    if (of_tick == AT_ONCE)
        return false;
    of_tick++;
    return true;
}

static void ring(void)
{
    if (atomic_exchange(&bell, 1) == 0)
        gt_events_futex_wake(&bell);
}

static void add(const char *line, size_t size)
{
    if (size > PIPE_BUF) {
        write_gathered();
        write_lines(line, size);
        return;
    }
    while (!append(line, size, PIPE_BUF))
        write_gathered();
    atomic_store_explicit(&whole, atomic_load_explicit(&filled, memory_order_relaxed),
                          memory_order_relaxed);
    if (is_rare())
        write_gathered();
    else if (atomic_load(&sleeps))
        ring();
}

bool gt_events_gather_line(const char *line, size_t size)
{
    if (!atomic_load_explicit(&gathers, memory_order_relaxed))
        return false;
    if (take(-1) == NESTED) {
        bool added = append(line, size, sizeof bytes[0]);
        if (added)
            atomic_store_explicit(&due, true, memory_order_relaxed);
        return added;
    }
    bool takes = atomic_load_explicit(&gathers, memory_order_relaxed);
    if (takes)
        add(line, size);
    leave();
    return takes;
}

void gt_events_gather_flush(void)
{
    if (take(-1) == NESTED)
        return;
    write_gathered();
    leave();
}

void gt_events_gather_stop(void)
{
    if (take(-1) == NESTED)
        return;
    write_gathered();
    atomic_store(&gathers, false);
    torn = false;
    leave();
}

/* Nobody goes on with what is interrupted here: what is being written is left to be so. */
void gt_events_gather_last_words(void)
{
    if (!atomic_load(&gathers))
        return;
    enum taken taken = take(LAST_WORDS_MS);
    if (taken == TAKEN)
        write_gathered();
    uint32_t end = atomic_load(&whole);
    if (taken == NESTED && !((end ^ atomic_load(&filled)) & SECOND))
        gt_events_log_write(file, bytes[end / SECOND], end & ~SECOND);
    atomic_store(&gathers, false);
    if (taken == TAKEN)
        leave();
}

static bool any(void)
{
    return atomic_load(&filled) & ~SECOND;
}

/* Who adds a line after any() has looked sees `sleeps`. */
static void sleep_for_a_while(bool long_quiet)
{
    atomic_store(&sleeps, long_quiet);
    bool waits = long_quiet && !any();
    gt_events_futex_wait(&bell, 0, waits ? -1 : GT_TRACE_LOG_MS);
    atomic_store(&sleeps, 0);
    atomic_store(&bell, 0);
}

static void *write_late(void *unused)
{
    int quiet = 0;
    pthread_setname_np(pthread_self(), "trace-log");
    if (gt_events_thread_begin)
        gt_events_thread_begin();
    for (;;) {
        sleep_for_a_while(quiet > QUIET_PERIODS);
        quiet = any() ? 0 : quiet + 1;
        if (quiet == 0)
            gt_events_gather_flush();
    }
    return unused;
}

bool gt_events_gather_start(int fd)
{
    if (!runs)
        runs = gt_events_thread_start(write_late);
    file = fd;
    atomic_store(&gathers, runs);
    return runs;
}

/* What came before fork() stands before what the child adds. */
static void before_fork(void)
{
    if (atomic_load(&gathers))
        gt_events_gather_flush();
}

/* Other threads' lines since then are the parent's; the lock may be theirs. A child may be about to
 * exec: no thread is started before control functions are called. */
static void in_child(void)
{
    thread = 0;
    atomic_store(&owner, 0);
    atomic_store(&filled, 0);
    atomic_store(&whole, 0);
    atomic_store(&due, false);
    atomic_store(&bell, 0);
    atomic_store(&gathers, false);
    runs = false;
}

static void __attribute__((constructor(150))) prepare(void)
{
    pthread_atfork(before_fork, NULL, in_child);
}

static void __attribute__((destructor(101))) finish(void)
{
    if (atomic_load(&gathers))
        gt_events_gather_stop();
}
