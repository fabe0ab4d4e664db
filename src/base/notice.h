/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Notices: lines that a library reports beside its result. The caller of the library prints them or
 * ignores them. */
#ifndef GT_BASE_NOTICE_H
#define GT_BASE_NOTICE_H

struct gt_notices {
    /* Takes one line without its newline. May be NULL, as may be a pointer to all of this: notices
     * are ignored. */
    void (*put)(void *self, const char *line);
    void *self;
};

/* Lines longer than 8 KiB are cut. */
void gt_notice(const struct gt_notices *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
