/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Words with a meaning: those that types are made of, and those that cannot be names in one of the
 * languages that are generated. */
#ifndef GT_TRACETOOL_WORDS_H
#define GT_TRACETOOL_WORDS_H

#include "tracetool/event.h"
#include "tracetool/lexer.h"

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

/* What a token is to a type; *fixed is set for GT_WORD_FIXED and GT_WORD_TCG. */
enum gt_word_kind gt_word_kind(const struct gt_token *t, enum gt_type_base *fixed);

enum gt_language {
    GT_LANGUAGE_C, /* and C++ */
    GT_LANGUAGE_D,
    GT_LANGUAGE_STAP,
};

/* The name must have a `_` behind it to be one in that language. */
bool gt_word_is_reserved(enum gt_language language, const char *name);

#endif
