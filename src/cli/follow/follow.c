/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at a recording that is being written: see follow.h. */
#include "cli/follow/follow.h"

#include "base/text.h"
#include "calls/file/work.h"
#include "cli/follow/rows.h"
#include "recording/texts/dir_lock.h"
#include "recording/texts/files.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const uint64_t gt_cli_follow_from_begin = GT_FOLLOW_FROM_BEGIN;

/* The command record has the code map beside the recording until this has ended. */
static struct gt_place_live *make_live(const char *path)
{
    const bool is_dir = g_file_test(path, G_FILE_TEST_IS_DIR);
    g_autofree char *map = g_strdup_printf("%s." GT_CODE_MAP_FILE, path);
    g_autofree char *found =
        g_strdup_printf("%s%s/" GT_CODE_FOUND_FILE, path, is_dir ? "" : GT_COMPACT_WORK_ENDING);
    return gt_place_live_create(map, found);
}

struct gt_cli_follow *gt_cli_follow_create(const char *path, uint64_t most, bool demangle,
                                           const struct gt_error_notices *notices)
{
    struct gt_cli_follow *f = g_new0(struct gt_cli_follow, 1);
    f->path = g_strdup(path);
    f->state = GT_FOLLOW_GOES_ON;
    f->calls = gt_calls_follow_create(path, most, notices);
    f->live = make_live(path);
    f->demangler = demangle ? gt_image_demangler_create() : NULL;
    f->rows = g_array_new(FALSE, FALSE, sizeof(struct gt_cli_follow_row));
    return f;
}

void gt_cli_follow_destroy(struct gt_cli_follow *f)
{
    if (!f)
        return;
    gt_calls_follow_destroy(f->calls);
    gt_place_live_destroy(f->live);
    gt_image_demangler_destroy(f->demangler);
    g_array_free(f->rows, TRUE);
    g_free(f->path);
    g_free(f->glob);
    gt_profile_find_free(f->find);
    g_free(f->sought);
    g_free(f->task);
    g_free(f->since);
    g_free(f);
}

/* Records that are in no file yet are in pools, which have the numbers of their processes. The lock
 * is there until the recording is complete; a pool is not, for a moment, where a process goes on as
 * another program. */
enum gt_cli_follow_state gt_cli_follow_state_at(const char *path)
{
    g_autofree char *parts = g_strdup_printf("%s" GT_COMPACT_WORK_ENDING, path);
    const bool is_dir = g_file_test(path, G_FILE_TEST_IS_DIR);
    const char *at = is_dir ? path : parts;
    g_autoptr(GDir) dir = g_dir_open(at, 0, NULL);
    if (!dir || !gt_recording_dir_lock_is_there(at) || gt_compact_flight_is(at))
        return GT_FOLLOW_ENDED;
    enum gt_cli_follow_state state = GT_FOLLOW_GOES_ON;
    for (const char *name; (name = g_dir_read_name(dir));) {
        int pid, end = 0;
        if (sscanf(name, ".guesttrace-%d.ring%n", &pid, &end) != 1 || !end || name[end] || pid <= 0)
            continue;
        if (kill(pid, 0) == 0 || errno == EPERM)
            return GT_FOLLOW_GOES_ON;
        state = GT_FOLLOW_INTERRUPTED;
    }
    return state;
}

/* Asks for the calls recorded until now, as long as somebody answers, and reads them. */
static int read_new(struct gt_cli_follow *f, struct gt_error *err)
{
    struct gt_error why = {0};
    int status = f->state == GT_FOLLOW_CONNECTED ? f->ask(f->asked, &why) : 0;
    if (status == GT_E_USAGE)
        return gt_error_set(err, GT_E_IO, "%s", why.text);
    if (status < 0 || f->state != GT_FOLLOW_CONNECTED)
        f->state = gt_cli_follow_state_at(f->path);
    return gt_calls_follow_read(f->calls, f->state != GT_FOLLOW_ENDED, err);
}

static bool wants(void *self, const struct gt_calls_follow_task *task)
{
    const struct gt_cli_follow *f = self;
    g_autofree char *number = g_strdup_printf("%" PRIu32, task->id);
    return !f->task || strcmp(f->task, number) == 0 || gt_text_glob_fits(f->task, task->name);
}

static void note_time(struct gt_cli_follow *f)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_free(f->since);
    f->since = g_date_time_format(now, "%H:%M:%S");
}

void gt_cli_follow_set_task(struct gt_cli_follow *f, const char *task)
{
    note_time(f);
    g_free(f->task);
    f->task = task && *task ? g_strdup(task) : NULL;
    gt_calls_follow_only(f->calls, wants, f);
}

static bool name_one(void *live, uint64_t address, const char **module, const char **name)
{
    *name = gt_place_live_find(live, address, module);
    return *name != NULL;
}

static void name_functions(struct gt_cli_follow *f)
{
    const size_t n = gt_calls_follow_n_functions(f->calls);
    g_autofree uint64_t *address = g_new(uint64_t, n + 1);
    size_t unnamed = 0;
    for (size_t i = 0; i < n; i++) {
        const struct gt_calls_follow_function *of = gt_calls_follow_function(f->calls, i);
        address[i] = of->address;
        unnamed += of->is_unnamed;
    }
    if (unnamed == 0)
        return;
    gt_place_live_search(f->live, address, n);
    gt_calls_follow_name(f->calls, name_one, f->live);
}

/* Where the recording ends meanwhile, or is repaired, its files become others: it is read again. */
int gt_cli_follow_look(struct gt_cli_follow *f, struct gt_error *err)
{
    if (f->state == GT_FOLLOW_ENDED)
        return 0;
    int status = read_new(f, err);
    if (!f->since)
        note_time(f);
    if (status == GT_E_NOT_FOUND || status == GT_E_FORMAT)
        status = read_new(f, err);
    if ((status == GT_E_NOT_FOUND || status == GT_E_FORMAT) &&
        (f->state == GT_FOLLOW_GOES_ON || f->state == GT_FOLLOW_INTERRUPTED))
        status = 0;
    if (status == 0)
        name_functions(f);
    const int64_t now = g_get_monotonic_time();
    f->seconds = f->looked ? (double)(now - f->looked) / G_USEC_PER_SEC : 0;
    f->looked = now;
    return status;
}

enum gt_cli_follow_state gt_cli_follow_state(const struct gt_cli_follow *f)
{
    return f->state;
}
