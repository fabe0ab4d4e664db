/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libgtrace: the page of `guesttrace view`, as a file and for a server. */
#include "calls/view/page.h"
#include "calls/view/sources.h"
#include "calls/view/view.h"
#include "gtrace/private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

API int gtrace_export_page(struct gtrace *t, struct gtrace *other, uint64_t most, int fd,
                           struct gtrace_error *err)
{
    const struct gt_view_options how = {
        .demangle = true, .other = other ? other->calls : NULL, .threads = 1};
    struct gt_error e = {0};
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, fd);
    struct gt_view *v = gt_view_create(t->calls, &how);
    int status = v ? gt_view_read(v, &e) : GT_E_NOMEM;
    if (status == 0)
        status = gt_view_write_page(v, most, out, &e);
    gt_view_destroy(v);
    status = gt_gtrace_written(out, status, &e);
    errno = out->failed;
    return status < 0 ? gt_gtrace_fail(err, status, &e) : 1;
}

/* ---- for a server -------------------------------------------------------------------------- */

struct gtrace_page {
    struct gt_view *view;
    struct gt_view_sources *sources; /* NULL: none */
};

API int gtrace_page_open(struct gtrace *t, const struct gtrace_page_options *o,
                         struct gtrace_page **out, struct gtrace_error *err)
{
    struct gtrace_page_options asked;
    struct gt_error e = {0};
    int status = 0;
    gt_gtrace_get(&asked, sizeof asked, o);
    *out = NULL;
    struct gtrace_page *p = calloc(1, sizeof *p);
    if (!p)
        return gt_gtrace_fail(err, GT_E_NOMEM, NULL);
    if (asked.sources || asked.coverage)
        status = gt_view_sources_open(asked.sources, asked.coverage, &p->sources, &e);
    const struct gt_view_options how = {.demangle = !asked.symbols,
                                        .other = asked.other ? asked.other->calls : NULL,
                                        .sources = p->sources};
    p->view = status < 0 ? NULL : gt_view_create(t->calls, &how);
    if (p->view) {
        *out = p;
        return 0;
    }
    gtrace_page_close(p);
    return gt_gtrace_fail(err, status < 0 ? status : GT_E_NOMEM, &e);
}

API void gtrace_page_close(struct gtrace_page *p)
{
    if (!p)
        return;
    gt_view_destroy(p->view);
    gt_view_sources_close(p->sources);
    free(p);
}

API int gtrace_page_read(struct gtrace_page *p, struct gtrace_error *err)
{
    struct gt_error e = {0};
    const int status = gt_view_read(p->view, &e);
    return status < 0 ? gt_gtrace_fail(err, status, &e) : 0;
}

API void gtrace_page_stop(struct gtrace_page *p)
{
    gt_view_stop(p->view);
}

/* The page and what it loads; NULL: the question is another. */
static const struct gt_view_file *file_of(const char *question)
{
    static const struct gt_view_file *const files[] = {&gt_view_page_css, &gt_view_page_js};
    if (!*question)
        return &gt_view_page_html;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        if (strcmp(question, files[i]->name) == 0)
            return files[i];
    return NULL;
}

API int gtrace_page_answer(struct gtrace_page *p, const char *question,
                           const char *(*value)(void *user, const char *key), void *user, int fd,
                           struct gtrace_page_answer *out, struct gtrace_error *err)
{
    const struct gt_view_query q = {value, user};
    const struct gt_view_file *file = file_of(question);
    struct gt_error e = {0};
    bool final = true;
    int status = 0;
    g_autofree struct gt_output *to = g_new(struct gt_output, 1);
    gt_output_init(to, fd);
    if (file)
        gt_output_bytes(to, file->data, file->size);
    else if (!p)
        status = gt_error_set(&e, GT_E_NOT_FOUND, "there is no such answer yet");
    else
        status = gt_view_answer(p->view, question, &q, to, &final, &e);
    status = gt_gtrace_written(to, status, &e);
    const struct gtrace_page_answer answer = {.final = status >= 0 && final,
                                              .type = file ? file->type : "application/json"};
    gt_gtrace_put(out, &answer, sizeof answer);
    errno = to->failed;
    return status < 0 ? gt_gtrace_fail(err, status, &e) : 0;
}
