/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Addresses in the guest's code: range=LO-HI and sym=NAME, outside of which nothing is logged;
 * start= and stop=, an address or a function with a count.
 *
 * A function is searched in the ELF files of elf=FILE[:OFFSET], at load; a program's also in each
 * file of which code is translated: its own, libraries.
 *
 * Arguments are added before the guest runs; the rest needs the recorder's lock.
 */
#ifndef GT_EXECLOG_PLUGIN_WHERE_H
#define GT_EXECLOG_PLUGIN_WHERE_H

#include "base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gt_exlog;

struct gt_exlog_trigger {
    bool stop;      /* else start */
    uint64_t count; /* it works from its count-th time on */
    uint64_t seen;  /* how often it ran; atomic */
};

struct gt_exlog_where {
    GArray *ranges;    /* address ranges to log; NULL: none */
    GPtrArray *wanted; /* functions and triggers that were asked for; NULL: none */
    GArray *points;    /* addresses of triggers; NULL: none */
    GPtrArray *files;  /* ELF files of elf=; NULL: none */
    GArray *modules;   /* address ranges whose functions are known, or that have none; NULL: none */
    char *program;     /* the guest's, on QEMU's command line; NULL: not asked for */
    bool restricted;   /* only `ranges` are logged */
};

/* Arguments; `self` is the recorder, the value lives as long as it. GT_E_USAGE. */
int gt_exlog_add_range(void *self, const char *value, struct gt_error *err);  /* range= */
int gt_exlog_add_symbol(void *self, const char *value, struct gt_error *err); /* sym= */
int gt_exlog_add_elf(void *self, const char *value, struct gt_error *err);    /* elf= */
int gt_exlog_add_start(void *self, const char *value, struct gt_error *err);  /* start= */
int gt_exlog_add_stop(void *self, const char *value, struct gt_error *err);   /* stop= */
/* Searches the functions in the files of elf=. GT_E_NOT_FOUND: of a machine, one is missing; what
 * gt_elf_symbols_load returns. */
int gt_exlog_find_functions(struct gt_exlog *e, struct gt_error *err);
/* Code at pc, which is at `host` in this process, is about to be translated: searches the functions
 * of its file, once. */
void gt_exlog_learn_code(struct gt_exlog *e, uint64_t pc, const void *host);
/* The address may be logged. */
bool gt_exlog_is_inside(const struct gt_exlog *e, uint64_t pc);
/* The triggers of an address, one a call; *from begins with 0. NULL: no more. */
struct gt_exlog_trigger *gt_exlog_trigger_at(const struct gt_exlog *e, uint64_t pc, size_t *from);
/* Reports which functions were never seen. */
void gt_exlog_report_missing(const struct gt_exlog *e);
void gt_exlog_where_fini(struct gt_exlog *e);

#endif
