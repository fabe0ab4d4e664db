/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace view`: a recording in the browser. */
#include "cli/opened.h"
#include "cli/view/server.h"

#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

enum { ARENAS = 2 }; /* of malloc(): a connection is a thread, and would keep memory of its own */

struct view_options {
    GPtrArray *elf;
    const char *source, *coverage, *notes;
    uint64_t port;
    bool demangle, browser;
};

static const struct gt_cli_option view_table[] = {
    {"port", 'p', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT16_MAX,
     .help = "listen on this port of 127.0.0.1 (default: one that is free)",
     .offset = offsetof(struct view_options, port)},
    {"browser", .type = GT_OPTION_FLAG, .initial = true,
     .help = "open the page in a browser, if there is a desktop (the default)",
     .offset = offsetof(struct view_options, browser)},
    {"no-browser", .type = GT_OPTION_FLAG, .off = true, .help = "print the page's address only",
     .offset = offsetof(struct view_options, browser)},
    {"source", .type = GT_OPTION_DIR, .old = "-s", .value = "FOLDER",
     .help = "show the text of source files that are in FOLDER",
     .offset = offsetof(struct view_options, source)},
    {"coverage", .type = GT_OPTION_FILE, .old = "-c", .value = "FILE",
     .help = "show how often source lines ran: what guesttrace etrace coverage --format lcov wrote",
     .offset = offsetof(struct view_options, coverage)},
    {"notes", .type = GT_OPTION_FILE, .value = "FILE",
     .help = "keep the page's bookmarks in this file (default: in the page's address)",
     .offset = offsetof(struct view_options, notes)},
    {"elf", 'e', GT_OPTION_FILE, .repeat = true, .value = "ELF[:OFFSET]",
     .help = "etrace streams: take functions from this file",
     .offset = offsetof(struct view_options, elf)},
    {"demangle", .type = GT_OPTION_FLAG, .initial = true,
     .help = "demangle C++ and Rust names (the default)",
     .offset = offsetof(struct view_options, demangle)},
    {"no-demangle", .type = GT_OPTION_FLAG, .off = true, .help = "do not demangle names",
     .offset = offsetof(struct view_options, demangle)},
    {0},
};

struct reading {
    const struct gt_cli_command *command;
    struct gtrace_page *page;
    struct gt_cli_view_notes *notes; /* NULL: none */
    pthread_t thread;
    bool runs;
};

/* The recording is read while the page is open: it shows the part that is there already. */
static void *read_all(void *self)
{
    struct reading *r = self;
    struct gtrace_error err = {.size = sizeof err};
    const int status = gtrace_page_read(r->page, &err);
    if (status < 0 && status != GTRACE_E_USAGE) /* that it was stopped */
        gt_cli_command_fail(r->command, 0, "%s", err.text);
    return NULL;
}

static void open_browser(const char *address)
{
    const char *const command[] = {"xdg-open", address, NULL};
    if (!g_getenv("DISPLAY") && !g_getenv("WAYLAND_DISPLAY"))
        return;
    g_spawn_async(NULL, (char **)(uintptr_t)command, NULL,
                  G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL,
                  NULL, NULL, NULL, NULL);
}

/* Those that end the command wait until they are asked for. */
static void block_ends(sigset_t *ends, sigset_t *before)
{
    sigemptyset(ends);
    sigaddset(ends, SIGINT);
    sigaddset(ends, SIGTERM);
    sigaddset(ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, ends, before);
}

static int serve(struct reading *r, const struct view_options *o, struct gt_error *err)
{
    struct gt_cli_view_server *server;
    sigset_t ends, before;
    int signal;
    mallopt(M_ARENA_MAX, ARENAS);
    block_ends(&ends, &before);
    int status = gt_cli_view_server_open(r->page, r->notes, (uint16_t)o->port, &server, err);
    if (status == 0) {
        r->runs = pthread_create(&r->thread, NULL, read_all, r) == 0;
        printf("%s\n", gt_cli_view_server_address(server));
        fflush(stdout);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "guesttrace view: Ctrl-C ends it\n");
        if (o->browser)
            open_browser(gt_cli_view_server_address(server));
        sigwait(&ends, &signal);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* the next one ends it at once */
    gtrace_page_stop(r->page);
    if (status == 0)
        gt_cli_view_server_close(server);
    if (r->runs)
        pthread_join(r->thread, NULL);
    return status;
}

static int show(const struct gt_cli_command *self, const struct view_options *o, struct gtrace *t,
                struct gtrace *other, struct gt_error *err)
{
    const struct gtrace_page_options how = {.size = sizeof how,
                                            .symbols = !o->demangle,
                                            .other = other,
                                            .sources = o->source,
                                            .coverage = o->coverage};
    struct reading r = {.command = self};
    struct gtrace_error e = {.size = sizeof e};
    int status = o->notes ? gt_cli_view_notes_open(o->notes, &r.notes, err) : 0;
    if (status < 0)
        return status;
    status = gtrace_page_open(t, &how, &r.page, &e);
    status = status < 0 ? gt_cli_opened_fail(err, status, &e) : serve(&r, o, err);
    gtrace_page_close(r.page);
    gt_cli_view_notes_close(r.notes);
    return status;
}

static int run_view(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct view_options *o = options;
    struct gt_error err = {0};
    struct gtrace *trace[] = {NULL, NULL};
    int status = 0;
    if (n > G_N_ELEMENTS(trace))
        return gt_cli_command_usage_error(self, "takes one recording, or two to compare");
    const char *paths[] = {gt_cli_default_recording(self, operands[0], false),
                           n > 1 ? operands[1] : NULL};
    if (!paths[0])
        return gt_cli_default_recording_missing(self);
    const struct gt_error_notices notices = gt_cli_command_notices(self);
    for (size_t i = 0; i < G_N_ELEMENTS(paths) && paths[i] && status == 0; i++)
        status = gt_cli_opened_open_any(paths[i], o->elf, &notices, &trace[i], &err);
    if (status == 0)
        status = show(self, o, trace[0], trace[1], &err);
    gtrace_close(trace[1]);
    gtrace_close(trace[0]);
    return status < 0 ? gt_cli_command_fail(self, GT_EXIT_FAILED, "%s", err.text) : GT_EXIT_DONE;
}

const struct gt_cli_command gt_cli_command_view = {
    .name = "view",
    .summary = "show a recording of calls in the browser: a time line, flame graphs, tables",
    .usage = (const char *const[]){"[OPTION]... [RECORDING [OTHER]]", NULL},
    .paragraphs =
        (const char *const[]){
            GT_RECORDING_HELP,
            "Prints the address of a page on this machine, and opens it where there is a desktop. "
            "Only programs of this machine that know the address can read the page; it ends with "
            "Ctrl-C. From another machine: forward the port, as with ssh -L.",
            "With OTHER, a second recording, the flame graph and a table show the difference: what "
            "takes more of the time in OTHER is red, what takes less is green. Functions are "
            "compared by their names.",
            "--source names a folder with the sources of the recorded programs. Without it the "
            "page shows which lines functions begin in, and no text: nothing but the recording is "
            "read.",
            "guesttrace export --format html writes the page as one file.", NULL},
    .spec = {.table = view_table},
    .options_size = sizeof(struct view_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_view,
};
