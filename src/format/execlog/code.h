/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a log's definitions say: blocks, with the text of each instruction's line, devices and
 * registers. Blocks stay where they are; all together they take at most GT_EXECLOG_MOST_CODE.
 */
#ifndef GT_FORMAT_EXECLOG_CODE_H
#define GT_FORMAT_EXECLOG_CODE_H

#include "base/error.h"
#include "format/execlog/chunk.h"

enum {
    GT_EXECLOG_MOST_CODE = 1 << 30, /* bytes */
    GT_EXECLOG_SLACK = 64,          /* texts may be read so far beyond their end */
};

struct gt_execlog_code {
    struct gt_execlog_block block; /* the first member: the walk knows it */
    uint32_t *ends;                /* n + 1: text i is from ends[i] to ends[i + 1] */
    char *text;                    /* `0xADDRESS, 0xOPCODE, "TEXT"`, one after the other */
    uint64_t addresses[];
};

struct gt_execlog_name {
    char *text; /* device: ", NAME"; register: ", NAME -> 0x" */
    uint32_t len, size;
};

enum {
    GT_EXECLOG_PAGE = 65536,                        /* ids, each */
    GT_EXECLOG_PAGES = (1 << 30) / GT_EXECLOG_PAGE, /* ids are below 2^30 */
};

struct gt_execlog_codes {
    struct gt_execlog_code ***pages; /* by id */
    struct gt_execlog_piece *pieces; /* what blocks and names live in */
    char *at;
    size_t left; /* bytes of the newest piece */
    uint64_t taken;
    struct gt_execlog_name *devices; /* by number, 65536 */
    struct gt_execlog_name registers[GT_EXECLOG_MAX_REGISTERS];
};

/* NULL: no memory. */
struct gt_execlog_codes *gt_execlog_codes_create(void);
void gt_execlog_codes_destroy(struct gt_execlog_codes *c); /* NULL is fine */

/* Learns a body of definitions; a block that is known already is not learnt again. GT_E_FORMAT,
 * GT_E_RANGE, GT_E_NOMEM; the message says what is wrong at which byte of the body. */
int gt_execlog_codes_learn(struct gt_execlog_codes *c, const struct gt_execlog_chunk *chunk,
                           const uint8_t *body, struct gt_error *err);

/* NULL: it is not known. */
static inline const struct gt_execlog_code *gt_execlog_codes_find(const struct gt_execlog_codes *c,
                                                                  uint32_t id)
{
    uint32_t page = id / GT_EXECLOG_PAGE;
    return page < GT_EXECLOG_PAGES && c->pages[page] ? c->pages[page][id % GT_EXECLOG_PAGE] : NULL;
}
const struct gt_execlog_name *gt_execlog_codes_device(const struct gt_execlog_codes *c,
                                                      uint32_t number);
const struct gt_execlog_name *gt_execlog_codes_register(const struct gt_execlog_codes *c,
                                                        uint32_t number);

#endif
