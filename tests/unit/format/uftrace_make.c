/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a uftrace data directory with everything in it that readers are known to stumble over, for
 * uftrace_readers_test.py. `killed` leaves it as a SIGKILL would; `repair` repairs one.
 *
 * usage: uftrace_make whole|killed|repair DIR
 */
#include "recording/directory/dir.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAIN = 100, THREAD = 101, CHILD = 102, DEEP = 1500 };
#define APP    UINT64_C(0x555555554000)
#define TWIN   UINT64_C(0x7f0000000000)
#define STRIP  UINT64_C(0x7f0000100000)
#define KERNEL UINT64_C(0xffff800010000000)
#define BARE   UINT64_C(0x7f0000200000)

static struct gt_uftrace_dir dir;
static struct gt_error err;
static bool killed;

static void must(int status)
{
    if (status >= 0)
        return;
    fprintf(stderr, "uftrace_make: %s: %s\n", gt_error_status_text(status), err.text);
    exit(1);
}

/* One task's file, in memory. */
struct task {
    uint8_t *data;
    struct gt_bytes_writer w;
    uint64_t time;
    uint32_t depth;
    uint64_t stack[DEEP + 16];
};

static void start(struct task *t, uint64_t time)
{
    size_t size = 1 << 20;
    *t = (struct task){.data = malloc(size), .time = time};
    must(t->data ? 0 : GT_E_NOMEM);
    gt_bytes_writer_init(&t->w, t->data, size);
}

static void put(struct task *t, uint64_t word)
{
    gt_bytes_write_u64(&t->w, t->time);
    gt_bytes_write_u64(&t->w, word);
    t->time += 10;
}

static void enter(struct task *t, uint64_t addr)
{
    t->stack[t->depth] = addr;
    put(t, gt_uftrace_entry(t->depth++, addr));
}

static void leave(struct task *t)
{
    t->depth--;
    put(t, gt_uftrace_exit(t->depth, t->stack[t->depth]));
}

static void call(struct task *t, uint64_t addr)
{
    enter(t, addr);
    leave(t);
}

static void finish(struct task *t, uint32_t tid)
{
    char path[4200];
    while (t->depth && !killed)
        leave(t);
    if (killed)
        gt_bytes_write_bytes(&t->w, "half a", 6);
    snprintf(path, sizeof path, "%s/%" PRIu32 ".dat", dir.path, tid);
    must(gt_file_replace(path, t->data, (size_t)(t->w.at - t->data), &err));
    free(t->data);
}

static void symbols(const char *path, const char *id, const struct gt_uftrace_symbol *s, size_t n)
{
    must(gt_uftrace_dir_put_symbols(&dir, &(struct gt_uftrace_module){path, id}, s, n, &err));
}

static void put_modules(void)
{
    static const char id[] = "0123456789abcdef0123456789abcdef01234567";
    static char longest[3000] = "_Z3000";
    memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
    const struct gt_uftrace_symbol app[] = {
        {0x1000, 0x10, "main", 'T'},
        {0x1010, 0x10, "setjmp", 'T'},
        {0x1020, 0x10, "longjmp", 'T'},
        {0x1030, 0x10, "fork", 'w'},
        {0x1040, 0x10, "execve", 'T'},
        {0x1100, 0x40, "recurse", 't'},
        {0x1200, 0x10, "_ZN5space5thingIiE3addERKSt6vectorIiSaIiEE", 'T'},
        {0x1300, 0x10, longest, 'T'},
        {0x1400, 0x10, "odd\"na\\me\n", 'T'},
        {0x1500, 0x10, "memcpy", 'P'},
        {0x1600, 0, "last", 'T'},
    };
    const struct gt_uftrace_symbol twin[] = {{0x1000, 0x20, "twin_function", 'T'}};
    const struct gt_uftrace_symbol strip[] = {{0x500, 0, "u-boot+0x500", 'T'},
                                              {0x700, 0, "u-boot+0x700", 'T'}};
    const struct gt_uftrace_symbol kernel[] = {{0x0, 0x100, "start_kernel", 'T'}};
    symbols("/home/a user/bin/app", id, app, sizeof app / sizeof *app);
    symbols("/opt/gr\xc3\xbcn/app", NULL, twin, 1);
    symbols("/boot/u-boot", NULL, strip, 2);
    symbols("/boot/vmlinux", NULL, kernel, 1);
    symbols("/lib/bare.so", NULL, NULL, 0);
    const struct gt_uftrace_mapping map[] = {
        {APP, APP + 0x2000, "/home/a user/bin/app", id},
        {TWIN, TWIN + 0x2000, "/opt/gr\xc3\xbcn/app", NULL},
        {STRIP, STRIP + 0x1000, "/boot/u-boot", NULL},
        {KERNEL, KERNEL + 0x1000, "/boot/vmlinux", NULL},
        {BARE, BARE + 0x1000, "/lib/bare.so", NULL},
    };
    must(gt_uftrace_dir_put_map(&dir, "00000000000000a1", map, 5, &err));
    must(gt_uftrace_dir_put_map(&dir, "00000000000000a2", map + 1, 4, &err));
    const struct gt_uftrace_dbg dbg[] = {
        {GT_UFTRACE_DBG_FUNC, 0x1000, 0, "main"},
        {GT_UFTRACE_DBG_LINE, 0, 12, "app.c"},
    };
    must(gt_uftrace_dir_put_debug(&dir, &(struct gt_uftrace_module){"/home/a user/bin/app", id},
                                  dbg, 2, &err));
}

