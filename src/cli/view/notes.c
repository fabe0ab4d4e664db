/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file of a page's bookmarks: see notes.h. */
#include "cli/view/notes.h"

#include "base/output.h"
#include "cli/output_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char heading[] = "guesttrace notes 1\n";

enum { FIELDS = 7, NUMBERS = 2 /* the first ones */ };

struct gt_cli_view_notes {
    GMutex lock;
    char *path;
    GBytes *text;
};

/* ---- the format ---------------------------------------------------------------------------- */

static bool is_bookmark(const char *line, size_t size)
{
    size_t field = 0, digits = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char c = (unsigned char)line[i];
        if (c == '\t') {
            if (field < NUMBERS && digits == 0)
                return false;
            field++;
            digits = 0;
        } else if (c < ' ' || c == 0x7f || (field < NUMBERS && !g_ascii_isdigit(c))) {
            return false;
        } else {
            digits++;
        }
    }
    return field == FIELDS - 1;
}

static int check(const char *name, const char *text, size_t size, struct gt_error *err)
{
    const size_t head = strlen(heading);
    unsigned line = 1;
    if (size > GT_NOTES_MOST)
        return gt_error_set(err, GT_E_RANGE, "%s: more than %d bytes of bookmarks", name,
                            GT_NOTES_MOST);
    if (size < head || memcmp(text, heading, head) != 0)
        return gt_error_set(err, GT_E_FORMAT,
                            "%s: not a file of bookmarks, which begins with 'guesttrace notes 1'; "
                            "choose another name",
                            name);
    for (size_t at = head; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        const size_t length = end ? (size_t)(end - text) - at : 0;
        line++;
        if (!end || !is_bookmark(text + at, length) ||
            !g_utf8_validate(text + at, (gssize)length, NULL))
            return gt_error_set(err, GT_E_FORMAT,
                                "%s:%u: not a bookmark: seven fields of UTF-8 with tabs between "
                                "them, the first two are numbers",
                                name, line);
        at += length + 1;
    }
    return 0;
}

/* ---- the file ------------------------------------------------------------------------------ */

static int read_file(struct gt_cli_view_notes *n, struct gt_error *err)
{
    g_autoptr(GError) why = NULL;
    char *text;
    gsize size;
    struct stat st;
    if (stat(n->path, &st) != 0 && errno == ENOENT) {
        n->text = g_bytes_new_static(heading, strlen(heading));
        return 0;
    }
    if (stat(n->path, &st) == 0 && (!S_ISREG(st.st_mode) || st.st_size > GT_NOTES_MOST))
        return gt_error_set(err, GT_E_RANGE, "%s: not a file of at most %d bytes", n->path,
                            GT_NOTES_MOST);
    if (!g_file_get_contents(n->path, &text, &size, &why))
        return gt_error_set(err, GT_E_IO, "%s", why->message);
    n->text = g_bytes_new_take(text, size);
    return check(n->path, text, size, err);
}

int gt_cli_view_notes_open(const char *path, struct gt_cli_view_notes **out, struct gt_error *err)
{
    struct gt_cli_view_notes *n = g_new0(struct gt_cli_view_notes, 1);
    g_mutex_init(&n->lock);
    n->path = g_strdup(path);
    int status = read_file(n, err);
    *out = status < 0 ? NULL : n;
    if (status < 0)
        gt_cli_view_notes_close(n);
    return status;
}

void gt_cli_view_notes_close(struct gt_cli_view_notes *n)
{
    if (!n)
        return;
    g_mutex_clear(&n->lock);
    g_clear_pointer(&n->text, g_bytes_unref);
    g_free(n->path);
    g_free(n);
}

GBytes *gt_cli_view_notes_get(struct gt_cli_view_notes *n)
{
    g_mutex_lock(&n->lock);
    GBytes *text = g_bytes_ref(n->text);
    g_mutex_unlock(&n->lock);
    return text;
}

static int write_file(const struct gt_cli_view_notes *n, const char *text, size_t size,
                      struct gt_error *err)
{
    struct gt_cli_output_file f;
    int status = gt_cli_output_file_open(&f, n->path, err);
    if (status < 0)
        return status;
    g_autofree struct gt_output *out = g_new(struct gt_output, 1);
    gt_output_init(out, f.fd);
    gt_output_bytes(out, text, size);
    status = gt_output_finish(out, n->path, err);
    if (status == 0 && fsync(f.fd) != 0)
        status = gt_error_errno(err, errno, "%s: cannot be written", n->path);
    const int finished = gt_cli_output_file_finish(&f, status == 0, err);
    return status < 0 ? status : finished;
}

int gt_cli_view_notes_put(struct gt_cli_view_notes *n, const char *text, size_t size,
                          struct gt_error *err)
{
    int status = check("the bookmarks", text, size, err);
    if (status < 0)
        return status;
    g_mutex_lock(&n->lock);
    status = write_file(n, text, size, err);
    if (status == 0) {
        g_bytes_unref(n->text);
        n->text = g_bytes_new(text, size);
    }
    g_mutex_unlock(&n->lock);
    return status;
}
