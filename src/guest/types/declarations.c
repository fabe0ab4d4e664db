/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A parser of C declarations: see declarations.h.
 *
 *   text        = declaration*
 *   declaration = "typedef"? base (declarator ("," declarator)*)? ";"
 *   base        = (int, long, unsigned... | NAME | struct | enum)+
 *   struct      = ("struct" | "union") NAME? ("{" (base (declarator (":" NUMBER)?)... ";")* "}")?
 *   enum        = "enum" NAME? ("{" enumerators "}")?
 *   declarator  = "*"* (NAME? | "(" declarator ")") suffix
 *   suffix      = "(" parameters ")" | ("[" NUMBER? "]")*
 */
#include "guest/types/declarations.h"

#include "guest/types/tokens.h"

#include <string.h>

struct gt_type_declarations_parser {
    struct gt_type_tokens tokens;
    struct gt_type_prototypes *out;
    const struct gt_type_data_model *model;
    int depth;
};

/* ---- layout --------------------------------------------------------------------------------- */

/* Where C compilers put the members of structs, and the data models of architectures. */

static const struct {
    const char *target;
    struct gt_type_data_model model;
} models[] = {
    {"aarch64", {8, 16, .align_most = 16}},
    {"i386", {4, 12, .extended = true, .char_is_signed = true, .align_most = 4}},
    {"riscv64", {8, 16, .align_most = 16}},
    {"x86_64", {8, 16, .extended = true, .char_is_signed = true, .align_most = 16}},
};

const struct gt_type_data_model *gt_type_data_model_of(const char *target)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (!strcmp(models[i].target, target))
            return &models[i].model;
    return NULL;
}

/* The offset of a member, in bits, at or after `end`. */
static uint64_t place(const struct gt_types *types, const struct gt_type_member *m, uint64_t end,
                      uint32_t align)
{
    uint64_t unit = 8 * gt_type_size(types, m->type);

    if (!m->bits)
        return (end + 8 * (uint64_t)align - 1) & ~(8 * (uint64_t)align - 1);
    /* A bit field does not cross a multiple of its type's size. */
    return unit && end / unit != (end + m->bits - 1) / unit ? (end + unit - 1) / unit * unit : end;
}

/* Places the members of the struct or union `id` and completes it. */
static void lay_out(struct gt_types *types, const struct gt_type_data_model *model, uint32_t id,
                    struct gt_type_member *m, size_t n)
{
    struct gt_type type = *gt_type_get(types, id);
    uint64_t end = 0, size = 0;
    uint32_t most = 1;

    for (size_t i = 0; i < n; i++) {
        uint32_t align = gt_type_is_finite(types, m[i].type)
                             ? gt_type_align(types, m[i].type, model->align_most, true)
                             : 1;
        m[i].bit = type.kind == GT_TYPE_UNION ? 0 : place(types, &m[i], end, align);
        end = m[i].bit + (m[i].bits ? m[i].bits : 8 * gt_type_size(types, m[i].type));
        size = end > size ? end : size;
        most = align > most ? align : most;
        gt_types_add_member(types, id, &m[i]);
    }
    size = ((size + 7) / 8 + most - 1) / most * most;
    type.size = size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
    type.incomplete = false;
    gt_types_set(types, id, &type);
}

/* ---- enumerators ---------------------------------------------------------------------------- */

/*
 * Enumerators of C declarations.
 *
 *   enumerators = (NAME ("=" sum)? ("," | end))*
 *   sum         = operand (("|" | "+" | "-" | "<<") operand)*     from left to right
 *   operand     = NUMBER | NAME of an enumerator before it | ("-" | "~") operand | "(" sum ")"
 */

enum { DEPTH = 32 };

/* One level of nesting more, which the caller takes back; false, and an error: too many. */
static bool enter(struct gt_type_declarations_parser *p)
{
    if (++p->depth > DEPTH)
        gt_type_tokens_fail(&p->tokens,
                            "declarations are nested too deeply here, at most 32 levels");
    return p->depth <= DEPTH && p->tokens.status == GT_OK;
}

