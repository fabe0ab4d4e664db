/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of DWARF: see dwarf.h. */
#include "guest/types/dwarf.h"

#include "guest/elf/die.h"
#include "guest/elf/file.h"
#include "guest/elf/symbols.h"
#include "guest/types/dwarf_private.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

enum { ORIGINS = 8 };

struct param {
    Dwarf_Die die, concrete;
    bool has_concrete;
};

struct function {
    Dwarf_Die die, source; /* source: the abstract entry that has the parameters; or die */
    uint64_t entry;
    struct param param[GT_DWARF_PARAMS];
    size_t n;
    bool variadic;
};

static bool entry_of(Dwarf_Die *die, uint64_t *entry)
{
    Dwarf_Addr base, lo, hi;

    if (dwarf_hasattr(die, DW_AT_entry_pc) && dwarf_entrypc(die, entry) == 0)
        return *entry != 0;
    if (dwarf_hasattr(die, DW_AT_low_pc) && dwarf_lowpc(die, entry) == 0)
        return *entry != 0;
    if (dwarf_ranges(die, 0, &base, &lo, &hi) <= 0)
        return false;
    *entry = lo;
    return lo != 0;
}

/* The entry that has the source's parameters. */
static void find_source(struct function *f)
{
    Dwarf_Attribute attr;
    Dwarf_Die die = f->die, next;

    for (int i = 0; i < ORIGINS && dwarf_attr(&die, DW_AT_abstract_origin, &attr) &&
                    dwarf_formref_die(&attr, &next);
         i++)
        die = next;
    f->source = die;
}

