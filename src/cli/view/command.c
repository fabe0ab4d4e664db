/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace view`: a recording in the browser. */
#include "cli/follow/follow.h"
#include "cli/opened.h"
#include "cli/view/live.h"
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
    bool demangle, browser, follow;
};

static const struct gt_cli_option view_table[] = {
    {"port", 'p', GT_OPTION_NUMBER, .value = "N", .min = 1, .max = UINT16_MAX,
     .help = "listen on this port of 127.0.0.1 (default: one that is free)",
     .offset = offsetof(struct view_options, port)},
    {"browser", .type = GT_OPTION_FLAG, .initial = true,
     .help = "open the page in a browser, if there is a desktop (the default)",
     .offset = offsetof(struct view_options, browser)},
    {"follow", .type = GT_OPTION_FLAG,
     .help = "while it is recorded, show what runs; then the recording",
     .offset = offsetof(struct view_options, follow)},
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

enum { RECORDINGS = 2 };

/* Recordings, and their page. */
struct shown {
    const struct gt_cli_command *command;
    const struct view_options *options;
    const char *path[RECORDINGS]; /* the second one, which it is compared with, may be NULL */
    struct gt_error_notices notices;
    struct gtrace *trace[RECORDINGS];
    struct gtrace_page *page;
    struct gt_cli_view_notes *notes; /* NULL: none */
    pthread_t thread;
    bool runs;
};

/* As struct gt_cli_view_live_options.open. */
static int open_page(void *self, struct gtrace_page **out, struct gt_error *err)
{
    struct shown *r = self;
    const struct view_options *o = r->options;
    struct gtrace_error e = {.size = sizeof e};
    int status = 0;
    for (size_t i = 0; i < RECORDINGS && r->path[i] && status == 0; i++)
        status = gt_cli_opened_open_any(r->path[i], o->elf, &r->notices, &r->trace[i], err);
    if (status < 0)
        return status;
    const struct gtrace_page_options how = {.size = sizeof how,
                                            .symbols = !o->demangle,
                                            .other = r->trace[1],
                                            .sources = o->source,
                                            .coverage = o->coverage};
    status = gtrace_page_open(r->trace[0], &how, &r->page, &e);
    *out = r->page;
    return status < 0 ? gt_cli_opened_fail(err, status, &e) : 0;
}

/* The recording is read while the page is open: it shows the part that is there already. */
static void read_all(void *self)
{
    struct shown *r = self;
    struct gtrace_error err = {.size = sizeof err};
    const int status = gtrace_page_read(r->page, &err);
    if (status < 0 && status != GTRACE_E_USAGE) /* that it was stopped */
        gt_cli_command_fail(r->command, 0, "%s", err.text);
}

static void *read_on_thread(void *self)
{
    read_all(self);
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

/* Until a signal ends it. */
static int serve(const struct shown *r, gt_cli_view_answer_fn *answer, void *self,
                 const sigset_t *ends, struct gt_cli_view_server **out, struct gt_error *err)
{
    const struct view_options *o = r->options;
    int signal,
        status = gt_cli_view_server_open(answer, self, r->notes, (uint16_t)o->port, out, err);
    if (status < 0)
        return status;
    printf("%s\n", gt_cli_view_server_address(*out));
    fflush(stdout);
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "guesttrace view: Ctrl-C ends it\n");
    if (o->browser)
        open_browser(gt_cli_view_server_address(*out));
    sigwait(ends, &signal);
    return 0;
}

static int answer_page(void *page, const char *question,
                       const char *(*value)(void *user, const char *key), void *user, int fd,
                       struct gtrace_page_answer *out, struct gtrace_error *err)
{
    return gtrace_page_answer(page, question, value, user, fd, out, err);
}

static int show(struct shown *r, struct gt_error *err)
{
    struct gt_cli_view_server *server = NULL;
    sigset_t ends, before;
    struct gtrace_page *page;
    int status = open_page(r, &page, err);
    if (status < 0)
        return status;
    block_ends(&ends, &before);
    r->runs = pthread_create(&r->thread, NULL, read_on_thread, r) == 0;
    status = serve(r, answer_page, page, &ends, &server, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* the next one ends it at once */
    gtrace_page_stop(page);
    gt_cli_view_server_close(server);
    if (r->runs)
        pthread_join(r->thread, NULL);
    return status;
}

/* While it is being written, and afterwards. */
static int follow(struct shown *r, struct gt_error *err)
{
    struct gt_cli_view_server *server = NULL;
    struct gt_cli_view_live *live;
    sigset_t ends, before;
    const struct gt_cli_view_live_options how = {.path = r->path[0],
                                                 .demangle = r->options->demangle,
                                                 .notices = r->notices,
                                                 .open = open_page,
                                                 .read = read_all,
                                                 .self = r};
    block_ends(&ends, &before);
    int status = gt_cli_view_live_open(&how, &live, err);
    if (status == 0)
        status = serve(r, gt_cli_view_live_answer, live, &ends, &server, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL); /* as above */
    if (live)
        gt_cli_view_live_stop(live);
    gt_cli_view_server_close(server);
    gt_cli_view_live_close(live);
    return status;
}

static int run_view(const struct gt_cli_command *self, const void *options, size_t n,
                    char **operands)
{
    const struct view_options *o = options;
    struct gt_error err = {0};
    struct shown r = {.command = self, .options = o, .notices = gt_cli_command_notices(self)};
    if (n > RECORDINGS)
        return gt_cli_command_usage_error(self, "takes one recording, or two to compare");
    if (n > 1 && o->follow)
        return gt_cli_command_usage_error(self, "--follow takes one recording");
    r.path[0] = gt_cli_default_recording(self, operands[0], false);
    r.path[1] = n > 1 ? operands[1] : NULL;
    if (!r.path[0])
        return gt_cli_default_recording_missing(self);
    mallopt(M_ARENA_MAX, ARENAS);
    const bool is_written = o->follow && gt_cli_follow_state_at(r.path[0]) != GT_FOLLOW_ENDED;
    int status = o->notes ? gt_cli_view_notes_open(o->notes, &r.notes, &err) : 0;
    if (status == 0)
        status = is_written ? follow(&r, &err) : show(&r, &err);
    gtrace_page_close(r.page);
    gt_cli_view_notes_close(r.notes);
    gtrace_close(r.trace[1]);
    gtrace_close(r.trace[0]);
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
            "--follow takes a recording that is being written: the page has a table of functions "
            "and "
            "tasks, new each second, as 'guesttrace top' does, and becomes that of the recording "
            "when it ends. Only files are read, the recording never waits for it. Recordings with "
            "--last have no file before their first snapshot.",
            "guesttrace export --format html writes the page as one file.", NULL},
    .spec = {.table = view_table},
    .options_size = sizeof(struct view_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_view,
};