static const char *name_of(struct gt_type_declarations_parser *p,
                           const struct gt_type_declaration_token *name)
{
    return gt_types_name(p->out->types, name->at, name->n);
}

static uint64_t parse_sum(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                          size_t n);

static uint64_t parse_operand(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                              size_t n)
{
    struct gt_type_declaration_token token = p->tokens.token;
    uint64_t value = 0;

    if (!enter(p))
        return 0;
    gt_type_tokens_next(&p->tokens);
    if (token.kind == GT_TOKEN_NUMBER) {
        value = token.value;
    } else if (token.n == 1 && *token.at == '-') {
        value = -parse_operand(p, v, n);
    } else if (token.n == 1 && *token.at == '~') {
        value = ~parse_operand(p, v, n);
    } else if (token.n == 1 && *token.at == '(') {
        value = parse_sum(p, v, n);
        gt_type_tokens_expect(&p->tokens, ")");
    } else {
        size_t i = 0;
        while (i < n && (strlen(v[i].name) != token.n || memcmp(v[i].name, token.at, token.n)))
            i++;
        if (i == n)
            gt_type_tokens_fail(&p->tokens, "follows neither a number nor an earlier enumerator");
        else
            value = v[i].value;
    }
    p->depth--;
    return value;
}

/* Operators "|", "+", "-", "<<", from left to right: constants of headers have no others. */
static uint64_t parse_sum(struct gt_type_declarations_parser *p, const struct gt_type_value *v,
                          size_t n)
{
    uint64_t value = parse_operand(p, v, n);

    for (;;) {
        if (gt_type_tokens_take(&p->tokens, "|"))
            value |= parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "+"))
            value += parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "-"))
            value -= parse_operand(p, v, n);
        else if (gt_type_tokens_take(&p->tokens, "<<"))
            value <<= parse_operand(p, v, n) & 63;
        else
            return value;
    }
}

/* The enumerators of the enum `id`, after "{" and up to "}". */
static void read_values(struct gt_type_declarations_parser *p, uint32_t id)
{
    struct gt_type type = *gt_type_get(p->out->types, id);
    struct gt_type_value v = {"", 0};

    while (p->tokens.status == GT_OK && !gt_type_tokens_is(&p->tokens, "}")) {
        if (p->tokens.token.kind != GT_TOKEN_NAME) {
            gt_type_tokens_fail(&p->tokens, "expected the name of an enumerator");
            return;
        }
        v.name = name_of(p, &p->tokens.token);
        gt_type_tokens_next(&p->tokens);
        if (gt_type_tokens_take(&p->tokens, "="))
            v.value =
                parse_sum(p, gt_type_values(p->out->types, id), gt_type_get(p->out->types, id)->n);
        type.is_signed = type.is_signed || (int64_t)v.value < 0;
        gt_types_add_value(p->out->types, id, &v);
        v.value++;
        if (!gt_type_tokens_take(&p->tokens, ",") && !gt_type_tokens_is(&p->tokens, "}"))
            gt_type_tokens_fail(&p->tokens, "expected ',' or '}'");
    }
    gt_type_tokens_expect(&p->tokens, "}");
    type.incomplete = false;
    gt_types_set(p->out->types, id, &type);
    gt_type_find_flags(p->out->types, id);
}

/* ---- declarations --------------------------------------------------------------------------- */

enum { PARAMS = 32, MEMBERS = 256 };

struct declarator {
    struct gt_type_declaration_token name; /* n 0: none */
    uint32_t type;
};

static uint32_t parse_base(struct gt_type_declarations_parser *p);
static void parse_declarator(struct gt_type_declarations_parser *p, uint32_t type,
                             struct declarator *out);

static uint32_t add(struct gt_type_declarations_parser *p, struct gt_type type)
{
    return gt_types_add(p->out->types, &type);
}

static uint32_t pointer_to(struct gt_type_declarations_parser *p, uint32_t type)
{
    return add(p, (struct gt_type){.kind = GT_TYPE_POINTER, .size = p->model->word, .of = type});
}

