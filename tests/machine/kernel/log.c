/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a kernel did, printed: a line for each lane of each log, `log NAME LANE EVENTS`, an event
 * being
 * `.` for a return or two characters for a call: six bits each of the function's address / 16, as
 * characters from '0' on. Nothing here calls anything for a character: the recording has it all.
 */
#include "kernel.h"

static struct log logs[LOGS];
static unsigned logs_used;

INLINE void put_string(const char *s)
{
    for (; *s; s++)
        k_put(*s);
}

INLINE void put_hex(word n)
{
    for (int shift = 60; shift >= 0; shift -= 4)
        k_put("0123456789abcdef"[n >> shift & 15]);
}

INLINE void put_lane(const struct log *l, unsigned lane)
{
    put_string("log ");
    put_string(l->name);
    k_put('.');
    k_put('0' + (l - logs) / 10);
    k_put('0' + (l - logs) % 10);
    k_put(' ');
    k_put('0' + lane);
    k_put(' ');
    for (unsigned i = 0; i < l->used[lane]; i++) {
        unsigned event = l->events[lane][i];
        if (event == LEAVE) {
            k_put('.');
        } else {
            k_put('0' + (event >> 6));
            k_put('0' + (event & 63));
        }
    }
    k_put('\n');
}

void k_place(word offset)
{
    put_string("place ");
    put_hex((word)k_image + offset);
    k_put('\n');
}

struct log *k_log_new(const char *name, void *stack)
{
    unsigned i = __atomic_fetch_add(&logs_used, 1, __ATOMIC_RELAXED);

    if (i >= LOGS)
        k_panic("too many logs", i);
    logs[i].name = name;
    *k_log_at((word)stack) = &logs[i];
    return &logs[i];
}

void k_panic(const char *why, word value)
{
    put_string("panic: ");
    put_string(why);
    k_put(' ');
    put_hex(value);
    k_put('\n');
    k_power_off();
}

OWN void k_finish(void)
{
    k_interrupts_off();
    for (unsigned i = 0; i < logs_used; i++)
        for (unsigned lane = 0; lane < LANES; lane++)
            if (logs[i].used[lane] || lane == 0)
                put_lane(&logs[i], lane);
    put_string("end\n");
    k_power_off();
}
