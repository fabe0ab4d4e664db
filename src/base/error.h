/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Status codes and error messages, for every module.
 *
 * A function that can fail returns 0 or a positive count on success and one of enum
 * gt_error_status, all negative, on failure. A function whose caller needs more than the code takes
 * a struct gt_error and fills it: one line, without a newline, that names the file, the line or
 * offset, the value and the expected form. Libraries never print, exit or abort.
 */
#ifndef GT_BASE_ERROR_H
#define GT_BASE_ERROR_H

enum gt_error_status {
    GT_OK = 0,
    GT_E_USAGE = -1,       /* an argument is invalid */
    GT_E_NOMEM = -2,       /* out of memory */
    GT_E_TRUNC = -3,       /* the input ends in the middle of an item */
    GT_E_FORMAT = -4,      /* the input is not what its format says */
    GT_E_RANGE = -5,       /* a value is outside what the format or the module can hold */
    GT_E_IO = -6,          /* the operating system refused; errno is in the message */
    GT_E_NOT_FOUND = -7,   /* a file, symbol or name that does not exist */
    GT_E_UNSUPPORTED = -8, /* the input is understood, but cannot be handled here */
    GT_E_EXISTS = -9,      /* the target exists already */
    GT_E_BUSY = -10,       /* another process writes it */
};

struct gt_error {
    int status; /* enum gt_error_status; GT_OK: no error */
    char text[512];
};

/* Fills err (which may be NULL) and returns status, so that `return gt_error_set(...)` reads well.
 * A message longer than the buffer is cut. */
int gt_error_set(struct gt_error *err, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with `: ` and the text of the errno value appended; status is GT_E_IO, or GT_E_NOT_FOUND
 * for ENOENT. */
int gt_error_errno(struct gt_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A few words for a status: "truncated", "out of memory". Static, never NULL. */
const char *gt_error_status_text(int status);

/* Notices: lines that a library reports beside its result. The caller of the library prints them or
 * ignores them. */

struct gt_error_notices {
    /* Takes one line without its newline. May be NULL, as may be a pointer to all of this: notices
     * are ignored. */
    void (*put)(void *self, const char *line);
    void *self;
};

/* Lines longer than 8 KiB are cut. */
void gt_error_notice(const struct gt_error_notices *to, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
