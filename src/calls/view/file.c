/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The page as one file: style and script stand in it, and answers, each in a data block:
 *
 *   <script type="application/gzip" data-name="flame?inverse=1">BASE64 OF GZIP OF JSON</script>
 *
 * A block "exact/EXP" without text says that all calls stand alone at the level EXP. One "wall"
 * says that sums of wall time are there, as answers to "?wall=1": those that differ from the
 * others. Base64 has no character that could end the block. The policy names the script and the
 * style by their hashes, so nothing else runs, and nothing is loaded.
 */
#include "calls/export/gzip.h"
#include "calls/view/page.h"
#include "calls/view/private.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

/* Of the whole recording; tiles come after them. */
static const char *const questions[] = {"info", "tracks", "functions", "marks", "initcalls"};
/* Sums: first those that differ for wall time if any do. */
static const char *const questions_of_sums[] = {
    "report",         "groups?by=tasks", "groups?by=modules",        "flame",
    "flame?by=calls", "flame?inverse=1", "flame?inverse=1&by=calls", "edges",
};
static const char *const questions_of_two[] = {
    "changes",
    "difference",
    "difference?by=calls",
    "difference?inverse=1",
    "difference?inverse=1&by=calls",
};

enum { OVERHEAD = 2048 }; /* what of the page is not counted elsewhere */

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
    bool exact; /* set where the level has all calls alone */
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
    struct piece *p = self;
    bool final;
    if (!p->question) {
        struct gt_json j;
        gt_json_init(&j, out, GT_JSON_REPLACE);
        return gt_view_level(p->view, p->exp, &j, &p->exact, err);
    }
    const struct gt_view_query q = {value_of, (void *)(uintptr_t)p->question};
    g_autofree char *name = g_strndup(p->question, strcspn(p->question, "?"));
    return gt_view_answer(p->view, name, &q, out, &final, err);
}

static int put_gzip(struct gt_output *out, void *self, struct gt_error *err)
{
    struct gt_export_gzip g;
    gsize size;
    const void *data = g_bytes_get_data(self, &size);
    int status = gt_export_gzip_begin(&g, out, err);
    if (status < 0)
        return status;
    gt_export_gzip_add(&g, data, size);
    gt_export_gzip_end(&g);
    return 0;
}

