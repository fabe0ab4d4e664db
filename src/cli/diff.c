/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace diff`: where two execlog logs part. See diff.h. */
#include "cli/diff.h"

#include "cli/diff_lines.h"
#include "cli/output.h"

#include <inttypes.h>
#include <malloc.h>
#include <string.h>
#include <unistd.h>

enum {
    DIFFERENT = 1, /* exit statuses, as diff(1) has them */
    TROUBLE = 2,
    CONTEXT = 5, /* lines */
    KEPT_BACK = 64 << 20,
    MOST_WAITING = 1 << 30, /* bytes of lines that one log has and the other not yet */
};

struct diff_options {
    uint64_t context;
    bool quiet;
};

static const struct gt_option diff_table[] = {
    {"context", 'c', GT_OPTION_NUMBER, .value = "N", .max = 1000, .initial = CONTEXT,
     .help = "show so many lines before the first one that differs, and after it (5)",
     .offset = offsetof(struct diff_options, context)},
    {"quiet", 'q', GT_OPTION_FLAG, .help = "print nothing, only set the exit status",
     .offset = offsetof(struct diff_options, quiet)},
    {0},
};

/* ---- lines into sequences ------------------------------------------------------------------ */

struct gt_diff_sequence *gt_diff_sequence_of(struct gt_diff *d, int64_t vcpu)
{
    if (d->newest && d->newest->vcpu == vcpu)
        return d->newest;
    struct gt_diff_sequence *q = g_hash_table_lookup(d->by_vcpu, &vcpu);
    if (!q) {
        q = gt_diff_sequence_new(vcpu, (d->context + 1) * 1024);
        g_hash_table_insert(d->by_vcpu, &q->vcpu, q);
        g_ptr_array_add(d->sequences, q);
    }
    d->newest = q;
    return q;
}

/* The number that the line begins with, and how many bytes it has with ", "; else -1 and 0. */
static int64_t vcpu_of(const char *line, const char *end, size_t *prefix)
{
    const char *p = line;
    int64_t vcpu = 0;
    while (p < end && p < line + 9 && *p >= '0' && *p <= '9')
        vcpu = 10 * vcpu + (*p++ - '0');
    bool good = p > line && end - p >= 2 && p[0] == ',' && p[1] == ' ';
    *prefix = good ? (size_t)(p + 2 - line) : 0;
    return good ? vcpu : -1;
}

/* The lines from *at on that are of one vCPU. */
static int64_t next_run(const char **at, const char *end)
{
    size_t prefix, other;
    int64_t vcpu = vcpu_of(*at, end, &prefix);
    do
        *at += gt_diff_lines_alike(*at, (size_t)(end - *at), prefix);
    while (*at < end && !prefix && vcpu_of(*at, end, &other) < 0);
    return vcpu;
}

void gt_diff_pass(struct gt_diff *d, const char *text, size_t n)
{
    for (const char *at = text, *begin = text, *end = text + n; at < end; begin = at) {
        struct gt_diff_sequence *q = gt_diff_sequence_of(d, next_run(&at, end));
        if (!q->told)
            gt_diff_sequence_pass(q, begin, (size_t)(at - begin));
    }
}

static int take_lines(void *user, const char *text, size_t n, uint64_t line)
{
    const struct gt_diff_feed *feed = user;
    const char *end = text + n, *at = text;
    if (feed->diff->abreast)
        at += gt_diff_skip_lines(feed->diff, feed->side, text, n);
    line += gt_diff_lines_count(text, (size_t)(at - text));
    for (const char *begin = at; at < end; begin = at) {
        struct gt_diff_sequence *q = gt_diff_sequence_of(feed->diff, next_run(&at, end));
        if (!q->told)
            gt_diff_sequence_add(q, feed->side, begin, (size_t)(at - begin), line);
        if (at < end)
            line += gt_diff_lines_count(begin, (size_t)(at - begin));
    }
    return 0;
}

/* ---- sequences ----------------------------------------------------------------------------- */

/* One log has ended, the other goes on. */
static bool ends_early(const struct gt_diff *d, const struct gt_diff_sequence *q)
{
    for (int i = 0; i < 2; i++)
        if (d->side[i].ended && !q->side[i].first && q->side[!i].first)
            return true;
    return false;
}

static void look_at(struct gt_diff *d, struct gt_diff_sequence *q, GString *out)
{
    if (q->told)
        return;
    gt_diff_sequence_compare(q);
    q->parted |= ends_early(d, q);
    if (!q->parted)
        return;
    for (int i = 0; i < 2; i++)
        if (!d->side[i].ended && !gt_diff_sequence_has(q, i, MAX(d->context + 1, GT_DIFF_AHEAD)))
            return;
    d->differs = true;
    gt_diff_report(d, q, out);
    q->told = true;
    gt_diff_sequence_drop(q);
}

/* Bytes that wait on each side; whether all that was seen has parted. */
static bool look_at_all(struct gt_diff *d, size_t waiting[2], GString *out)
{
    bool told = d->sequences->len > 0;
    waiting[0] = waiting[1] = 0;
    for (guint i = 0; i < d->sequences->len; i++) {
        struct gt_diff_sequence *q = d->sequences->pdata[i];
        look_at(d, q, out);
        waiting[0] += q->side[0].bytes;
        waiting[1] += q->side[1].bytes;
        told &= q->told;
    }
    return told;
}

/* The side that is to be read on; where nothing waits and one log is binary, that one: its lines
 * are compared as they are made. */
static int next_side(const struct gt_diff *d, const size_t waiting[2])
{
    if (d->side[0].ended || d->side[1].ended)
        return d->side[0].ended;
    return waiting[0] == waiting[1] ? d->side[1].r && !d->side[0].r : waiting[1] < waiting[0];
}

static int read_on(struct gt_diff *d, const size_t waiting[2], struct gt_error *err)
{
    if (waiting[0] + waiting[1] > MOST_WAITING)
        return gt_error_set(err, GT_E_RANGE,
                            "the lines of a vCPU are more than %d MiB further on in one log than in"
                            " the other",
                            MOST_WAITING >> 20);
    d->abreast = waiting[0] + waiting[1] == 0;
    int status = d->abreast ? gt_diff_skip(d, err) : 0;
    return status ? status : gt_diff_source_step(&d->side[next_side(d, waiting)], err);
}

static int compare(struct gt_diff *d, GString *out, struct gt_error *err)
{
    size_t waiting[2] = {0};
    int status = 0;
    while (status >= 0 && !look_at_all(d, waiting, out) && !(d->side[0].ended && d->side[1].ended))
        status = read_on(d, waiting, err);
    return status;
}

/* ---- the command --------------------------------------------------------------------------- */

static int open_both(struct gt_diff *d, struct gt_error *err)
{
    int status = 0;
    for (int i = 0; i < 2 && status == 0; i++) {
        d->feeds[i] = (struct gt_diff_feed){d, i};
        d->side[i].lines = take_lines;
        d->side[i].user = &d->feeds[i];
        status = gt_diff_source_open(&d->side[i], d->self, d->names[i], err);
    }
    d->values = status == 0 && gt_diff_source_has_values(&d->side[0]) &&
                gt_diff_source_has_values(&d->side[1]);
    for (int i = 0; i < 2 && status == 0; i++)
        status = gt_diff_source_begin(&d->side[i], d->values, err);
    return status;
}

static void free_sequence(void *q)
{
    gt_diff_sequence_free(q);
}

static int run_diff(const struct gt_command *self, const void *options, size_t n, char **operands)
{
    const struct diff_options *opt = options;
    struct gt_error err = {0};
    mallopt(M_MMAP_THRESHOLD, KEPT_BACK); /* or lines that come and go are fresh pages each time */
    mallopt(M_TRIM_THRESHOLD, KEPT_BACK);
    if (n != 2)
        return gt_command_usage_error(self, "takes two logs: A B");
    struct gt_diff d = {
        .self = self,
        .names = {operands[0], operands[1]},
        .by_vcpu = g_hash_table_new(g_int64_hash, g_int64_equal),
        .sequences = g_ptr_array_new_with_free_func(free_sequence),
        .context = opt->context,
    };
    for (int i = 0; i < 2; i++)
        d.side[i].in = (struct gt_etrace_input){.fd = -1, .listener.fd = -1};
    g_autoptr(GString) text = g_string_new(NULL);
    int status = open_both(&d, &err);
    if (status == 0)
        status = compare(&d, text, &err);
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, STDOUT_FILENO);
    if (!opt->quiet)
        gt_output_bytes(out, text->str, text->len);
    if (gt_output_finish(out, "standard output", &err) < 0)
        status = GT_E_IO;
    if (status < 0)
        gt_command_fail(self, 0, "%s", err.text);
    bool trouble = status < 0 || d.side[0].damaged || d.side[1].damaged;
    for (int i = 0; i < 2; i++)
        gt_diff_source_close(&d.side[i]);
    g_hash_table_destroy(d.by_vcpu);
    g_ptr_array_free(d.sequences, TRUE);
    return trouble ? TROUBLE : d.differs ? DIFFERENT : 0;
}

const struct gt_command gt_command_diff = {
    .name = "diff",
    .summary = "tell where two execlog logs part",
    .usage = (const char *const[]){"[--context N] [--quiet] A B", NULL},
    .paragraphs =
        (const char *const[]){
            "A and B are logs of execlog, as text or in its binary form; one of them may be \"-\","
            " standard input. Each vCPU's lines are compared on their own, so it does not matter "
            "how"
            " those of several are mixed. For each vCPU the first lines that differ are shown, with"
            " the lines around them, what differs, and what the watched registers held before.",
            "Lines of A begin with \"-\", those of B with \"+\", those of both with blanks. Where a"
            " log has no more lines of the vCPU, that is said. Reading ends when all vCPUs that "
            "have"
            " been seen have parted.",
            "Values of accesses are compared where both logs have them.",
            "The exit status is 0 where the logs are the same, 1 where they differ, 2 where one"
            " could not be read whole.",
            NULL},
    .options = diff_table,
    .options_size = sizeof(struct diff_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_diff,
};
