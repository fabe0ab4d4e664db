/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values of calls: which values a recording has of a function's calls, and where they are.
 *
 * A *spec* is the list of values of one function: arguments, which are read at the function's first
 * instruction, and the return value, which is read at the return instruction. A spec does not
 * change while a recording runs: readers need it to understand the records
 * (docs/formats/uftrace.md).
 *
 * Where a value is: a source,
 *
 *     source = piece ("|" piece)*   the value's bytes, the lowest first
 *     piece  = place [":" SIZE]     SIZE in bytes; without: the value's own
 *     place  = base ("*" OFFSET)*   each * follows an address of the guest, and adds OFFSET to it
 *     base   = "%" REGISTER ["+" BYTE]   from that byte of the register on; gdb's names
 *            | "stack+" OFFSET           from the stack pointer at the first instruction
 *
 * "%rdi", "%x0:8|%x1:4" (a struct of 12 bytes in two registers), "stack+8" (x86_64: after the
 * return address), "%x0*0" (a struct at the address in x0), "%x0*64*40" (40 bytes after the address
 * at x0 + 64). Numbers are decimal or hex after 0x; OFFSET may be negative. A string's source is
 * where its address is, and perhaps, as a second piece, how many bytes it has (else it ends with a
 * NUL); with format GT_VALUE_CHARS where its bytes are.
 */
#ifndef GT_RECORDING_VALUES_SPEC_H
#define GT_RECORDING_VALUES_SPEC_H

#include "base/cursor.h"
#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The letter is uftrace's, where it has one. */
enum gt_value_format {
    GT_VALUE_SIGNED = 'd',
    GT_VALUE_UNSIGNED = 'u',
    GT_VALUE_HEX = 'x',
    GT_VALUE_OCTAL = 'o',
    GT_VALUE_AUTO = 'i', /* signed; large ones as hex, as uftrace shows them */
    GT_VALUE_CHAR = 'c',
    GT_VALUE_BOOL = 'b',
    GT_VALUE_FLOAT = 'f',      /* 4 or 8 bytes, 10 (x87) or 16 (IEEE) */
    GT_VALUE_STRING = 's',     /* the source has the address of bytes that end with a NUL */
    GT_VALUE_CXX_STRING = 'S', /* of a std::string */
    GT_VALUE_POINTER = 'p',    /* shown with the name of a function, where it is one's */
    GT_VALUE_ENUM = 'e',       /* `type` names it */
    GT_VALUE_STRUCT = 't',     /* its bytes; `type` names it */
    GT_VALUE_CHARS = 'C',      /* ours: the source has bytes that end with a NUL, or with `size` */
};

enum {
    GT_VALUES_MOST = 14,        /* values of one call, arguments or return values */
    GT_VALUE_PIECES = 4,        /* of one value */
    GT_VALUE_STEPS = 4,         /* addresses followed of one piece */
    GT_VALUE_SIZE_MOST = 64,    /* bytes of a value that is not a string */
    GT_VALUE_STRING_MOST = 256, /* bytes of a string; more is cut */
    GT_VALUE_SOURCE_TEXT = 512, /* bytes of a source's text, with its NUL */
};

struct gt_value_piece {
    const char *reg; /* NULL: on the stack */
    int32_t offset;  /* byte of the register; from the stack pointer */
    uint16_t size;   /* bytes of the value that it has */
    uint8_t n_steps;
    int32_t step[GT_VALUE_STEPS]; /* OFFSETs */
};

struct gt_value_item {
    char format;   /* enum gt_value_format */
    uint16_t size; /* bytes; of strings 0 */
    bool is_return;
    bool is_float;    /* uftrace counts such arguments apart: fparg1 */
    bool unsure;      /* a word of the ABI of a function whose prototype is not known to be right */
    uint16_t number;  /* argument's, from 1; 0: a return value, or a field of an argument */
    const char *name; /* parameter's; NULL: not known. A field's: "file.name" */
    const char *type; /* GT_VALUE_ENUM, GT_VALUE_STRUCT: its name; else NULL */
    /* GT_VALUE_STRUCT: `size` bytes, in which the bits of members are set; padding, which may hold
     * anything, is recorded as 0. NULL: all bits are members', or it is not known. */
    const uint8_t *mask;
    struct gt_value_piece piece[GT_VALUE_PIECES];
    uint8_t n_pieces; /* 0: a reader's spec, which needs no source */
};

static inline bool gt_value_has_sign(char format)
{
    return format == GT_VALUE_SIGNED || format == GT_VALUE_AUTO || format == GT_VALUE_ENUM;
}

/* Of one function. Arguments come first, in order; then return values. */
struct gt_value_spec {
    struct gt_value_item *item;
    size_t n_arguments, n_returns;
};

