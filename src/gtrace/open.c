/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: a recording is opened, and what ran in it. */
#include "base/file.h"
#include "calls/file/work.h"
#include "gtrace/private.h"
#include "recording/file_kind.h"
#include "recording/texts/files.h"
#include "track/counters.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Both sides have the same numbers. */
_Static_assert((int)GTRACE_E_USAGE == (int)GT_E_USAGE && (int)GTRACE_E_NOMEM == (int)GT_E_NOMEM &&
                   (int)GTRACE_E_TRUNC == (int)GT_E_TRUNC &&
                   (int)GTRACE_E_FORMAT == (int)GT_E_FORMAT &&
                   (int)GTRACE_E_RANGE == (int)GT_E_RANGE && (int)GTRACE_E_IO == (int)GT_E_IO &&
                   (int)GTRACE_E_NOT_FOUND == (int)GT_E_NOT_FOUND &&
                   (int)GTRACE_E_UNSUPPORTED == (int)GT_E_UNSUPPORTED &&
                   (int)GTRACE_E_EXISTS == (int)GT_E_EXISTS && (int)GTRACE_E_BUSY == (int)GT_E_BUSY,
               "statuses of libgtrace are the readers'");
_Static_assert((int)GTRACE_FILE == (int)GT_CALLS_COMPACT &&
                   (int)GTRACE_DIRECTORY == (int)GT_CALLS_DIRECTORY &&
                   (int)GTRACE_ETRACE == (int)GT_CALLS_ETRACE,
               "the same");

/* ---- sizes and errors ---------------------------------------------------------------------- */

void gt_gtrace_put(void *out, const void *ours, size_t size)
{
    const uint32_t theirs = *(const uint32_t *)out;
    const size_t n = theirs < size ? theirs : size;
    if (n > sizeof theirs)
        memcpy((char *)out + sizeof theirs, (const char *)ours + sizeof theirs, n - sizeof theirs);
    if (theirs > size)
        memset((char *)out + size, 0, theirs - size);
}

void gt_gtrace_get(void *ours, size_t size, const void *theirs)
{
    memset(ours, 0, size);
    if (theirs) {
        const uint32_t n = *(const uint32_t *)theirs;
        memcpy(ours, theirs, n < size ? n : size);
    }
    *(uint32_t *)ours = (uint32_t)size;
}

int gt_gtrace_fail(struct gtrace_error *err, int status, const struct gt_error *from)
{
    if (err) {
        struct gtrace_error e = {.size = sizeof e, .status = status};
        const char *text = from && from->status            ? from->text
                           : status == GT_E_NOMEM || !from ? gt_error_status_text(status)
                                                           : "the caller has ended the pass";
        g_strlcpy(e.text, text, sizeof e.text);
        gt_gtrace_put(err, &e, sizeof e);
    }
    return status;
}

int gt_gtrace_usage(struct gtrace_error *err, const char *text)
{
    struct gt_error e = {0};
    return gt_gtrace_fail(err, gt_error_set(&e, GT_E_USAGE, "%s", text), &e);
}

API uint32_t gtrace_version(void)
{
    unsigned part[3] = {0};
    const char *at = GT_VERSION;
    for (size_t i = 0; i < G_N_ELEMENTS(part) && *at; i++) {
        char *end;
        part[i] = (unsigned)strtoul(at, &end, 10);
        at = *end ? end + 1 : end;
    }
    return part[0] * 10000 + part[1] * 100 + part[2];
}

/* ---- open ---------------------------------------------------------------------------------- */

static void pass_notice(void *self, const char *line)
{
    const struct gtrace *t = self;
    if (t->notice)
        t->notice(t->user, line);
}

static int read_stats(struct gtrace *t)
{
    size_t size;
    char *text = gt_calls_text(t->calls, GT_STATS_FILE, &size);
    int status = gt_recording_stats_parse(&t->stats, text);
    for (size_t i = 0; status >= 0 && i < t->stats.n; i++) {
        const struct gt_recording_stat *s = &t->stats.item[i];
        if (g_str_has_prefix(s->key, GT_STATS_ANOMALY) && strtoull(s->value, NULL, 10))
            g_array_append_val(t->anomalies, s);
    }
    return status;
}

/* The rest of the line of the info file that begins with `name`; NULL: there is none. The caller
 * frees it (g_free). */
static char *info_line(const struct gt_calls *c, const char *name)
{
    size_t size, length = strlen(name);
    char *text = gt_calls_text(c, "info", &size), *found = NULL;
    for (char *at = text, *end = text ? text + size : NULL; at < end && !found;) {
        char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        if ((size_t)(stop - at) >= length && memcmp(at, name, length) == 0)
            found = g_strndup(at + length, (size_t)(stop - at) - length);
        at = stop + 1;
    }
    free(text);
    return found;
}

