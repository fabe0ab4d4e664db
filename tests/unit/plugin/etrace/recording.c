/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording on the host double: see recording.h. */
#include "recording.h"

#include "../scratch.h"
#include "etrace/plugin/finish.h"

#include <inttypes.h>

static GString *text;

int recording_setup(void **state)
{
    return make_scratch(state);
}

int recording_teardown(void **state)
{
    if (text)
        g_string_free(text, TRUE);
    text = NULL;
    return drop_scratch(state);
}

void recording_begin(const char *target, unsigned vcpus, int abi, const char *const *words)
{
    static char **all; /* live as long as the plugin */
    struct gt_error err = {0};
    g_strfreev(all);
    all = words_with_file(words, "output", "stream");
    host_double_start(target, vcpus, abi);
    assert_int_equal(host_double_install(&err, (const char *const *)all), 0);
}

const char *recording_end(void)
{
    size_t n;
    host_double.events->exit(host_double.self);
    gt_etrace_fini(host_double.self);
    host_double_stop();
    char *bytes = take_file("stream", &n);
    if (text)
        g_string_free(text, TRUE);
    text = packets_as_text(bytes, n);
    g_free(bytes);
    return text->str;
}

/* ---- the stream as text ---------------------------------------------------------------------- */

struct source {
    const char *at, *end;
};

static ssize_t read_source(void *self, void *out, size_t n)
{
    struct source *s = self;
    n = MIN(n, (size_t)(s->end - s->at));
    memcpy(out, s->at, n);
    s->at += n;
    return (ssize_t)n;
}

static void put_arch(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_arch arch;
    assert_int_equal(gt_etrace_get_arch(r, p, &arch, NULL), 0);
    g_string_append_printf(to, "arch %u/%u %u\n", arch.guest.id, arch.guest.bits,
                           arch.guest.big_endian);
}

static void put_exec(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_exec x;
    assert_int_equal(gt_etrace_get_exec(r, p, &x, NULL), 0);
    g_string_append_printf(to, "exec %u @%" PRIu64 ":", p->unit, x.start_time);
    for (size_t i = 0; i < x.n; i++) {
        struct gt_etrace_entry e = gt_etrace_entry_at(&x, i);
        g_string_append_printf(to, "%s %u %" PRIx64 "-%" PRIx64, i ? "," : "", e.duration, e.start,
                               e.end);
    }
    g_string_append_c(to, '\n');
}

static void put_mem(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_mem m;
    assert_int_equal(gt_etrace_get_mem(r, p, &m, NULL), 0);
    g_string_append_printf(to, "mem %u @%" PRIu64 " %s %u v%" PRIx64 " p%" PRIx64 " =%" PRIx64 "\n",
                           p->unit, m.time, m.write ? "store" : "load", m.size, m.vaddr, m.paddr,
                           m.value);
}

static void put_event(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_event e;
    assert_int_equal(gt_etrace_get_event(r, p, &e, NULL), 0);
    g_string_append_printf(to, "event %u @%" PRIu64 " %s %s: %" PRIx64 " -> %" PRIx64 "\n", e.unit,
                           e.time, e.device, e.name, e.previous, e.value);
}

static void put_note(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_note n;
    assert_int_equal(gt_etrace_get_note(r, p, &n, NULL), 0);
    g_string_append_printf(to, "note %u @%" PRIu64 " \"%.*s\"\n", p->unit, n.time, (int)n.len,
                           n.text);
}

static void put_tb(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    struct gt_etrace_tb tb;
    assert_int_equal(gt_etrace_get_tb(r, p, &tb, NULL), 0);
    g_string_append_printf(to, "tb %u v%" PRIx64 " p%" PRIx64 " %u\n", p->unit, tb.vaddr, tb.paddr,
                           tb.guest_len);
}

static void put_packet(GString *to, struct gt_etrace_reader *r, const struct gt_etrace_packet *p)
{
    switch (p->type) {
    case GT_ETRACE_INFO:
        break;
    case GT_ETRACE_ARCH:
        put_arch(to, r, p);
        break;
    case GT_ETRACE_EXEC:
        put_exec(to, r, p);
        break;
    case GT_ETRACE_BARRIER:
        g_string_append_printf(to, "barrier %u\n", p->unit);
        break;
    case GT_ETRACE_MEM:
        put_mem(to, r, p);
        break;
    case GT_ETRACE_EVENT:
        put_event(to, r, p);
        break;
    case GT_ETRACE_NOTE:
        put_note(to, r, p);
        break;
    case GT_ETRACE_TB:
        put_tb(to, r, p);
        break;
    default:
        g_string_append_printf(to, "type %u\n", p->type);
    }
}

GString *packets_as_text(const char *bytes, size_t n)
{
    struct source s = {bytes, bytes + n};
    struct gt_etrace_reader *r;
    struct gt_etrace_packet p;
    GString *to = g_string_new(NULL);
    int status;
    assert_int_equal(gt_etrace_reader_create(read_source, &s, "stream", &r, NULL), 0);
    while ((status = gt_etrace_next(r, &p, NULL)) > 0)
        put_packet(to, r, &p);
    assert_int_equal(status, 0);
    gt_etrace_reader_destroy(r);
    return to;
}
