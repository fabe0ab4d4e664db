/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a library has to report beside its result: a line for whoever uses it, which prints it, or
 * does not. */
#ifndef GT_BASE_NOTICE_H
#define GT_BASE_NOTICE_H

struct gt_notices {
    /* One line without its newline. May be NULL: nobody asks. */
    void (*put)(void *self, const char *line);
    void *self;
};

/* Lines longer than 8 KiB are cut. */
void gt_notice(const struct gt_notices *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