static void put_tasks(void)
{
    must(gt_uftrace_dir_add_session(&dir, 1000, MAIN, "00000000000000a1", "/home/a user/bin/app",
                                    &err));
    must(gt_uftrace_dir_add_task(&dir, 1000, MAIN, MAIN, &err));
    must(gt_uftrace_dir_add_task(&dir, 1100, THREAD, MAIN, &err));
    must(gt_uftrace_dir_add_fork(&dir, 1200, CHILD, MAIN, &err));
    /* The child executes another program. */
    must(gt_uftrace_dir_add_session(&dir, 5000, CHILD, "00000000000000a2", "/opt/gr\xc3\xbcn/app",
                                    &err));
    must(gt_uftrace_dir_add_task(&dir, 5000, CHILD, CHILD, &err));
    must(gt_uftrace_dir_add_event(&dir, GT_UFTRACE_EV_LOST, GT_UFTRACE_EV_LOST_NAME, &err));
    must(gt_uftrace_dir_add_event(&dir, GT_UFTRACE_EV_LOST, GT_UFTRACE_EV_LOST_NAME, &err));
    must(gt_uftrace_dir_add_event(&dir, GT_UFTRACE_EV_USER + 1, "guesttrace:irq", &err));
}

static void put_main(void)
{
    static const uint64_t once[] = {0x1010, 0x1020, 0x1030, 0x1040, 0x1200, 0x1300, 0x1400, 0x1600};
    static struct task t;
    start(&t, 1000);
    enter(&t, APP + 0x1000);
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        call(&t, APP + once[i]);
    for (int i = 0; i < DEEP; i++)
        enter(&t, APP + 0x1100);
    while (t.depth > (killed ? 1200 : 1))
        leave(&t);
    if (!killed) {
        call(&t, TWIN + 0x1000);
        call(&t, STRIP + 0x500);
        call(&t, STRIP + 0x700);
        call(&t, KERNEL);
        call(&t, BARE + 0x10);
        call(&t, UINT64_C(0x123456)); /* in no module */
        put(&t, gt_uftrace_event(t.depth, GT_UFTRACE_EV_USER + 1));
    }
    finish(&t, MAIN);
}

static void put_others(void)
{
    static struct task thread, child;
    start(&thread, 1150);
    enter(&thread, APP + 0x1100);
    put(&thread, gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_OUT));
    if (!killed)
        put(&thread, gt_uftrace_event(0, GT_UFTRACE_EV_SCHED_IN));
    finish(&thread, THREAD);
    start(&child, 1300);
    call(&child, APP + 0x1100);
    child.time = 6000;
    enter(&child, TWIN + 0x1000);
    call(&child, KERNEL);
    finish(&child, CHILD);
}

static void put_info(void)
{
    static char cmdline[6000] = "qemu \"a b\" 'c'\nd\te \\ \x01\xff gr\xc3\xbcn ";
    memset(cmdline + strlen(cmdline), '"', sizeof cmdline - 1 - strlen(cmdline));
    struct gt_uftrace_info info = {
        .exename = "/home/a user/bin/app",
        .build_id = "0123456789abcdef0123456789abcdef01234567",
        .max_stack = DEEP + 1,
        .has_exit_status = true,
        .cmdline = cmdline,
        .cpus_online = 2,
        .cpus_possible = 4,
        .cpu_desc = "ARM64 guest",
        .meminfo = "1.0 / 2.0 GB (free / total)",
        .os_kernel = "Linux",
        .os_hostname = "",
        .os_distro = "\"none\"",
        .loadinfo = "0.00 / 0.00 / 0.00",
        .pattern_type = "regex",
        .has_utc_offset = false,
    };
    must(gt_uftrace_dir_put_info(&dir, &info, &err));
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    if (!strcmp(argv[1], "repair")) {
        struct gt_uftrace_repair_stats s;
        const struct gt_uftrace_lost lost = {CHILD, 17};
        const struct gt_uftrace_repair_options opt = {.lost = &lost, .n_lost = 1};
        must(gt_uftrace_dir_repair(argv[2], &opt, &s, &err));
        printf("files=%" PRIu64 " records=%" PRIu64 " cut=%" PRIu64 " closed=%" PRIu64
               " events=%" PRIu64 " depth=%" PRIu32 "\n",
               s.files, s.records, s.cut, s.closed, s.events, s.depth);
        return 0;
    }
    killed = !strcmp(argv[1], "killed");
    must(gt_uftrace_dir_create(&dir, argv[2], &err));
    put_tasks();
    put_modules();
    put_main();
    put_others();
    put_info();
    return 0;
}