API int gtrace_is_recording(const char *path)
{
    const enum gt_recording_kind kind = gt_recording_kind_at(path);
    return kind == GT_FILE_CALLS || kind == GT_FILE_DIRECTORY;
}

static int64_t changed_at(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0
               ? (int64_t)st.st_mtim.tv_sec * 1000000000 + (int64_t)st.st_mtim.tv_nsec
               : GT_E_NOT_FOUND;
}

/* A directory, and that of a file which is being recorded, have a text that is written at the
 * recording's end, too. */
API int64_t gtrace_written(const char *path)
{
    g_autofree char *text = g_build_filename(path, "info", NULL);
    g_autofree char *beside = g_strconcat(path, GT_COMPACT_WORK_ENDING "/info", NULL);
    const int64_t own = changed_at(path), texts = MAX(changed_at(text), changed_at(beside));
    return own < 0 ? own : MAX(own, texts);
}

API int gtrace_open(const char *path, const struct gtrace_options *o, struct gtrace **out,
                    struct gtrace_error *err)
{
    struct gtrace_options options;
    struct gt_error e = {0};
    *out = NULL;
    if (!path)
        return gt_gtrace_usage(err, "gtrace_open: no path");
    gt_gtrace_get(&options, sizeof options, o);
    struct gtrace *t = calloc(1, sizeof *t);
    if (!t)
        return gt_gtrace_fail(err, GT_E_NOMEM, NULL);
    pthread_mutex_init(&t->lock, NULL);
    t->notice = options.notice;
    t->user = options.user;
    t->anomalies = g_array_new(FALSE, FALSE, sizeof(const struct gt_recording_stat *));
    t->demangler = gt_image_demangler_create();
    const struct gt_calls_options how = {.notices = {pass_notice, t},
                                         .of_etrace = options.of_etrace};
    int status = gt_calls_open(path, &how, &t->calls, &e);
    if (status >= 0)
        status = read_stats(t);
    if (status < 0) {
        gtrace_close(t);
        return gt_gtrace_fail(err, status, &e);
    }
    t->date = info_line(t->calls, "record_date:");
    t->elapsed = info_line(t->calls, "elapsed_time:");
    *out = t;
    return 0;
}

API void gtrace_close(struct gtrace *t)
{
    if (!t)
        return;
    gt_calls_close(t->calls);
    gt_recording_stats_clear(&t->stats);
    g_array_free(t->anomalies, TRUE);
    gt_image_demangler_destroy(t->demangler);
    pthread_mutex_destroy(&t->lock);
    g_free(t->date);
    g_free(t->elapsed);
    free(t);
}

/* ---- what ran ------------------------------------------------------------------------------ */

static enum gtrace_clock clock_of(const struct gtrace *t)
{
    if (!gt_recording_stats_text(&t->stats, GT_STATS_HOST_CLOCK))
        return GTRACE_CLOCK_UNKNOWN;
    const uint64_t host = gt_recording_stats_number(&t->stats, GT_STATS_HOST_CLOCK);
    if (host == 0)
        return GTRACE_CLOCK_INSTRUCTIONS;
    return host < gt_recording_stats_number(&t->stats, "processes") ? GTRACE_CLOCK_MIXED
                                                                    : GTRACE_CLOCK_HOST;
}

API int gtrace_facts(const struct gtrace *t, struct gtrace_facts *out)
{
    const struct gt_calls_facts *f = gt_calls_facts(t->calls);
    const struct gtrace_facts facts = {
        .form = (uint32_t)f->form,
        .command = f->command,
        .program = f->exename,
        .version = f->version,
        .first = f->first,
        .last = f->last,
        .records = f->records,
        .bytes = f->bytes,
        .has_exit_status = f->has_exit_status,
        .exit_status = f->exit_status,
        .incomplete = f->incomplete,
        .clock = clock_of(t),
        .major = f->major,
        .minor = f->minor,
        .record_bytes = f->record_bytes,
        .path = f->path,
        .cpu = f->cpu,
        .host = f->host,
        .date = t->date ? t->date : "",
        .elapsed = t->elapsed ? t->elapsed : "",
    };
    gt_gtrace_put(out, &facts, sizeof facts);
    return 0;
}

API size_t gtrace_n_tasks(const struct gtrace *t)
{
    return gt_calls_n_tasks(t->calls);
}

