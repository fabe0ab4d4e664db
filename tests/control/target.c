/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A traced program for the tests of the monitor: target SOCKET [EVENTS].
 *
 * It registers a few events, and EVENTS more with long names, listens at SOCKET and says "ready" on
 * standard output. Then each line of standard input is a command, answered by a line:
 *
 *   fire N      fires `demo_two` N times
 *   state NAME  1 or 0
 *   fork        makes a child that stays as long as this does, and no longer
 *   stop        ends the monitor
 *   start PATH  begins another: "0", or the message
 */
#include <guesttrace/control.h>
#include <guesttrace/monitor.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { FIXED = 4 };

static uint16_t states[FIXED];
static struct gt_trace_event fixed[FIXED] = {
    {.name = "demo_one", .state = &states[0], .backends = GT_TRACE_SIMPLE, .enabled = 1},
    {.name = "demo_two", .state = &states[1], .backends = GT_TRACE_SIMPLE, .enabled = 1},
    {.name = "demo_vcpu", .state = &states[2], .backends = GT_TRACE_LOG, .enabled = 1, .vcpu = 1},
    {.name = "demo_off", .state = NULL, .backends = GT_TRACE_LOG, .enabled = 0},
};

/* What tracetool generates. */
static void trace_demo_two(int a)
{
    struct gt_trace_slot slot;
    if (!(gt_trace_on(&states[1]) & GT_TRACE_SIMPLE))
        return;
    if (gt_trace_simple_begin(&slot, &fixed[1], 8)) {
        gt_trace_put_u64(&slot, (uint64_t)a);
        gt_trace_simple_end(&slot);
    }
}

/* Never freed: events have static storage. */
static void register_all(size_t more)
{
    static struct gt_trace_group group;
    static struct gt_trace_event *many, **all;
    static uint16_t *words;
    many = calloc(more + 1, sizeof *many);
    all = calloc(FIXED + more, sizeof(struct gt_trace_event *));
    words = calloc(more + 1, sizeof *words);
    if (!many || !all || !words)
        exit(1);
    for (size_t i = 0; i < FIXED; i++)
        all[i] = &fixed[i];
    for (size_t i = 0; i < more; i++) {
        char name[128];
        snprintf(name, sizeof name, "many_%060zu", i);
        many[i] = (struct gt_trace_event){
            .name = strdup(name), .state = &words[i], .backends = GT_TRACE_LOG, .enabled = 1};
        all[FIXED + i] = &many[i];
    }
    group = (struct gt_trace_group){.version = GT_TRACE_VERSION,
                                    .count = (uint32_t)(FIXED + more),
                                    .name = "demo",
                                    .events = all};
    gt_trace_register(&group);
}

/* A parent that ended before the child asked for the signal sends none. */
static pid_t make_child(void)
{
    pid_t parent = getpid();
    fflush(stdout);
    pid_t child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (getppid() == parent)
        pause();
    _exit(0);
}

static void answer(const char *line)
{
    struct gt_trace_error err = {0};
    const char *rest = strchr(line, ' ');
    rest = rest ? rest + 1 : "";
    if (strncmp(line, "fire ", 5) == 0) {
        for (int i = 0, n = atoi(rest); i < n; i++)
            trace_demo_two(i);
        puts("fired");
    } else if (strncmp(line, "state ", 6) == 0) {
        const struct gt_trace_event *e = gt_trace_find(rest);
        puts(!e ? "none" : gt_trace_is_on(e) ? "1" : "0");
    } else if (strcmp(line, "fork") == 0) {
        printf("%ld\n", (long)make_child());
    } else if (strcmp(line, "stop") == 0) {
        gt_trace_monitor_stop();
        puts("stopped");
    } else if (strncmp(line, "start ", 6) == 0) {
        puts(gt_trace_monitor_start(rest, &err) < 0 ? err.text : "0");
    }
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct gt_trace_error err = {0};
    char line[512];
    register_all(argc > 2 ? (size_t)atol(argv[2]) : 0);
    if (gt_trace_monitor_start(argv[1], &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
    puts("ready");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        answer(line);
    }
    return 0;
}
