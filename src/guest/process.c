/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps, byte by byte, so that neither a line nor the file has a length limit:
 *   START-END PROT OFFSET MAJOR:MINOR INODE [spaces PATH] \n
 */
#include "guest/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Where the bytes come from: a file, or a text in memory (fd -1). */
struct source {
    int fd;
    const char *at;
    size_t left;
    int errnum;
    char *buf;
    size_t buf_size;
};

static int next_byte(struct source *s)
{
    if (s->left == 0 && s->fd >= 0) {
        ssize_t n;
        do {
            n = read(s->fd, s->buf, s->buf_size);
        } while (n < 0 && errno == EINTR);
        if (n < 0)
            s->errnum = errno;
        s->at = s->buf;
        s->left = n > 0 ? (size_t)n : 0;
    }
    if (s->left == 0)
        return -1;
    s->left--;
    return (unsigned char)*s->at++;
}

struct line {
    uint64_t start, end, offset, inode;
    uint64_t major, minor;
    bool readable, writable, executable;
    bool valid;
};

/* A number and the byte after it; false where there are no digits or too many. */
static bool number(struct source *s, unsigned base, uint64_t *out, int *after)
{
    int c;
    bool any = false;

    *out = 0;
    while ((c = next_byte(s)) >= 0) {
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                : 99;
        if (digit >= base)
            break;
        if (*out > (UINT64_MAX - digit) / base) {
            any = false;
            break;
        }
        *out = *out * base + digit;
        any = true;
    }
    *after = c;
    return any;
}

/* Fields up to the inode. `after` is the byte that ended it. */
static bool read_fields(struct source *s, struct line *l, int *after)
{
    int c;

    if (!number(s, 16, &l->start, after) || *after != '-' || !number(s, 16, &l->end, after) ||
        *after != ' ')
        return false;
    while ((c = next_byte(s)) >= 0 && c != ' ' && c != '\n') {
        l->readable |= c == 'r';
        l->writable |= c == 'w';
        l->executable |= c == 'x';
    }
    *after = c;
    return c == ' ' && number(s, 16, &l->offset, after) && *after == ' ' &&
           number(s, 16, &l->major, after) && *after == ':' && number(s, 16, &l->minor, after) &&
           *after == ' ' && number(s, 10, &l->inode, after) && l->start < l->end;
}

/* Undoes the escape of a newline, the only one that the kernel does here. */
static void unescape(char *path)
{
    char *to = path;

    for (const char *from = path; *from; to++) {
        bool newline = strncmp(from, "\\012", 4) == 0;
        *to = newline ? '\n' : *from;
        from += newline ? 4 : 1;
    }
    *to = '\0';
}

/* The rest of a line is its path; one that does not fit is none. */
static void read_path(struct source *s, int c, struct gt_process_mapping *out)
{
    static const char deleted[] = " (deleted)";
    size_t n = 0;

    while (c == ' ')
        c = next_byte(s);
    for (; c >= 0 && c != '\n'; c = next_byte(s))
        if (out && n++ < sizeof out->path - 1)
            out->path[n - 1] = (char)c;
    if (!out)
        return;
    if (n > sizeof out->path - 1)
        n = 0;
    out->path[n] = '\0';
    out->deleted = n > strlen(deleted) && strcmp(out->path + n - strlen(deleted), deleted) == 0;
    if (out->deleted)
        out->path[n - strlen(deleted)] = '\0';
    unescape(out->path);
}

/* Reads the next line, valid or not; false at the end. The path is kept only where the mapping has
 * the address `keep`. */
static bool read_line(struct source *s, struct line *l, uint64_t keep,
                      struct gt_process_mapping *out)
{
    int c;

    *l = (struct line){0};
    l->valid = read_fields(s, l, &c);
    if (c < 0 && !l->valid)
        return false;
    if (c != '\n') {
        bool wanted = l->valid && l->inode && keep >= l->start && keep < l->end;
        read_path(s, c, wanted ? out : NULL);
    }
    return true;
}

/* One instance of the file, as it grows line by line. */
struct instance {
    uint64_t start, end, base;
    struct line last; /* the last mapping that is not a hole */
    bool open, has_base;
};

static bool is_hole(const struct line *l)
{
    return !l->readable && !l->writable && !l->executable;
}

static bool continues(const struct instance *i, const struct line *l)
{
    if (!i->open)
        return false;
    if (l->offset == i->last.offset && i->last.writable && !l->writable)
        return false;
    return l->offset >= i->last.offset;
}

static void add_line(struct instance *i, const struct line *l)
{
    if (!continues(i, l))
        *i = (struct instance){.start = l->start, .open = true};
    i->end = l->end;
    if (l->offset == 0 && !i->has_base) {
        i->base = l->start;
        i->has_base = true;
    }
    if (!is_hole(l))
        i->last = *l;
}

static bool same_file(const struct line *a, const struct line *b)
{
    return a->inode == b->inode && a->major == b->major && a->minor == b->minor;
}

static void fill(struct gt_process_mapping *out, const struct line *l, const struct instance *i)
{
    bool whole = i->open && l->start >= i->start && l->end <= i->end;

    out->start = whole ? i->start : l->start;
    out->end = whole ? i->end : l->end;
    out->base = whole && i->has_base ? i->base : l->start - l->offset;
    out->inode = l->inode;
    out->dev_major = (uint32_t)l->major;
    out->dev_minor = (uint32_t)l->minor;
}

/* Lines up to the end of the instance of the file that has the address. */
static int mapping_from(struct source *s, uint64_t addr, struct gt_process_mapping *out)
{
    struct instance i = {0};
    struct line l, target = {0}, last = {0};
    bool found = false;

    memset(out, 0, sizeof *out);
    while (read_line(s, &l, addr, out)) {
        bool has_address = l.valid && !found && addr >= l.start && addr < l.end;
        if (has_address && l.inode == 0) {
            out->start = l.start;
            out->end = l.end;
            return 0;
        }
        if (!l.valid || l.inode == 0)
            continue;
        if (found && (!same_file(&l, &target) || !continues(&i, &l)))
            break;
        if (has_address)
            target = l;
        found |= has_address;
        i.open = i.open && same_file(&l, &last);
        add_line(&i, &l);
        last = l;
    }
    if (!found)
        return s->errnum ? GT_E_IO : GT_E_NOT_FOUND;
    fill(out, &target, &i);
    return 1;
}

int gt_process_mapping_at(uint64_t host_addr, struct gt_process_mapping *out)
{
    char buf[8192];
    struct source s = {.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), .buf = buf};
    int r;

    memset(out, 0, sizeof *out);
    if (s.fd < 0)
        return GT_E_IO;
    s.buf_size = sizeof buf;
    r = mapping_from(&s, host_addr, out);
    close(s.fd);
    return r;
}

int gt_process_mapping_in(const char *maps, size_t size, uint64_t host_addr,
                          struct gt_process_mapping *out)
{
    struct source s = {.fd = -1, .at = maps, .left = size};

    return mapping_from(&s, host_addr, out);
}

const char *gt_process_readable_path(const struct gt_process_mapping *map, const char *program)
{
    struct stat st;
    if (!map->deleted)
        return map->path;
    return program && stat(program, &st) == 0 && st.st_ino == map->inode &&
                   st.st_dev == makedev(map->dev_major, map->dev_minor)
               ? program
               : NULL;
}
