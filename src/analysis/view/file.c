/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page as one file: style and script stand in it, and answers, each in a data block:
 *
 *   <script type="application/gzip" data-name="flame?inverse=1">BASE64 OF GZIP OF JSON</script>
 *
 * Base64 has no character that could end the block. The policy names the script and the style by
 * their hashes, so nothing else runs, and nothing is loaded.
 */
#include "analysis/export/gzip.h"
#include "analysis/view/page.h"
#include "analysis/view/private.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Those of the whole recording; tiles come after them. */
static const char *const questions[] = {
    "info",
    "tracks",
    "functions",
    "marks",
    "report",
    "groups?by=tasks",
    "groups?by=modules",
    "flame",
    "flame?by=calls",
    "flame?inverse=1",
    "flame?inverse=1&by=calls",
    "edges",
};

/* ---- pieces -------------------------------------------------------------------------------- */

/* All that was written to it; NULL: err says why. */
static GBytes *read_back(int fd, struct gt_error *err)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *data = size < 0 ? NULL : g_try_malloc((gsize)size + 1);
    if (data && pread(fd, data, (size_t)size, 0) == size)
        return g_bytes_new_take(data, (gsize)size);
    g_free(data);
    gt_error_set(err, GT_E_NOMEM, "out of memory");
    return NULL;
}

/* What `make` writes; NULL: err says why. */
static GBytes *made(int (*make)(struct gt_output *out, void *self, struct gt_error *err),
                    void *self, struct gt_error *err)
{
    GBytes *bytes = NULL;
    const int fd = memfd_create("page", MFD_CLOEXEC);
    if (fd < 0) {
        gt_error_errno(err, errno, "memory for the page");
        return NULL;
    }
    struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, fd);
    int status = make(out, self, err);
    if (status >= 0 && gt_output_finish(out, "memory for the page", err) == 0)
        bytes = read_back(fd, err);
    g_free(out);
    close(fd);
    return bytes;
}

struct piece {
    struct gt_view *view;
    const char *question; /* NULL: the level */
    unsigned exp;
};

/* The text of a parameter of "name?key=value&key=value". */
static const char *value_of(void *self, const char *key)
{
    static __thread char value[32];
    const char *at = strchr(self, '?');
    const size_t n = strlen(key);
    while (at) {
        at++;
        if (strncmp(at, key, n) == 0 && at[n] == '=') {
            g_strlcpy(value, at + n + 1, MIN(sizeof value, strcspn(at + n + 1, "&") + 1));
            return value;
        }
        at = strchr(at, '&');
    }
    return NULL;
}

static int put_answer(struct gt_output *out, void *self, struct gt_error *err)
{
    const struct piece *p = self;
    bool final;
    if (!p->question) {
        struct gt_json j;
        gt_json_init(&j, out, GT_JSON_REPLACE);
        return gt_view_level(p->view, p->exp, &j, err);
    }
    const struct gt_view_query q = {value_of, (void *)(uintptr_t)p->question};
    g_autofree char *name = g_strndup(p->question, strcspn(p->question, "?"));
    return gt_view_answer(p->view, name, &q, out, &final, err);
}

static int put_gzip(struct gt_output *out, void *self, struct gt_error *err)
{
    struct gt_gzip g;
    gsize size;
    const void *data = g_bytes_get_data(self, &size);
    int status = gt_gzip_begin(&g, out, err);
    if (status < 0)
        return status;
    gt_gzip_add(&g, data, size);
    gt_gzip_end(&g);
    return 0;
}

/* An answer, packed, as text; NULL: err says why. */
static char *packed(const struct piece *p, struct gt_error *err)
{
    g_autoptr(GBytes) json = made(put_answer, (void *)(uintptr_t)p, err);
    g_autoptr(GBytes) gzip = json ? made(put_gzip, json, err) : NULL;
    if (!gzip)
        return NULL;
    gsize size;
    const guchar *data = g_bytes_get_data(gzip, &size);
    return g_base64_encode(data, size);
}

static void put_block(struct gt_output *out, const char *name, const char *text)
{
    gt_output_text(out, "<script type=\"application/gzip\" data-name=\"");
    gt_output_text(out, name);
    gt_output_text(out, "\">");
    gt_output_bytes(out, text, strlen(text));
    gt_output_text(out, "</script>\n");
}

/* ---- the file ------------------------------------------------------------------------------ */

static void put_hash(struct gt_output *out, const struct gt_view_file *f)
{
    guint8 hash[32];
    gsize size = sizeof hash;
    GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_checksum_update(sum, f->data, (gssize)f->size);
    g_checksum_get_digest(sum, hash, &size);
    g_checksum_free(sum);
    g_autofree char *text = g_base64_encode(hash, size);
    gt_output_text(out, "'sha256-");
    gt_output_text(out, text);
    gt_output_text(out, "'; ");
}

static void put_head(struct gt_output *out)
{
    gt_output_text(out,
                   "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "script-src ");
    put_hash(out, &gt_view_page_js);
    gt_output_text(out, "style-src ");
    put_hash(out, &gt_view_page_css);
    gt_output_text(out, "base-uri 'none'; form-action 'none'\">\n"
                        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta name=\"color-scheme\" content=\"light dark\">\n"
                        "<meta name=\"generator\" content=\"guesttrace " GT_VERSION "\">\n"
                        "<title>guesttrace</title>\n<style>");
    gt_output_bytes(out, gt_view_page_css.data, gt_view_page_css.size);
    gt_output_text(out, "</style>\n</head>\n<body>\n"
                        "<noscript>This page needs JavaScript.</noscript>\n");
}

static int put_levels(struct gt_view *v, uint64_t room, struct gt_output *out, struct gt_error *err)
{
    unsigned finest, exp;
    gt_timeline_range(v->timeline, &finest, &exp);
    for (const unsigned coarsest = exp;; exp -= GT_TIMELINE_STEP) {
        const struct piece p = {.view = v, .exp = exp};
        g_autofree char *text = packed(&p, err);
        char name[24];
        if (!text)
            return err->status;
        if (strlen(text) > room && exp != coarsest)
            break;
        g_snprintf(name, sizeof name, "tiles/%u", exp);
        put_block(out, name, text);
        room -= MIN(room, strlen(text));
        if (exp == finest)
            break;
    }
    return 0;
}

int gt_view_write_page(struct gt_view *v, uint64_t size, struct gt_output *out,
                       struct gt_error *err)
{
    uint64_t used = gt_view_page_js.size + gt_view_page_css.size;
    put_head(out);
    for (size_t i = 0; i < G_N_ELEMENTS(questions) && !out->failed; i++) {
        const struct piece p = {.view = v, .question = questions[i]};
        g_autofree char *text = packed(&p, err);
        if (!text)
            return err->status;
        used += strlen(text);
        g_autofree char *name = g_strdup(questions[i]);
        put_block(out, g_strdelimit(name, "&", ','), text);
    }
    int status = out->failed ? 0 : put_levels(v, size > used ? size - used : 0, out, err);
    gt_output_text(out, "<script>");
    gt_output_bytes(out, gt_view_page_js.data, gt_view_page_js.size);
    gt_output_text(out, "</script>\n</body>\n</html>\n");
    return status;
}