static uint32_t find_name(struct gt_type_declarations_parser *p, enum gt_type_kind kind,
                          const struct gt_type_declaration_token *token)
{
    char name[256];

    if (token->n >= sizeof name)
        return 0;
    memcpy(name, token->at, token->n);
    name[token->n] = '\0';
    return gt_types_find(p->out->types, kind, name);
}

/* "a, *b : 3;" after their base, into m[]; returns how many there are now. */
static size_t parse_members(struct gt_type_declarations_parser *p, uint32_t base,
                            struct gt_type_member *m, size_t n)
{
    do {
        struct declarator d;
        parse_declarator(p, base, &d);
        if (n == MEMBERS) {
            gt_type_tokens_fail(&p->tokens, "follows more than 256 members");
            return n;
        }
        m[n] = (struct gt_type_member){.name = name_of(p, &d.name), .type = d.type};
        if (gt_type_tokens_take(&p->tokens, ":")) {
            if (p->tokens.token.kind != GT_TOKEN_NUMBER || p->tokens.token.value - 1 >= 64)
                gt_type_tokens_fail(&p->tokens, "expected the width of a bit field, 1 to 64");
            m[n].bits = (uint16_t)p->tokens.token.value;
            gt_type_tokens_next(&p->tokens);
        }
        n++;
    } while (gt_type_tokens_take(&p->tokens, ","));
    gt_type_tokens_expect(&p->tokens, ";");
    return n;
}

static void parse_struct(struct gt_type_declarations_parser *p, uint32_t id)
{
    struct gt_type_member m[MEMBERS];
    size_t n = 0;

    while (p->tokens.status == GT_OK && !gt_type_tokens_take(&p->tokens, "}"))
        n = parse_members(p, parse_base(p), m, n);
    if (p->tokens.status == GT_OK)
        lay_out(p->out->types, p->model, id, m, n);
}

/* After "struct", "union" or "enum". */
static uint32_t parse_tag(struct gt_type_declarations_parser *p, enum gt_type_kind kind)
{
    struct gt_type_declaration_token name = p->tokens.token;
    uint32_t id = 0;

    if (name.kind == GT_TOKEN_NAME) {
        gt_type_tokens_next(&p->tokens);
        id = find_name(p, kind, &name);
    } else {
        name.n = 0;
    }
    if (id && !(gt_type_tokens_is(&p->tokens, "{") && !gt_type_get(p->out->types, id)->incomplete))
        if (!gt_type_tokens_is(&p->tokens, "{"))
            return id;
    if (!id || !gt_type_get(p->out->types, id)->incomplete)
        id = add(p, (struct gt_type){.name = name_of(p, &name),
                                     .kind = kind,
                                     .size = kind == GT_TYPE_ENUM ? 4 : 0,
                                     .incomplete = true});
    if (!gt_type_tokens_take(&p->tokens, "{"))
        return id;
    if (kind == GT_TYPE_ENUM)
        read_values(p, id);
    else if (enter(p))
        parse_struct(p, id), p->depth--;
    return id;
}

/* The words of C's arithmetic types. */
enum word {
    VOID,
    CHAR,
    SHORT,
    INT,
    LONG,
    SIGNED,
    UNSIGNED,
    FLOAT,
    DOUBLE,
    BOOL,
    COMPLEX,
    INT128,
    N
};
static const char *const words[N] = {
    [VOID] = "void",     [CHAR] = "char",     [SHORT] = "short",       [INT] = "int",
    [LONG] = "long",     [SIGNED] = "signed", [UNSIGNED] = "unsigned", [FLOAT] = "float",
    [DOUBLE] = "double", [BOOL] = "_Bool",    [COMPLEX] = "_Complex",  [INT128] = "__int128",
};

