/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The definitions of a log: blocks, with the text of each instruction's line, devices and
 * registers. Pointers to blocks stay valid; all blocks together take at most GT_EXECLOG_MOST_CODE
 * bytes.
 */
#ifndef GT_EXECLOG_FORMAT_CODE_H
#define GT_EXECLOG_FORMAT_CODE_H

#include "base/error.h"
#include "execlog/format/chunk.h"

enum {
    GT_EXECLOG_MOST_CODE = 1 << 30, /* bytes */
    GT_EXECLOG_SLACK = 64,          /* texts may be read this many bytes beyond their end */
};

struct gt_execlog_code {
    struct gt_execlog_block block; /* must be the first member: gt_execlog_walk sees only this */
    uint32_t *ends;                /* n + 1: text i is from ends[i] to ends[i + 1] */
    char *text; /* `0xADDRESS, 0xOPCODE, "TEXT"` of each instruction, without separators */
    uint64_t addresses[];
};

struct gt_execlog_name {
    char *text; /* device: ", NAME"; register: ", NAME -> 0x" */
    uint32_t len, size;
};

enum {
    GT_EXECLOG_PAGE = 65536,                        /* block ids of a page */
    GT_EXECLOG_PAGES = (1 << 30) / GT_EXECLOG_PAGE, /* block ids are below 2^30 */
};

struct gt_execlog_codes {
    struct gt_execlog_code ***pages; /* blocks by id */
    struct gt_execlog_piece *pieces; /* memory of blocks and names */
    char *at;
    size_t left; /* bytes left in the newest piece */
    uint64_t taken;
    struct gt_execlog_name *devices; /* devices by number, 65536 entries */
    struct gt_execlog_name registers[GT_EXECLOG_MAX_REGISTERS];
};

/* NULL: out of memory. */
struct gt_execlog_codes *gt_execlog_codes_create(void);
void gt_execlog_codes_destroy(struct gt_execlog_codes *c); /* NULL is fine */

/* Adds the definitions of a chunk's body; a block that is known already is skipped. GT_E_FORMAT,
 * GT_E_RANGE, GT_E_NOMEM; the message has the byte of the body and the error. */
int gt_execlog_codes_learn(struct gt_execlog_codes *c, const struct gt_execlog_chunk *chunk,
                           const uint8_t *body, struct gt_error *err);

/* NULL: the block is not known. */
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
