/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words with a meaning: those of types, and those that are reserved in one of the generated
 * languages. */
#ifndef GT_EVENTS_TRACETOOL_WORDS_H
#define GT_EVENTS_TRACETOOL_WORDS_H

#include "events/tracetool/event.h"
#include "events/tracetool/lexer.h"

enum gt_word_kind {
    GT_WORD_OTHER,
    GT_WORD_CONST,
    GT_WORD_UNSIGNED,
    GT_WORD_SIGNED,
    GT_WORD_INT,
    GT_WORD_LONG,
    GT_WORD_SHORT,
    GT_WORD_CHAR,
    GT_WORD_FIXED, /* a type of its own: bool, void, uint8_t */
    GT_WORD_TCG,   /* TCGv, TCGv_i32 and so on: uint64_t */
    GT_WORD_KINDS,
};

/* Returns the role of a token in a type; *fixed is set for GT_WORD_FIXED and GT_WORD_TCG. */
enum gt_word_kind gt_word_kind(const struct gt_token *t, enum gt_type_base *fixed);

enum gt_language {
    GT_LANGUAGE_C, /* and C++ */
    GT_LANGUAGE_D,
    GT_LANGUAGE_STAP,
};

/* True if the name is reserved in that language and needs a `_` appended. */
bool gt_word_is_reserved(enum gt_language language, const char *name);

#endif
