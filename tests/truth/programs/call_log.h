/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program says of its own calls: a record for each function that it enters, written by the
 * hooks that the compiler puts there (call_log.c). The file is called "log", in the current folder:
 * the number of records, three words, the records.
 */
#ifndef CALL_LOG_H
#define CALL_LOG_H

#include <stdint.h>

struct call_record {
    uint64_t function; /* an address in it */
    uint64_t site;     /* where it was called: the return address */
    uint64_t sp;       /* a place in the caller's frame, or where that ends */
};

#endif