static uint32_t arithmetic(struct gt_type_declarations_parser *p, const unsigned count[N])
{
    struct gt_type t = {.kind = GT_TYPE_INT, .size = 4, .is_signed = !count[UNSIGNED]};

    if (count[VOID])
        return 0;
    if (count[FLOAT] || count[DOUBLE]) {
        t = (struct gt_type){.kind = GT_TYPE_FLOAT, .size = count[FLOAT] ? 4 : 8};
        if (count[LONG]) {
            t.size = p->model->long_double;
            t.extended = p->model->extended;
        }
        if (count[COMPLEX]) {
            t.kind = GT_TYPE_COMPLEX;
            t.size *= 2;
        }
    } else if (count[CHAR]) {
        t.size = 1;
        if (!count[SIGNED] && !count[UNSIGNED]) {
            t.kind = GT_TYPE_CHAR;
            t.name = "char";
            t.is_signed = p->model->char_is_signed;
        }
    } else if (count[BOOL]) {
        t = (struct gt_type){.kind = GT_TYPE_BOOL, .size = 1};
    } else if (count[INT128]) {
        t.size = 16;
    } else if (count[SHORT]) {
        t.size = 2;
    } else if (count[LONG]) {
        t.size = count[LONG] > 1 ? 8 : p->model->word;
    }
    return add(p, t);
}

static bool count_words(struct gt_type_declarations_parser *p, unsigned count[N])
{
    bool any = false;

    for (unsigned i = 0; i < N;) {
        bool is = gt_type_tokens_take(&p->tokens, words[i]) ||
                  (i == BOOL && gt_type_tokens_take(&p->tokens, "bool"));
        count[i] += is;
        any = any || is;
        i = is ? 0 : i + 1;
    }
    return any;
}

static uint32_t parse_base(struct gt_type_declarations_parser *p)
{
    struct gt_type_declaration_token name = p->tokens.token;
    unsigned count[N] = {0};
    uint32_t id;

    if (count_words(p, count))
        return arithmetic(p, count);
    if (gt_type_tokens_take(&p->tokens, "struct"))
        return parse_tag(p, GT_TYPE_STRUCT);
    if (gt_type_tokens_take(&p->tokens, "union"))
        return parse_tag(p, GT_TYPE_UNION);
    if (gt_type_tokens_take(&p->tokens, "enum"))
        return parse_tag(p, GT_TYPE_ENUM);
    id = name.kind == GT_TOKEN_NAME ? find_name(p, GT_TYPE_TYPEDEF, &name) : 0;
    if (id)
        gt_type_tokens_next(&p->tokens);
    else
        gt_type_tokens_fail(&p->tokens, "expected a type");
    return id;
}

static void add_params(struct gt_type_declarations_parser *p, uint32_t id,
                       const struct gt_type_param *q, size_t n, bool variadic)
{
    struct gt_type type = *gt_type_get(p->out->types, id);

    type.variadic = variadic;
    gt_types_set(p->out->types, id, &type);
    for (size_t i = 0; i < n; i++)
        gt_types_add_param(p->out->types, id, &q[i]);
}

/* After "(": up to ")". */
static uint32_t parse_params(struct gt_type_declarations_parser *p, uint32_t result)
{
    struct gt_type_param q[PARAMS];
    bool variadic = false;
    size_t n = 0;

    while (p->tokens.status == GT_OK && !gt_type_tokens_is(&p->tokens, ")")) {
        struct declarator d;
        variadic = gt_type_tokens_take(&p->tokens, "...");
        if (variadic)
            break;
        parse_declarator(p, parse_base(p), &d);
        const struct gt_type *t = gt_type_plain(p->out->types, d.type);
        if (t->kind == GT_TYPE_ARRAY)
            d.type = pointer_to(p, t->of);
        else if (t->kind == GT_TYPE_FUNCTION)
            d.type = pointer_to(p, d.type);
        if (n == PARAMS)
            gt_type_tokens_fail(&p->tokens, "follows more than 32 parameters");
        else if (t->kind != GT_TYPE_VOID)
            q[n++] = (struct gt_type_param){name_of(p, &d.name), d.type};
        if (!gt_type_tokens_take(&p->tokens, ","))
            break;
    }
    gt_type_tokens_expect(&p->tokens, ")");
    uint32_t id = add(p, (struct gt_type){.kind = GT_TYPE_FUNCTION, .of = result});
    add_params(p, id, q, n, variadic);
    return id;
}

