/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `record`, before and after the run: see recording.h. */
#include "cli/record/recording.h"

#include "calls/file/file.h"
#include "calls/file/work.h"
#include "recording/directory/dir.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

static void mark(const struct gt_record_recording *r, struct gt_repair_mark *out)
{
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *name = g_path_get_basename(r->output);
    gt_repair_mark(folder, name, out);
}

/* The file made in the folder, whether it stays or not. */
static void watch(struct gt_record_recording *r, const char *folder)
{
    int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (fd >= 0 && inotify_add_watch(fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) < 0) {
        close(fd);
        fd = -1;
    }
    r->folder_events = MAX(fd, 0);
}

int gt_record_output_mark(struct gt_record_recording *r, struct gt_error *err)
{
    struct stat st;
    g_autofree char *folder = g_path_get_dirname(r->output);
    mark(r, &r->output_before);
    if (lstat(r->output, &st) != 0 && access(folder, W_OK | X_OK) != 0)
        return gt_error_errno(err, errno, "%s: cannot be made in %s", r->shown, folder);
    watch(r, folder);
    return 0;
}

/* A file where a directory is, or is meant. */
static int refuse_directory(const struct gt_record_recording *r, bool there, struct gt_error *err)
{
    const struct gt_record_options *o = r->opt;
    bool either = !o->format && !o->last && !o->split && !o->size_limit;
    return gt_error_set(
        err, GT_E_EXISTS, "%s: %s a directory, and the recording is one file: name another%s",
        r->shown, there ? "is" : "names",
        either ? "; or record a directory that uftrace reads, with --format uftrace" : "");
}

int gt_record_output_check(const struct gt_record_recording *r, struct gt_error *err)
{
    struct stat st;
    bool there = stat(r->output, &st) == 0;
    if (r->compact && ((there && S_ISDIR(st.st_mode)) || g_str_has_suffix(r->shown, "/")))
        return refuse_directory(r, there, err);
    if (r->compact)
        return r->opt->split ? gt_compact_work_check_set(r->output, err)
                             : gt_compact_work_check(r->output, err);
    if (there && S_ISREG(st.st_mode) && gt_compact_file_check(r->output, NULL) == 0)
        return gt_error_set(err, GT_E_EXISTS,
                            "%s: is a compact recording, and the new one is a directory: name "
                            "another, or leave --format uftrace out",
                            r->shown);
    return gt_uftrace_dir_check(r->output, err);
}

bool gt_record_output_has_begun(const struct gt_record_recording *r)
{
    struct stat st;
    struct gt_repair_mark after;
    mark(r, &after);
    if (stat(r->output, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return true; /* a device or a pipe has no such mark */
    return after.ino && !gt_repair_mark_same(&r->output_before, &after);
}

static bool is_made(const struct inotify_event *e, const char *name)
{
    return e->len && strcmp(e->name, name) == 0;
}

bool gt_record_output_is_removed(struct gt_record_recording *r)
{
    char events[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
    g_autofree char *name = g_path_get_basename(r->output);
    ssize_t n;
    while (r->folder_events && (n = read(r->folder_events, events, sizeof events)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *e = (const void *)(events + at);
            r->made |= is_made(e, name);
            at += (ssize_t)(sizeof *e + e->len);
        }
    return r->made && access(r->output, F_OK) != 0;
}

char *gt_record_output_quote(const struct gt_record_recording *r)
{
    bool plain =
        strspn(r->shown, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "/._-+,=@") == strlen(r->shown);
    return plain ? g_strdup(r->shown) : g_shell_quote(r->shown);
}

/* ---- OUTPUT.PID.N: of executed programs ----------------------------------------------------- */

enum { NAMED = 8 }; /* of them */

static bool is_numbers(const char *ending)
{
    size_t pid = strspn(ending, "0123456789");
    size_t n = ending[pid] == '.' ? strspn(ending + pid + 1, "0123456789") : 0;
    return pid && n && !ending[pid + 1 + n];
}

/* Calls for each file OUTPUT.PID.N that is there. */
static void each_program(const struct gt_record_recording *r,
                         void (*call)(void *, char *, const char *), void *data)
{
    g_autofree char *folder = g_path_get_dirname(r->output);
    g_autofree char *base = g_path_get_basename(r->output);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const size_t n = strlen(base);
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (strncmp(name, base, n) == 0 && name[n] == '.' && is_numbers(name + n + 1))
            call(data, g_strdup(name), folder);
}

static void remember_program(void *before, char *name, const char *folder)
{
    struct gt_repair_mark *mark = g_new0(struct gt_repair_mark, 1);
    gt_repair_mark(folder, name, mark);
    g_hash_table_insert(before, name, mark);
}

void gt_record_programs_mark(struct gt_record_recording *r)
{
    r->programs_before = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    each_program(r, remember_program, r->programs_before);
}

struct made_programs {
    GHashTable *before;
    GPtrArray *names;
};

static void add_if_made(void *data, char *name, const char *folder)
{
    const struct made_programs *made = data;
    struct gt_repair_mark now;
    const struct gt_repair_mark *before = g_hash_table_lookup(made->before, name);
    gt_repair_mark(folder, name, &now);
    if (before && gt_repair_mark_same(before, &now))
        g_free(name);
    else
        g_ptr_array_add(made->names, name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void gt_record_programs_report(const struct gt_record_recording *r)
{
    if (!r->programs_before)
        return;
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    struct made_programs made = {r->programs_before, names};
    each_program(r, add_if_made, &made);
    if (!names->len)
        return;
    g_ptr_array_sort(names, by_name);
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < names->len && i < NAMED; i++)
        g_string_append_printf(text, "%s%s", i ? ", " : "", (char *)names->pdata[i]);
    gt_record_say("%u program%s that the guest executed %s recorded beside it: %s%s", names->len,
                  names->len == 1 ? "" : "s", names->len == 1 ? "is" : "are", text->str,
                  names->len > NAMED ? ", ..." : "");
}

void gt_record_programs_clear(struct gt_record_recording *r)
{
    if (r->programs_before)
        g_hash_table_unref(r->programs_before);
    r->programs_before = NULL;
}