API int gtrace_task(const struct gtrace *t, uint32_t index, struct gtrace_task *out)
{
    if (index >= gt_calls_n_tasks(t->calls))
        return GT_E_RANGE;
    const struct gt_calls_task *task = gt_calls_task(t->calls, index);
    const struct gtrace_task ours = {
        .id = task->id,
        .process = task->process,
        .guest_pid = task->guest_pid,
        .guest_tgid = task->guest_tgid,
        .name = task->name,
        .start = task->start,
        .n_names = task->n_names,
    };
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

API int gtrace_task_name(const struct gtrace *t, uint32_t task, size_t index,
                         struct gtrace_task_name *out)
{
    if (task >= gt_calls_n_tasks(t->calls) || index >= gt_calls_task(t->calls, task)->n_names)
        return GT_E_RANGE;
    const struct gt_calls_name *name = &gt_calls_task(t->calls, task)->names[index];
    const struct gtrace_task_name ours = {.time = name->time, .name = name->name};
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

API size_t gtrace_n_processes(const struct gtrace *t)
{
    return gt_calls_n_processes(t->calls);
}

API int gtrace_process(const struct gtrace *t, uint32_t index, struct gtrace_process *out)
{
    if (index >= gt_calls_n_processes(t->calls))
        return GT_E_RANGE;
    const struct gt_calls_process *p = gt_calls_process(t->calls, index);
    const struct gtrace_process ours = {.pid = p->pid, .program = p->exename, .start = p->start};
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

const char *gt_gtrace_demangle(struct gtrace *t, const char *name)
{
    pthread_mutex_lock(&t->lock);
    name = gt_image_demangle(t->demangler, name);
    pthread_mutex_unlock(&t->lock);
    return name;
}

API size_t gtrace_n_functions(const struct gtrace *t)
{
    return gt_calls_n_functions(t->calls);
}

API int gtrace_function(struct gtrace *t, uint32_t index, struct gtrace_function *out)
{
    if (index >= gt_calls_n_functions(t->calls))
        return GT_E_RANGE;
    const struct gt_calls_function *f = gt_calls_function(t->calls, index);
    const struct gtrace_function ours = {
        .flags = (f->is_address ? GTRACE_NO_SYMBOL : 0) | (f->is_plt ? GTRACE_PLT : 0) |
                 (f->is_handler ? GTRACE_HANDLER : 0) |
                 (gt_call_suspends(index) ? GTRACE_SUSPENDED : 0),
        .name = gt_gtrace_demangle(t, f->name),
        .symbol = f->name,
        .module = f->module,
        .address = f->address,
        .length = f->size,
        .file = f->file,
        .line = f->line,
    };
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

API size_t gtrace_n_marks(const struct gtrace *t)
{
    size_t n;
    gt_calls_marks(t->calls, &n);
    return n;
}

API int gtrace_mark(const struct gtrace *t, size_t index, struct gtrace_mark *out)
{
    size_t n;
    const struct gt_calls_mark *marks = gt_calls_marks(t->calls, &n);
    if (index >= n)
        return GT_E_RANGE;
    const struct gtrace_mark ours = {.time = marks[index].time, .text = marks[index].text};
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

API size_t gtrace_n_anomalies(const struct gtrace *t)
{
    return t->anomalies->len;
}

/* What a statistic is about: a counter's text. */
static const char *about(const char *key)
{
    static const char *const kinds[] = {GT_STATS_ANOMALY, GT_STATS_RULE, GT_STATS_COUNT};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        if (g_str_has_prefix(key, kinds[i]))
            return gt_track_counter_text(key + strlen(kinds[i]));
    return NULL;
}

API int gtrace_anomaly(const struct gtrace *t, size_t index, struct gtrace_anomaly *out)
{
    if (index >= t->anomalies->len)
        return GT_E_RANGE;
    const struct gt_recording_stat *s =
        g_array_index(t->anomalies, const struct gt_recording_stat *, index);
    const struct gtrace_anomaly ours = {.name = s->key + strlen(GT_STATS_ANOMALY),
                                        .count = strtoull(s->value, NULL, 10),
                                        .about = about(s->key)};
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}

API uint64_t gtrace_statistic(const struct gtrace *t, const char *name)
{
    return gt_recording_stats_number(&t->stats, name);
}

API size_t gtrace_n_statistics(const struct gtrace *t)
{
    return t->stats.n;
}

API int gtrace_statistic_at(const struct gtrace *t, size_t index, struct gtrace_statistic *out)
{
    if (index >= t->stats.n)
        return GT_E_RANGE;
    const struct gt_recording_stat *s = &t->stats.item[index];
    const struct gtrace_statistic ours = {.name = s->key,
                                          .value = s->value,
                                          .number = strtoull(s->value, NULL, 10),
                                          .about = about(s->key)};
    gt_gtrace_put(out, &ours, sizeof ours);
    return 0;
}
