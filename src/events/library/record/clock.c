/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The clock of records: see clock.h. */
#include "events/library/record/clock.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum {
    SHORTEST_NS = 1000 * 1000, /* of intervals whose rate is believed */
    READINGS = 3,
};
static const uint64_t longest_ns = 100ull * 1000 * 1000 * 1000;

static bool usable;           /* the kernel's clock is the time stamp counter */
static _Atomic uint64_t rate; /* the last that any thread found; 0: none yet */
static uint64_t first_ticks, first_ns;

/* The pair that took the shortest time to read. */
static void read_both(uint64_t *ticks, uint64_t *ns)
{
    uint64_t best = UINT64_MAX;
    for (int i = 0; i < READINGS; i++) {
        uint64_t before = gt_events_ticks(), now = gt_events_system_clock();
        uint64_t took = gt_events_ticks() - before;
        if (took < best) {
            best = took;
            *ticks = before + took / 2;
            *ns = now;
        }
    }
}

static void __attribute__((constructor(140))) look(void)
{
#if GT_EVENTS_TSC
    char name[16] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    usable = n == 4 && memcmp(name, "tsc\n", 4) == 0;
    if (usable)
        read_both(&first_ticks, &first_ns);
#endif
}

static uint64_t rate_between(uint64_t ticks, uint64_t ns)
{
    if (!ticks || ns < SHORTEST_NS || ns > longest_ns)
        return 0;
    return (uint64_t)(((unsigned __int128)ns << 32) / ticks);
}

/* The rate since this thread's last reading, else the known rate, else since the start. */
static uint64_t find_rate(const struct gt_events_clock *c, uint64_t ticks, uint64_t ns)
{
    uint64_t found = c->true_ticks ? rate_between(ticks - c->true_ticks, ns - c->true_ns) : 0;
    if (!found)
        found = atomic_load_explicit(&rate, memory_order_relaxed);
    if (!found)
        found = rate_between(ticks - first_ticks, ns - first_ns);
    if (found)
        atomic_store_explicit(&rate, found, memory_order_relaxed);
    return found;
}

/* A thread that is ahead of the clock goes slower until the next reading. The ticks for which the
 * reading is good. */
static uint64_t start_from(struct gt_events_clock *c, uint64_t ticks, uint64_t ns, uint64_t found)
{
    uint64_t ahead = c->last > ns ? c->last - ns : 0;
    if (ahead > GT_EVENTS_CLOCK_STALE_NS / 2)
        ahead = GT_EVENTS_CLOCK_STALE_NS / 2;
    c->ticks = c->true_ticks = ticks;
    c->true_ns = ns;
    c->ns = ns + ahead;
    c->rate = found - (uint64_t)((unsigned __int128)found * ahead / GT_EVENTS_CLOCK_STALE_NS);
    return (uint64_t)(((unsigned __int128)GT_EVENTS_CLOCK_STALE_NS << 32) / found);
}

uint64_t gt_events_clock_slow(struct gt_events_clock *c, bool nested)
{
    uint64_t ticks = 0, ns = gt_events_system_clock();
    if (!usable || nested)
        return ns;
    if (!atomic_load_explicit(&rate, memory_order_relaxed) && ns - first_ns < SHORTEST_NS)
        return ns;
    read_both(&ticks, &ns);
    uint64_t found = find_rate(c, ticks, ns);
    if (!found)
        return ns;
    c->stale = 0; /* a signal handler does not use a reading that is half new */
    atomic_signal_fence(memory_order_seq_cst);
    uint64_t stale = start_from(c, ticks, ns, found);
    atomic_signal_fence(memory_order_seq_cst);
    c->stale = stale;
    return c->ns;
}