static void find_params(struct function *f)
{
    Dwarf_Die child;

    if (dwarf_child(&f->source, &child) != 0)
        return;
    do {
        int tag = dwarf_tag(&child);
        f->variadic = f->variadic || tag == DW_TAG_unspecified_parameters;
        if (tag == DW_TAG_formal_parameter && f->n < GT_DWARF_PARAMS)
            f->param[f->n++] = (struct param){.die = child};
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* Finds for each parameter the entry that says where it is. */
static void find_concrete(struct function *f)
{
    Dwarf_Attribute attr;
    Dwarf_Die child, origin;

    if (f->source.addr == f->die.addr) {
        for (size_t i = 0; i < f->n; i++) {
            f->param[i].concrete = f->param[i].die;
            f->param[i].has_concrete = true;
        }
        return;
    }
    if (dwarf_child(&f->die, &child) != 0)
        return;
    do {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
            !dwarf_attr(&child, DW_AT_abstract_origin, &attr) || !dwarf_formref_die(&attr, &origin))
            continue;
        for (size_t i = 0; i < f->n; i++)
            if (f->param[i].die.addr == origin.addr) {
                f->param[i].concrete = child;
                f->param[i].has_concrete = true;
            }
    } while (dwarf_siblingof(&child, &child) == 0);
}

/* Parameters that constructors of only some kinds have: __in_chrg, __vtt_parm. */
static void drop_artificial(struct function *f)
{
    size_t n = 0;

    for (size_t i = 0; i < f->n; i++) {
        const char *name = gt_elf_die_string(&f->param[i].die, DW_AT_name);
        if (f->param[i].has_concrete || !gt_elf_die_flag(&f->param[i].die, DW_AT_artificial) ||
            (name && !strcmp(name, "this")))
            f->param[n++] = f->param[i];
    }
    f->n = n;
}

static const char *linkage_name(Dwarf_Die *die)
{
    const char *name = gt_elf_die_string(die, DW_AT_linkage_name);

    return name ? name : gt_elf_die_string(die, DW_AT_MIPS_linkage_name);
}

static const char *name_of(struct gt_type_dwarf *d, Dwarf_Die *die)
{
    const char *name = linkage_name(die);

    if (!name)
        name = gt_elf_die_string(die, DW_AT_name);
    return name ? gt_types_name(d->out->types, name, strlen(name)) : "";
}

static uint32_t function_type(struct gt_type_dwarf *d, struct function *f)
{
    struct gt_type type = {.kind = GT_TYPE_FUNCTION, .variadic = f->variadic};
    struct gt_type_param q[GT_DWARF_PARAMS];
    uint32_t id;

    type.of = gt_type_dwarf_type(d, &f->die);
    for (size_t i = 0; i < f->n; i++) {
        const char *name = gt_elf_die_string(&f->param[i].die, DW_AT_name);
        q[i].name = name ? gt_types_name(d->out->types, name, strlen(name)) : "";
        q[i].type = gt_type_dwarf_type(d, &f->param[i].die);
    }
    id = gt_types_add(d->out->types, &type);
    for (size_t i = 0; i < f->n; i++)
        gt_types_add_param(d->out->types, id, &q[i]);
    return id;
}

static bool is_nocall(Dwarf_Die *die)
{
    uint64_t convention;

    return gt_elf_die_number(die, DW_AT_calling_convention, &convention) &&
           convention == DW_CC_nocall;
}

/* Clang changes the parameters of local functions without a word, and on i386 both compilers give
 * them registers; without symbols nothing says which functions are clones. */
static bool is_doubtful(const struct gt_type_dwarf *d, Dwarf_Die *die,
                        const struct gt_type_dwarf_symbol *symbol)
{
    bool local = symbol ? symbol->local : !gt_elf_die_flag(die, DW_AT_external);

    return local && (d->clang || d->e_machine == EM_386 || !symbol);
}

/* Whether the convention places no parameter of a doubtful function. Where all of them have slots
 * in the frame, none was taken away; in Clang's optimised code that proves nothing, as the address
 * of a result in memory may have become a parameter. */
static bool is_changed(const struct gt_type_dwarf *d, const enum gt_type_dwarf_word *word,
                       const struct gt_type_param_where *where, size_t n)
{
    bool plain = n > 0 && d->e_machine != EM_386 && !d->optimized;

    for (size_t i = 0; i < n; i++)
        plain = plain && (word[i] == GT_DWARF_FRAME || where[i].place == GT_PARAM_STACK);
    return !plain;
}

/* True: its parameters may not be all that there are. */
static bool add_function(struct gt_type_dwarf *d, struct function *f)
{
    const struct gt_type_dwarf_symbol *symbol = gt_type_dwarf_symbol_at(d, f->entry);
    struct gt_type_param_where where[GT_DWARF_PARAMS];
    enum gt_type_dwarf_word word[GT_DWARF_PARAMS];
    struct gt_type_prototype item = {.addr = f->entry, .has_addr = true};
    bool doubtful = is_doubtful(d, &f->die, symbol), changed, plain = !d->optimized;

    item.changed = d->foreign || (symbol && symbol->clone) || is_nocall(&f->die);
    for (size_t i = 0; i < f->n; i++) {
        struct param *q = &f->param[i];
        word[i] = gt_type_dwarf_where(&f->die, q->has_concrete ? &q->concrete : NULL, f->entry,
                                      &where[i]);
        /* Clang's fastcc of i386 moves parameters on the stack, and DWARF does not follow. */
        if (word[i] == GT_DWARF_NAMED && doubtful && d->clang && d->e_machine == EM_386)
            word[i] = GT_DWARF_LATER;
        plain = plain || word[i] == GT_DWARF_FRAME;
    }
    changed = doubtful && is_changed(d, word, where, f->n);
    for (size_t i = 0; i < f->n; i++) {
        /* What a function ignores, Clang's optimised callers leave undefined, also of functions
         * that others may call. */
        bool ignored = d->optimized && word[i] == GT_DWARF_NOWHERE;
        if (word[i] != GT_DWARF_NAMED)
            where[i] = (struct gt_type_param_where){
                .place = item.changed || changed || ignored ? GT_PARAM_CHANGED : GT_PARAM_BY_ABI};
    }
    item.named_only = item.changed || changed;
    item.no_result = changed && d->clang;
    item.no_address = doubtful && d->clang; /* whose callers know it */
    item.name = name_of(d, &f->die);
    item.type = function_type(d, f);
    gt_type_prototypes_add(d->out, &item, where, f->n);
    return d->clang && plain;
}

static void find_ignored(struct gt_type_dwarf *d, struct function *f)
{
    unsigned described = f->variadic;

    for (size_t i = 0; i < f->n; i++)
        described += !gt_elf_die_flag(&f->param[i].die, DW_AT_artificial);
    gt_type_dwarf_find_ignored(d, &d->out->item[d->out->n - 1], linkage_name(&f->die), described);
}

static int visit(Dwarf_Die *die, void *self)
{
    struct gt_type_dwarf *d = self;
    struct function f = {.die = *die};
    bool unsure;

    if (!entry_of(die, &f.entry))
        return DWARF_CB_OK;
    find_source(&f);
    find_params(&f);
    find_concrete(&f);
    drop_artificial(&f);
    unsure = add_function(d, &f);
    gt_type_dwarf_types_read(d);
    if (gt_types_status(d->out->types) != GT_OK)
        return DWARF_CB_ABORT;
    if (unsure)
        find_ignored(d, &f);
    return DWARF_CB_OK;
}

static void begin_unit(struct gt_type_dwarf *d, Dwarf_Die *unit)
{
    const char *producer = gt_elf_die_string(unit, DW_AT_producer);
    Dwarf_Half version;
    uint8_t address = 8, offset;

    d->clang = !producer || strncmp(producer, "GNU ", 4) != 0;
    d->quad = producer && strstr(producer, "-mlong-double-128");
    dwarf_cu_die(unit->cu, &(Dwarf_Die){0}, &version, NULL, &address, &offset, NULL, NULL);
    d->word = address;
    d->cxx = d->foreign = false;
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2a: /* C++17 */
    case 0x2b: /* C++20 */
        d->cxx = true;
        break;
    case DW_LANG_C:
    case DW_LANG_C89:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case 0x2c: /* C17 */
    case DW_LANG_ObjC:
        break;
    default:
        d->foreign = true;
    }
    d->optimized = d->clang && gt_type_dwarf_is_optimized(unit);
}

