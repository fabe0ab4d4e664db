/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams that a signal ends: see end_signals.h. */
#include "cli/end_signals.h"

#include <glib.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t ended;
static struct gt_recording_input_end end = {.ended = &ended};
static bool caught;

/* The first of them calls the handler. */
static void on_signals(void (*handler)(int))
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND}, now;
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        if (sigaction(signals[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN) /* nohup */
            sigaction(signals[i], &a, NULL);
}

static void note_end(int signal)
{
    (void)signal;
    ended = 1;
}

/* They are blocked except where the input waits: none comes between a look at the mark and a read.
 */
const struct gt_recording_input_end *gt_cli_end_signals_catch(void)
{
    sigset_t mask;
    sigemptyset(&mask);
    for (size_t i = 0; i < G_N_ELEMENTS(signals); i++)
        sigaddset(&mask, signals[i]);
    ended = 0;
    on_signals(note_end);
    caught = sigprocmask(SIG_BLOCK, &mask, &end.mask) == 0;
    return caught ? &end : NULL;
}

void gt_cli_end_signals_restore(void)
{
    if (!caught)
        return;
    on_signals(SIG_DFL);
    sigprocmask(SIG_SETMASK, &end.mask, NULL);
    caught = false;
}
