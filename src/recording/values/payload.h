/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of one call, and their bytes behind a record whose `more` is set. There are two forms:
 *
 * uftrace's (docs/formats/uftrace.md), which a reader understands by the function's spec only: the
 * values in order; a string is u16 length and its bytes, any other value has the spec's size; after
 * each the total is padded to 4, at the end to 8. A value that could not be read is 0, a string
 * that could not "<0x1234>", or for a null pointer 4 bytes 0xff, as uftrace has it; a string that
 * was cut ends with "...". So ABSENT is read again as 0, and CUT as BYTES; as CUT only where
 * the string has GT_VALUE_STRING_MOST bytes and "...".
 *
 * Words, which are understood without a spec; compact recordings and their streams have them: a
 * head, u64: bits 0 to 7 how many values, then 4 bits each: enum gt_value_kind; then the values:
 * none if absent, a word, or for bytes a word with their number, at most 256, and the bytes, padded
 * to 8 with 0.
 */
#ifndef GT_RECORDING_VALUES_PAYLOAD_H
#define GT_RECORDING_VALUES_PAYLOAD_H

#include "base/bytes.h"
#include "base/call_value.h"
#include "recording/values/spec.h"

enum gt_value_kind {
    GT_VALUE_ABSENT = 0,      /* it could not be read */
    GT_VALUE_WORD = 1,        /* at most 8 bytes, extended by its sign where its format has one */
    GT_VALUE_BYTES = 2,       /* more than 8 bytes, or a string */
    GT_VALUE_CUT = 3,         /* a string that goes on */
    GT_VALUE_BAD_ADDRESS = 4, /* a string whose memory could not be read: a word, its address */
};

struct gt_value {
    uint8_t kind;
    uint16_t size;     /* BYTES, CUT */
    uint64_t word;     /* WORD, BAD_ADDRESS */
    const void *bytes; /* BYTES, CUT */
};

struct gt_value_list {
    size_t n;
    struct gt_value value[GT_VALUES_MOST];
};

enum {
    GT_VALUES_BYTES = GT_VALUES_MOST * (GT_VALUE_STRING_MOST + 16), /* at most, in either form */
};

/* The value of `size` bytes that were read, the lowest first: a word if it fits, else `bytes`
 * itself, which must live as long as *v. */
void gt_value_set(struct gt_value *v, const struct gt_value_item *item, const void *bytes,
                  unsigned size);

/* Writes n values of the items in uftrace's form; returns its size, a multiple of 8. Strings are
 * cut to `most` bytes; `out` has room for GT_VALUES_MOST times (most + 16) bytes, which is
 * GT_VALUES_BYTES for GT_VALUE_STRING_MOST, or times 80 if that is more. */
size_t gt_values_put_uftrace(uint8_t *out, const struct gt_value_item *item,
                             const struct gt_value_list *list, size_t most);
/* Reads it; bytes point into the reader's. GT_E_TRUNC, GT_E_FORMAT. */
int gt_values_get_uftrace(struct gt_bytes_reader *r, const struct gt_value_item *item, size_t n,
                          struct gt_value_list *out);
/* Reads the values of an entry or a return as a function's spec (NULL: none) has them; how many
 * bytes they have. 0: there are none, or not all of them. */
size_t gt_values_get_of(const struct gt_value_spec *spec, bool entry, const uint8_t *data,
                        size_t left, struct gt_value_list *out);
/* The same in words: returns how many words. */
size_t gt_values_put_words(uint64_t *out, const struct gt_value_list *list);
/* 0: the words are not values, or there are fewer than they say; else how many they are. */
size_t gt_values_get_words(const uint64_t *words, size_t n, struct gt_value_list *out);

/* A value of format GT_VALUE_FLOAT; 0 if it was not read. */
long double gt_value_real(const struct gt_value_item *item, const struct gt_value *v);
/* The value of that name of a call; `item` are the list's. False: there is none, it was not read,
 * or it is a struct. A string that was not read is its address. */
bool gt_values_get(const struct gt_value_item *item, const struct gt_value_list *list,
                   const struct gt_base_call_value_name *name, struct gt_base_call_value *out);

/* Appends "name=value" of each, divided by ", ", as readers show them; bounded; bytes of the guest
 * are escaped. What an argument points to is in braces behind it, "file=0x1{name=\"a\"}"; a value
 * that is unsure has "?" behind it. `name_of` may give an address a name (NULL: none does). `names`
 * false: values alone.
 */
void gt_values_show(struct gt_text *t, const struct gt_values *values,
                    const struct gt_value_item *item, const struct gt_value_list *list, bool names,
                    const char *(*name_of)(void *self, uint64_t addr), void *self);

#endif