static int read_units(struct gt_type_dwarf *d, Dwarf *dwarf, struct gt_error *err)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Die die, split;
    uint8_t type;

    while (dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, &split) == 0 &&
           gt_types_status(d->out->types) == GT_OK) {
        bool skeleton = type == DW_UT_skeleton && split.addr;
        if (type != DW_UT_compile && !skeleton)
            continue;
        if (skeleton &&
            gt_elf_die_check_strings(dwarf_cu_getdwarf(split.cu), d->path, err) != GT_OK)
            return GT_E_FORMAT;
        /* Assemblers describe functions, and nothing of their parameters. */
        if (dwarf_srclang(skeleton ? &split : &die) == DW_LANG_Mips_Assembler)
            continue;
        begin_unit(d, skeleton ? &split : &die);
        dwarf_getfuncs(skeleton ? &split : &die, visit, d, 0);
    }
    return GT_OK;
}

static int read_dwarf(struct gt_type_dwarf *d, Dwarf *dwarf, Elf *elf, struct gt_error *err)
{
    GElf_Ehdr header;
    int status;

    d->out = gt_type_prototypes_new(NULL);
    if (!d->out)
        return gt_error_set(err, GT_E_NOMEM, "%s: out of memory", d->path);
    d->e_machine = gelf_getehdr(elf, &header) ? header.e_machine : EM_NONE;
    gt_elf_split_units_find(dwarf, d->path);
    status = gt_type_dwarf_symbols_read(d, elf);
    if (status == GT_OK)
        status = read_units(d, dwarf, err);
    if (status == GT_OK)
        status = gt_type_prototypes_finish(d->out);
    if (status != GT_OK && status != GT_E_FORMAT)
        gt_error_set(err, status, "%s: DWARF: %s", d->path, gt_error_status_text(status));
    gt_type_dwarf_types_free(d);
    free(d->symbol);
    if (status != GT_OK)
        gt_type_prototypes_free(d->out);
    return status;
}

static bool has_units(Dwarf *dwarf)
{
    Dwarf_Off next;
    size_t header;

    return dwarf && dwarf_nextcu(dwarf, 0, &next, &header, NULL, NULL, NULL) == 0;
}

static int read_file(const char *path, struct gt_elf *file, const char *const *roots,
                     struct gt_type_prototypes **out, struct gt_error *err)
{
    struct gt_type_dwarf d = {.file = file};
    struct gt_elf debug = {.fd = -1};
    char *debug_path = NULL;
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    Elf *elf = file->elf;
    int status = GT_OK;

    if (!has_units(dwarf)) {
        dwarf_end(dwarf);
        dwarf = NULL;
        status = gt_elf_open_debug(path, file->elf, roots, &debug, &debug_path);
        if (status == 1) {
            elf = debug.elf;
            dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
        }
    }
    d.path = debug_path ? debug_path : path;
    if (!has_units(dwarf))
        status = gt_error_set(err, GT_E_NOT_FOUND, "%s: no DWARF and no debug file", path);
    else if ((status = gt_elf_die_check_strings(dwarf, d.path, err)) == GT_OK)
        status = read_dwarf(&d, dwarf, elf, err);
    if (status == GT_OK)
        *out = d.out;
    dwarf_end(dwarf);
    gt_elf_close(&debug);
    free(debug_path);
    return status;
}

int gt_type_dwarf_prototypes(const char *path, const char *const *debug_roots,
                             struct gt_type_prototypes **out, struct gt_error *err)
{
    struct gt_elf file;
    int status = gt_elf_open(path, &file, err);

    *out = NULL;
    if (status != GT_OK)
        return status;
    status =
        read_file(path, &file, debug_roots ? debug_roots : gt_elf_debug_roots_default, out, err);
    gt_elf_close(&file);
    return status;
}
