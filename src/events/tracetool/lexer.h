/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tokens of one line of an events file.
 *
 *     word     = [A-Za-z_] [A-Za-z0-9_]*
 *     number   = [0-9] [A-Za-z0-9_]*           only there to be refused by its name
 *     literal  = '"' { character | '\' character } '"'
 *     other    = any other character, one token each
 *
 * Blanks (space, tab, and the carriage return of files from elsewhere) separate tokens.
 */
#ifndef GT_EVENTS_TRACETOOL_LEXER_H
#define GT_EVENTS_TRACETOOL_LEXER_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

enum gt_tracetool_token_kind {
    GT_TOKEN_END, /* end of the line */
    GT_TOKEN_WORD,
    GT_TOKEN_NUMBER,
    GT_TOKEN_LITERAL,      /* quotes included */
    GT_TOKEN_OPEN_LITERAL, /* the line ends before the closing quote */
    GT_TOKEN_OTHER,
};

struct gt_tracetool_token {
    enum gt_tracetool_token_kind kind;
    const char *at;
    size_t length;
};

/* The rest of the line; `token` is the current token. */
struct gt_tracetool_lexer {
    const char *next, *end;
    struct gt_tracetool_token token;
};

/* Reads the first token. */
void gt_tracetool_lexer_init(struct gt_tracetool_lexer *l, const char *text, const char *end);
/* Reads the next token; at the end of the line it stays GT_TOKEN_END. */
void gt_tracetool_lexer_next(struct gt_tracetool_lexer *l);

/* True if the token is that character. */
bool gt_tracetool_token_is(const struct gt_tracetool_token *t, char c);
/* True if the token is that word. */
bool gt_tracetool_token_is_word(const struct gt_tracetool_token *t, const char *word);

/* Returns the byte of an escape in a literal whose text ends at `end`. *p is after the '\'; it is
 * moved to the last character of the escape. */
unsigned char gt_tracetool_literal_escape(const char **p, const char *end);

/* An event's format for languages other than C: one string, with the macros of <inttypes.h>
 * expanded. */

/* Appends the format as the body of a SystemTap string, whose printf has no length modifiers (%lx,
 * %zu). */
void gt_tracetool_printf_for_stap(GString *out, const char *format);

#endif
