/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What values the records of a task have: by time and address, since a record's function depends on
 * the mappings at its time.
 */
#ifndef GT_CALLS_READ_RECORD_SPECS_H
#define GT_CALLS_READ_RECORD_SPECS_H

#include "calls/read/calls.h"

struct gt_calls_record_specs;

/* The recording must outlive it. `tid` need not be a task of it. */
struct gt_calls_record_specs *gt_calls_record_specs_create(const struct gt_calls *c, uint32_t tid);
void gt_calls_record_specs_destroy(struct gt_calls_record_specs *s); /* NULL is fine */

/* The spec of a record, of which `word` is the second word (docs/formats/uftrace.md); NULL: the
 * record is of no call, or the recording does not say. Records come in their order. */
const struct gt_value_spec *gt_calls_record_specs_at(struct gt_calls_record_specs *s, uint64_t time,
                                                     uint64_t word);

#endif
