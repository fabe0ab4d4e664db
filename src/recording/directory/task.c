/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of task.txt:
 *   SESS timestamp=S.NNNNNNNNN pid=P sid=<16 hex> exename="path"
 *   TASK timestamp=S.NNNNNNNNN tid=T pid=P
 *   FORK timestamp=S.NNNNNNNNN pid=CHILD ppid=PARENT
 *   DLOP timestamp=S.NNNNNNNNN tid=T sid=<16 hex> base=HEX libname="path"
 * and the rule for paths that all text files follow.
 */
#include "base/cursor.h"
#include "base/text.h"
#include "recording/directory/uftrace.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S UINT64_C(1000000000)

/* Of a path's last component, so that NAME-XXXX.sym is a valid file name. */
enum { BASE_MAX = 240 };

static bool path_byte_is_bad(unsigned char c)
{
    return c <= ' ' || c == '"' || c == '\\' || c == 0x7f;
}

/* The tail of s that fits in n bytes and does not begin inside a character. */
static const char *tail(const char *s, size_t n)
{
    size_t len = strlen(s);
    if (len > n)
        s += len - n;
    while (((unsigned char)*s & 0xc0) == 0x80)
        s++;
    return s;
}

void gt_uftrace_path(const char *path, char *out, size_t size)
{
    size_t len = strlen(path), fill = 0;
    while (len > 1 && path[len - 1] == '/')
        len--;
    /* Mended in a buffer of the size of the longest path the kernel knows: cut in front. */
    char buf[4096];
    if (len >= sizeof buf) {
        path += len - (sizeof buf - 1);
        len = sizeof buf - 1;
    }
    while (len) {
        size_t n = gt_text_utf8_length(path, len);
        bool bad = n == 0 || path_byte_is_bad((unsigned char)*path);
        if (!n)
            n = 1;
        if (bad)
            buf[fill++] = '_';
        else
            memcpy(buf + fill, path, n), fill += n;
        path += n;
        len -= n;
    }
    buf[fill] = 0;
    char *base = strrchr(buf, '/');
    base = base ? base + 1 : buf;
    const char *kept = tail(base, BASE_MAX);
    memmove(base, kept, strlen(kept) + 1);
    const char *from = *base ? tail(buf, size - 1) : "unknown";
    snprintf(out, size, "%s", from);
    if (*out == '[') /* readers skip such lines of a map */
        *out = '_';
}

void gt_uftrace_sid(uint64_t id, char out[GT_UFTRACE_SID_LEN + 1])
{
    snprintf(out, GT_UFTRACE_SID_LEN + 1, "%016" PRIx64, id);
}

static bool sid_is_good(const char *sid)
{
    return strnlen(sid, GT_UFTRACE_SID_LEN + 1) == GT_UFTRACE_SID_LEN &&
           gt_text_is_hex(sid, GT_UFTRACE_SID_LEN);
}

static bool id_is_good(uint32_t id)
{
    return id > 0 && id <= INT32_MAX;
}

static int check(const struct gt_uftrace_task *l, struct gt_error *err)
{
    bool has_sid = l->kind == GT_UFTRACE_SESS || l->kind == GT_UFTRACE_DLOP;
    if (has_sid && !sid_is_good(l->sid))
        return gt_error_set(err, GT_E_RANGE, "task.txt: session id '%.20s' is not 16 hex digits",
                            l->sid);
    if (l->kind != GT_UFTRACE_SESS && !id_is_good(l->tid))
        return gt_error_set(err, GT_E_RANGE, "task.txt: task id %" PRIu32 " is not 1..2147483647",
                            l->tid);
    if (l->kind != GT_UFTRACE_DLOP && !id_is_good(l->pid))
        return gt_error_set(err, GT_E_RANGE,
                            "task.txt: process id %" PRIu32 " is not 1..2147483647", l->pid);
    return 0;
}

int gt_uftrace_task_write(struct gt_text *t, const struct gt_uftrace_task *line,
                          struct gt_error *err)
{
    static const char *const word[] = {"SESS", "TASK", "FORK", "DLOP"};
    char path[GT_UFTRACE_PATH_MAX];
    int status = check(line, err);
    if (status)
        return status;
    gt_text_printf(t, "%s timestamp=%" PRIu64 ".%09" PRIu64, word[line->kind],
                   line->time / NS_PER_S, line->time % NS_PER_S);
    switch (line->kind) {
    case GT_UFTRACE_SESS:
        gt_uftrace_path(line->path, path, sizeof path);
        gt_text_printf(t, " pid=%" PRIu32 " sid=%s exename=\"%s\"\n", line->pid, line->sid, path);
        break;
    case GT_UFTRACE_TASK:
        gt_text_printf(t, " tid=%" PRIu32 " pid=%" PRIu32 "\n", line->tid, line->pid);
        break;
    case GT_UFTRACE_FORK:
        gt_text_printf(t, " pid=%" PRIu32 " ppid=%" PRIu32 "\n", line->tid, line->pid);
        break;
    case GT_UFTRACE_DLOP:
        gt_uftrace_path(line->path, path, sizeof path);
        gt_text_printf(t, " tid=%" PRIu32 " sid=%s base=%" PRIx64 " libname=\"%s\"\n", line->tid,
                       line->sid, line->base, path);
        break;
    }
    return t->failed ? gt_error_set(err, GT_E_NOMEM, "task.txt: out of memory") : 0;
}

