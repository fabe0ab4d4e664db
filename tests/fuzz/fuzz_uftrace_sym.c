/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same bytes as NAME.sym and as NAME.dbg: what is read can be written and read again. */
#include "recording/directory/uftrace.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good)
{
    if (!good)
        abort();
}

static void check_sym(const char *text, size_t size)
{
    struct gt_uftrace_symtab tab, again;
    struct gt_error err;
    struct gt_text t = {0};
    if (gt_uftrace_sym_read(text, size, &tab, &err))
        return;
    for (size_t i = 0; i < tab.n; i++) {
        const struct gt_uftrace_symbol *s = &tab.sym[i];
        require(i == 0 || s->addr > s[-1].addr);
        require(!s->size || gt_uftrace_symtab_find(&tab, s->addr) == s);
    }
    struct gt_uftrace_module module = {tab.path, tab.build_id};
    require(gt_uftrace_sym_write(&t, &module, tab.sym, tab.n, NULL) == 0);
    require(gt_uftrace_sym_read(t.data, t.len, &again, NULL) == 0);
    require(again.n == (tab.n ? tab.n : 1));
    for (size_t i = 0; i < tab.n; i++)
        require(again.sym[i].addr == tab.sym[i].addr && again.sym[i].type == tab.sym[i].type);
    gt_uftrace_symtab_free(&again);
    gt_uftrace_symtab_free(&tab);
    gt_text_free(&t);
}

static void check_dbg(const char *text, size_t size)
{
    struct gt_uftrace_dbginfo dbg, again;
    struct gt_error err;
    struct gt_text t = {0};
    if (gt_uftrace_dbg_read(text, size, &dbg, &err))
        return;
    struct gt_uftrace_module module = {dbg.path, dbg.build_id};
    require(gt_uftrace_dbg_write(&t, &module, dbg.item, dbg.n, NULL) == 0);
    require(gt_uftrace_dbg_read(t.data, t.len, &again, NULL) == 0 && again.n == dbg.n);
    for (size_t i = 0; i < dbg.n; i++)
        require(again.item[i].kind == dbg.item[i].kind && again.item[i].addr == dbg.item[i].addr &&
                again.item[i].line == dbg.item[i].line);
    gt_uftrace_dbginfo_free(&again);
    gt_uftrace_dbginfo_free(&dbg);
    gt_text_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_sym((const char *)data, size);
    check_dbg((const char *)data, size);
    return 0;
}