/* An answer, packed, as text; NULL: err says why. */
static char *packed(struct piece *p, struct gt_error *err)
{
    g_autoptr(GBytes) json = made(put_answer, p, err);
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
    gt_output_text(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
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

/* Blocks that are there whatever the size is: name, text, name, text... */
struct blocks {
    GPtrArray *list;
    uint64_t bytes;
};

/* The text is the blocks' then. */
static void take_block(struct blocks *b, const char *name, char *text)
{
    g_ptr_array_add(b->list, g_strdelimit(g_strdup(name), "&", ','));
    g_ptr_array_add(b->list, text);
    b->bytes += strlen(text) + strlen(name) + strlen("<script></script>") + 48;
}

static int add_block(struct blocks *b, const char *name, struct piece *p, struct gt_error *err)
{
    char *text = packed(p, err);
    if (!text)
        return err->status;
    take_block(b, name, text);
    return 0;
}

static const char *text_of(const struct blocks *b, const char *name)
{
    g_autofree char *block = g_strdelimit(g_strdup(name), "&", ',');
    for (guint i = 0; i + 1 < b->list->len; i += 2)
        if (strcmp(b->list->pdata[i], block) == 0)
            return b->list->pdata[i + 1];
    return "";
}

static int add_answers(struct gt_view *v, const char *const *question, size_t n, struct blocks *b,
                       struct gt_error *err)
{
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++) {
        struct piece p = {.view = v, .question = question[i]};
        status = add_block(b, question[i], &p, err);
    }
    return status;
}

/* Answers of wall time that differ from those in `ran`. The first is the same where nothing slept.
 */
static int add_wall_answers(struct gt_view *v, const char *const *question, size_t n,
                            const struct blocks *ran, struct blocks *b, struct gt_error *err)
{
    for (size_t i = 0; i < n; i++) {
        g_autofree char *name =
            g_strconcat(question[i], strchr(question[i], '?') ? "&" : "?", "wall=1", NULL);
        struct piece p = {.view = v, .question = name};
        char *text = packed(&p, err);
        if (!text)
            return err->status;
        const bool same = strcmp(text, text_of(ran, question[i])) == 0;
        if (!same)
            take_block(b, name, text);
        else
            g_free(text);
        if (same && i == 0)
            return 0;
    }
    return 0;
}

static int add_level(struct gt_view *v, unsigned exp, struct blocks *b, bool *exact,
                     struct gt_error *err)
{
    struct piece p = {.view = v, .exp = exp};
    char name[24];
    g_snprintf(name, sizeof name, "tiles/%u", exp);
    int status = add_block(b, name, &p, err);
    *exact = p.exact;
    if (status < 0 || !p.exact)
        return status;
    g_snprintf(name, sizeof name, "exact/%u", exp);
    g_ptr_array_add(b->list, g_strdup(name));
    g_ptr_array_add(b->list, g_strdup(""));
    return 0;
}

static void clear_blocks(struct blocks *b, struct gt_output *out)
{
    for (guint i = 0; out && i + 1 < b->list->len; i += 2)
        put_block(out, b->list->pdata[i], b->list->pdata[i + 1]);
    g_ptr_array_set_size(b->list, 0);
    b->bytes = 0;
}

/* What does not depend on the size: sums, and the coarsest level. */
static int add_all(struct gt_view *v, struct blocks *b, bool *exact, struct gt_error *err)
{
    unsigned finest, coarsest;
    gt_timeline_range(v->timeline, &finest, &coarsest);
    int status = add_answers(v, questions, G_N_ELEMENTS(questions), b, err);
    if (status == 0)
        status = add_answers(v, questions_of_sums, G_N_ELEMENTS(questions_of_sums), b, err);
    if (status == 0 && v->other)
        status = add_answers(v, questions_of_two, G_N_ELEMENTS(questions_of_two), b, err);
    return status == 0 ? add_level(v, coarsest, b, exact, err) : status;
}

/* Sums of wall time, if they all have room; takes them from *room. `ran`: the answers so far. */
static int add_wall(struct gt_view *v, const struct blocks *ran, uint64_t *room, struct blocks *b,
                    struct gt_error *err)
{
    int status =
        add_wall_answers(v, questions_of_sums, G_N_ELEMENTS(questions_of_sums), ran, b, err);
    if (status == 0 && v->other)
        status = add_wall_answers(v, questions_of_two, G_N_ELEMENTS(questions_of_two), ran, b, err);
    if (status < 0)
        return status;
    take_block(b, "wall", g_strdup(""));
    if (b->bytes > *room)
        clear_blocks(b, NULL);
    *room -= b->bytes;
    return 0;
}

/* Finer levels, as far as there is room, down to the one at which all calls stand alone. */
static int put_levels(struct gt_view *v, uint64_t room, bool exact, struct blocks *b,
                      struct gt_output *out, struct gt_error *err)
{
    unsigned finest, exp;
    int status = 0;
    gt_timeline_range(v->timeline, &finest, &exp);
    while (exp > 0 && !exact && status == 0 && !out->failed) {
        exp = exp > GT_TIMELINE_STEP ? exp - GT_TIMELINE_STEP : 0;
        status = add_level(v, exp, b, &exact, err);
        if (status == GT_E_RANGE && exp < finest)
            return 0; /* it has too many calls for the memory that a level may take */
        if (status < 0 || b->bytes > room)
            break;
        room -= b->bytes;
        clear_blocks(b, out);
    }
    return status;
}

static int write_page(struct gt_view *v, uint64_t size, struct blocks *b, struct blocks *wall,
                      struct gt_output *out, struct gt_error *err)
{
    uint64_t used = gt_view_page_js.size + gt_view_page_css.size + OVERHEAD;
    bool exact;
    int status = add_all(v, b, &exact, err);
    used += b->bytes;
    if (status == 0 && used > size)
        return gt_error_set(err, GT_E_RANGE,
                            "the page takes at least %" PRIu64 " bytes, with the sums of the whole "
                            "recording and the time line at its coarsest; the limit is %" PRIu64,
                            used, size);
    uint64_t room = size - used;
    if (status == 0)
        status = add_wall(v, b, &room, wall, err);
    if (status < 0)
        return status;
    put_head(out);
    clear_blocks(b, out);
    clear_blocks(wall, out);
    status = put_levels(v, room, exact, b, out, err);
    gt_output_text(out, "<script>");
    gt_output_bytes(out, gt_view_page_js.data, gt_view_page_js.size);
    gt_output_text(out, "</script>\n</body>\n</html>\n");
    return status;
}

int gt_view_write_page(struct gt_view *v, uint64_t size, struct gt_output *out,
                       struct gt_error *err)
{
    struct blocks b = {.list = g_ptr_array_new_with_free_func(g_free)};
    struct blocks wall = {.list = g_ptr_array_new_with_free_func(g_free)};
    int status = write_page(v, size, &b, &wall, out, err);
    g_ptr_array_free(b.list, TRUE);
    g_ptr_array_free(wall.list, TRUE);
    return status;
}