/* Whether a value of that format may have that size. */
bool gt_value_size_fits(char format, unsigned size);
/* Text of the guest, wherever it stands: its value has any number of bytes. */
static inline bool gt_value_is_text(char format)
{
    return format == GT_VALUE_STRING || format == GT_VALUE_CXX_STRING || format == GT_VALUE_CHARS;
}

/* Parses a source; registers' names point into the text, each ends with a NUL in place of what
 * followed it. NULL, or the expected form. */
const char *gt_value_source_read(char *text, struct gt_value_item *item);
/* Writes it; "-": the item has none. GT_E_RANGE: it is too long. */
int gt_value_source_write(char out[GT_VALUE_SOURCE_TEXT], const struct gt_value_item *item);

/* An enumeration, of which values have names. */
struct gt_value_enum {
    const char *name;
    bool flags; /* values are ORed from these */
    struct gt_value_enumerator {
        const char *name;
        int64_t value;
    } * value;
    size_t n;
};

/* What of each module. `addr` is relative to the module, as in its symbol file. */
struct gt_value_function {
    uint64_t addr;
    const char *name;
    struct gt_value_spec spec;
};
struct gt_value_module {
    const char *path; /* as in the map of a recording; of a machine's code the code map's name */
    const char *build_id;               /* hex; "": none */
    struct gt_value_function *function; /* by addr */
    size_t n;
    const uint64_t *base; /* of a recording: where it was; 48 bits */
    size_t n_bases;
};

/*
 * A values file: what the command gives the plugin, and what a recording keeps
 * ("guesttrace.values"). Text, an item a line, fields separated by one blank, "-" for unknown:
 *
 *     guesttrace values 1
 *     enum NAME [flags] NAME=NUMBER...
 *     module BUILD-ID|- PATH
 *     at ADDRESS
 *     function ADDRESS NAME
 *     arg NUMBER FORMAT SIZE NAME|- TYPE|- SOURCE|- [unsure] [mask=HEX]
 *     fparg, the same; field and ret, with - as NUMBER
 *
 * ADDRESS is hex: of a function in its module; after `at`, of a recording, where the module was.
 * Numbers are decimal, NUMBERs may be negative. PATH and a function's NAME go to the end of the
 * line; in other names the writer puts "_" for blanks. HEX has two digits a byte of the value, the
 * lowest byte first; it is written with sources only.
 */
#define GT_VALUES_FILE "guesttrace.values"

struct gt_values {
    struct gt_value_module *module;
    size_t n_modules;
    struct gt_value_enum *enums;
    size_t n_enums;
    void *storage;
};

/* Appends the file; `sources` false: without them. GT_E_NOMEM; GT_E_USAGE: functions are not
 * sorted, or a limit above is exceeded. */
int gt_values_write(struct gt_text *t, const struct gt_values *values, bool sources,
                    struct gt_error *err);
/* Parses a file; bounded by its size. GT_E_FORMAT: err has the line, the value, the expected form;
 * GT_E_UNSUPPORTED (a later version), GT_E_NOMEM. */
int gt_values_read(const char *text, size_t size, struct gt_values *out, struct gt_error *err);
void gt_values_free(struct gt_values *v);
/* NULL: none. By build-id where both have one, else by path. */
const struct gt_value_module *gt_values_module(const struct gt_values *v, const char *path,
                                               const char *build_id);
const struct gt_value_function *gt_value_module_find(const struct gt_value_module *m,
                                                     uint64_t addr);
const struct gt_value_enum *gt_values_enum(const struct gt_values *v, const char *name);

/*
 * What a user writes behind a function's pattern, in uftrace's words (parse.c):
 *
 *     list   = item ("," item)*
 *     item   = ("arg" N | "fparg" N | "retval") ["/" format] ["%" place] ["/" "*"]
 *     format = [d i u x o c f s S p b] [BITS] | "e:" ENUM | "t" SIZE [":" STRUCT]
 *     place  = REGISTER | "stack+" WORDS
 *
 * The first word on the stack is "%stack+1".
 */
/* True: the word begins an item of such a list, and is no other action of a trigger. */
bool gt_value_is_item(const char *word, size_t size);
struct gt_value_request {
    /* n_pieces 0: where the ABI has the argument; a piece on the stack has its offset in words,
     * from 1; size 0 where it is not a string: the ABI's word. */
    struct gt_value_item item;
    bool fields; /* its members, too */
};
/* Parses a list; the texts of items live as long as *storage, which the caller frees (free()).
 * GT_E_USAGE: err has the text, the place in it, the expected form. GT_E_NOMEM. */
int gt_value_parse(const char *list, struct gt_value_request request[2 * GT_VALUES_MOST], size_t *n,
                   void **storage, struct gt_error *err);

#endif
