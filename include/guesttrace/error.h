/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors of libguesttrace-events: functions return 0 or a positive count on success and one of enum
 * gt_trace_status, all negative, on failure. Those that take a struct gt_trace_error (which may be
 * NULL) store a message in it: one line, without a newline, that names the file, the line or
 * offset, the value and the expected form. The library never exits.
 */
#ifndef GUESTTRACE_ERROR_H
#define GUESTTRACE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum gt_trace_status {
    GT_TRACE_OK = 0,
    GT_TRACE_E_USAGE = -1,       /* an argument is invalid */
    GT_TRACE_E_NOMEM = -2,       /* out of memory */
    GT_TRACE_E_TRUNC = -3,       /* the input ends in the middle of an item */
    GT_TRACE_E_FORMAT = -4,      /* the input is not what its format says */
    GT_TRACE_E_RANGE = -5,       /* a value is too large or too small */
    GT_TRACE_E_IO = -6,          /* the operating system refused; errno is in the message */
    GT_TRACE_E_NOT_FOUND = -7,   /* a file or a name that does not exist */
    GT_TRACE_E_UNSUPPORTED = -8, /* the request is understood, but not possible here */
    GT_TRACE_E_EXISTS = -9,      /* the target exists already */
};

struct gt_trace_error {
    int status; /* enum gt_trace_status; GT_TRACE_OK: no error */
    char text[512];
};

#ifdef __cplusplus
}
#endif

#endif