static bool take_time(struct gt_text_cursor *c, uint64_t *out)
{
    uint64_t sec, nsec;
    struct gt_text_cursor at = *c;
    if (!gt_text_take(&at, " timestamp=") ||
        !gt_text_take_dec(&at, UINT64_MAX / NS_PER_S - 1, &sec) || !gt_text_take(&at, "."))
        return false;
    size_t before = at.left;
    if (!gt_text_take_dec(&at, NS_PER_S - 1, &nsec) || before - at.left != 9)
        return false;
    *out = sec * NS_PER_S + nsec;
    *c = at;
    return true;
}

static bool take_id(struct gt_text_cursor *c, const char *name, uint32_t *out)
{
    uint64_t v;
    if (!gt_text_take(c, name) || !gt_text_take_dec(c, INT32_MAX, &v) || v == 0)
        return false;
    *out = (uint32_t)v;
    return true;
}

static bool take_sid(struct gt_text_cursor *c, char *out)
{
    struct gt_text_cursor word;
    if (!gt_text_take(c, " sid=") || !gt_text_take_word(c, &word) ||
        word.left != GT_UFTRACE_SID_LEN || !gt_text_is_hex(word.at, word.left))
        return false;
    memcpy(out, word.at, word.left);
    out[word.left] = 0;
    return true;
}

/* name="path", to the end of the line. */
static bool take_path(struct gt_text_cursor *c, const char *name, char *out)
{
    if (!gt_text_take(c, name) || c->left < 2 || c->left - 1 >= GT_UFTRACE_PATH_MAX ||
        c->at[c->left - 1] != '"')
        return false;
    size_t n = c->left - 1;
    if (memchr(c->at, 0, n) || memchr(c->at, '\n', n))
        return false;
    memcpy(out, c->at, n);
    out[n] = 0;
    c->at += c->left;
    c->left = 0;
    return true;
}

/* The fault of the line, or NULL. */
static const char *parse(struct gt_text_cursor *c, struct gt_uftrace_task *out)
{
    uint64_t base = 0;
    if (gt_text_take(c, "SESS"))
        out->kind = GT_UFTRACE_SESS;
    else if (gt_text_take(c, "TASK"))
        out->kind = GT_UFTRACE_TASK;
    else if (gt_text_take(c, "FORK"))
        out->kind = GT_UFTRACE_FORK;
    else if (gt_text_take(c, "DLOP"))
        out->kind = GT_UFTRACE_DLOP;
    else
        return "SESS, TASK, FORK or DLOP";
    if (!take_time(c, &out->time))
        return "timestamp=S.NNNNNNNNN";
    bool fork = out->kind == GT_UFTRACE_FORK;
    if (out->kind != GT_UFTRACE_SESS && !take_id(c, fork ? " pid=" : " tid=", &out->tid))
        return fork ? "pid=1..2147483647" : "tid=1..2147483647";
    if (out->kind != GT_UFTRACE_DLOP && !take_id(c, fork ? " ppid=" : " pid=", &out->pid))
        return fork ? "ppid=1..2147483647" : "pid=1..2147483647";
    bool sess = out->kind == GT_UFTRACE_SESS, dlop = out->kind == GT_UFTRACE_DLOP;
    if ((sess || dlop) && !take_sid(c, out->sid))
        return "sid= and 16 hex digits";
    if (dlop && (!gt_text_take(c, " base=") || !gt_text_take_hex(c, UINT64_MAX, &base)))
        return "base= and a hex address";
    out->base = base;
    if (sess && !take_path(c, " exename=\"", out->path))
        return "exename=\"path\" of less than 1024 bytes";
    if (dlop && !take_path(c, " libname=\"", out->path))
        return "libname=\"path\" of less than 1024 bytes";
    return c->left ? "the end of the line" : NULL;
}

int gt_uftrace_task_read(const char *line, size_t size, struct gt_uftrace_task *out,
                         struct gt_error *err)
{
    struct gt_text_cursor c = {line, size}, all = c;
    char show[64];
    *out = (struct gt_uftrace_task){0};
    const char *expected = parse(&c, out);
    if (expected)
        return gt_error_set(err, GT_E_FORMAT, "column %zu of '%s': expected %s", size - c.left + 1,
                            gt_text_cursor_show(&all, show), expected);
    return 0;
}
