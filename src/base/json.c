/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A writer of JSON: see json.h. */
#include "base/json.h"

#include "base/text.h"

/* A string is put in pieces of PIECE bytes, each of which becomes at most ESCAPED. */
enum { PIECE = 8192, ESCAPED = 6 };

static char *put_hex2(char *p, unsigned char c)
{
    static const char digits[] = "0123456789abcdef";
    *p++ = digits[c >> 4];
    *p++ = digits[c & 15];
    return p;
}

static char *put_bytes(char *p, const char *text, size_t n)
{
    memcpy(p, text, n);
    return p + n;
}

/* A byte that does not stand for itself. */
static char *put_escape(char *p, unsigned char c, enum gt_json_strings strings)
{
    if (c == '"' || c == '\\') {
        *p++ = '\\';
        *p++ = (char)c;
        return p;
    }
    if (strings == GT_JSON_ESCAPE)
        return put_hex2(put_bytes(p, c < 0x80 ? "\\u00" : "\\udc", 4), c);
    return c < 0x80 ? put_bytes(p, "?", 1) : put_bytes(p, "\xef\xbf\xbd", 3);
}

static bool is_ascii_itself(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* The characters that begin in the first `piece` of n bytes; *taken: the bytes that they have. */
static char *put_piece(char *p, const char *text, size_t piece, size_t n, enum gt_json_strings how,
                       size_t *taken)
{
    size_t i = gt_text_plain_copy(p, text, piece);
    p += i;
    while (i < piece) {
        unsigned char c = (unsigned char)text[i];
        size_t size = c < 0x80 ? 0 : gt_text_utf8_length(text + i, n - i);
        if (is_ascii_itself(c))
            *p++ = (char)c;
        else
            p = size ? put_bytes(p, text + i, size) : put_escape(p, c, how);
        i += size ? size : 1;
    }
    *taken = i;
    return p;
}

char *gt_json_put_out(struct gt_output *out, const char *at)
{
    gt_output_end(out, at);
    gt_output_flush(out);
    return gt_output_room(out, 0);
}

char *gt_json_put_bytes(struct gt_output *out, char *at, const char *text, size_t n)
{
    gt_output_end(out, at);
    gt_output_bytes(out, text, n);
    return gt_output_room(out, 2); /* the quote and a colon */
}

char *gt_json_put_string(struct gt_output *out, char *at, enum gt_json_strings how,
                         const char *text, size_t n)
{
    gt_output_end(out, at);
    size_t piece = n < PIECE ? n : PIECE;
    char *p = gt_output_room(out, 2 + ESCAPED * piece);
    *p++ = '"';
    while (n) {
        size_t taken;
        p = put_piece(p, text, piece, n, how, &taken);
        text += taken;
        n -= taken;
        piece = n < PIECE ? n : PIECE;
        gt_output_end(out, p);
        p = gt_output_room(out, 1 + ESCAPED * piece);
    }
    *p++ = '"';
    return p;
}