static uint32_t parse_suffix(struct gt_type_declarations_parser *p, uint32_t type)
{
    uint32_t n = 0;

    if (!enter(p))
        return type;
    if (gt_type_tokens_take(&p->tokens, "(")) {
        type = parse_params(p, type);
    } else if (gt_type_tokens_take(&p->tokens, "[")) {
        if (p->tokens.token.kind == GT_TOKEN_NUMBER) {
            n = p->tokens.token.value < UINT32_MAX ? (uint32_t)p->tokens.token.value : UINT32_MAX;
            gt_type_tokens_next(&p->tokens);
        }
        gt_type_tokens_expect(&p->tokens, "]");
        type = parse_suffix(p, type);
        type = add(p, (struct gt_type){.kind = GT_TYPE_ARRAY, .of = type, .n = n});
    }
    p->depth--;
    return type;
}

static void parse_declarator(struct gt_type_declarations_parser *p, uint32_t type,
                             struct declarator *out)
{
    struct gt_type_declaration_token inner;

    *out = (struct declarator){.type = type};
    if (!enter(p))
        return;
    while (gt_type_tokens_take(&p->tokens, "*"))
        type = pointer_to(p, type);
    inner = p->tokens.token;
    if (gt_type_tokens_is(&p->tokens, "(")) {
        /* What stands after the parentheses comes first. */
        gt_type_tokens_skip_pair(&p->tokens);
        type = parse_suffix(p, type);
        struct gt_type_declaration_token after = p->tokens.token;
        gt_type_tokens_back(&p->tokens, inner);
        gt_type_tokens_next(&p->tokens);
        parse_declarator(p, type, out);
        gt_type_tokens_expect(&p->tokens, ")");
        gt_type_tokens_back(&p->tokens, after);
    } else {
        if (p->tokens.token.kind == GT_TOKEN_NAME) {
            out->name = p->tokens.token;
            gt_type_tokens_next(&p->tokens);
        }
        out->type = parse_suffix(p, type);
    }
    p->depth--;
}

static void declare(struct gt_type_declarations_parser *p, bool is_typedef,
                    const struct declarator *d)
{
    if (!d->name.n) {
        gt_type_tokens_fail(&p->tokens, "expected a name before it");
    } else if (is_typedef) {
        add(p,
            (struct gt_type){.name = name_of(p, &d->name), .kind = GT_TYPE_TYPEDEF, .of = d->type});
    } else if (gt_type_get(p->out->types, d->type)->kind == GT_TYPE_FUNCTION) {
        struct gt_type_prototype item = {.name = name_of(p, &d->name), .type = d->type};
        gt_type_prototypes_add(p->out, &item, NULL, 0);
    }
}

static void parse_declaration(struct gt_type_declarations_parser *p)
{
    bool is_typedef = gt_type_tokens_take(&p->tokens, "typedef");
    uint32_t base = parse_base(p);

    while (p->tokens.status == GT_OK && !gt_type_tokens_is(&p->tokens, ";")) {
        struct declarator d;
        parse_declarator(p, base, &d);
        if (p->tokens.status == GT_OK)
            declare(p, is_typedef, &d);
        if (!gt_type_tokens_take(&p->tokens, ","))
            break;
    }
    gt_type_tokens_expect(&p->tokens, ";");
}

int gt_type_declarations_read(struct gt_type_prototypes *p, const struct gt_type_data_model *model,
                              const char *name, const char *text, size_t size, struct gt_error *err)
{
    struct gt_type_declarations_parser parser = {.out = p, .model = model};

    gt_type_tokens_init(&parser.tokens, name, text, size, err);
    while (parser.tokens.token.kind != GT_TOKEN_END && gt_types_status(p->types) == GT_OK)
        parse_declaration(&parser);
    if (parser.tokens.status != GT_OK)
        return parser.tokens.status;
    if (gt_types_status(p->types) != GT_OK)
        return gt_error_set(err, gt_types_status(p->types), "%s: %s", name,
                            gt_error_status_text(gt_types_status(p->types)));
    return GT_OK;
}
