/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's code as functions: which module an address belongs to, which function of it. User
 * mode: the ELF files that the guest mapped, found when code of theirs is first translated; system
 * mode: functions of a code map that were recognised (code_modules.h). All other code is one module
 * without symbols.
 *
 * Functions live as long as the process, and are created when their code is first translated; a
 * module that the guest unmaps stays for the output and is not found any more, until the same file
 * is mapped there again.
 * A file's symbols are read once, as long as its identity (device, inode, size, time of change)
 * stays. The cost of a module does not depend on the number of modules before. Look-ups are made
 * at translation.
 * Not thread-safe: the caller holds a lock. Files are read on the worker, so that the
 * guest's descriptors do not change.
 */
#ifndef GT_QEMU_SUPPORT_MODULES_H
#define GT_QEMU_SUPPORT_MODULES_H

#include "base/worker.h"
#include "guest/elf/function_lines.h"
#include "guest/elf/symbols.h"
#include "track/track.h"

#include <glib.h>

/* Which content a path had. */
struct gt_support_module_file {
    uint64_t device, inode, size, mtime; /* mtime: ns */
};

struct gt_support_module {
    uint64_t lo, hi;                /* guest addresses */
    char *path;                     /* the guest's file; system mode: "guest" */
    struct gt_elf_symbols *symbols; /* NULL: it has none */
    struct gt_track_func *funcs;    /* code_modules.c: one per symbol */
    GHashTable *functions;          /* else: symbol -> struct gt_track_func */
    struct gt_track_func *anon;     /* what no symbol covers */
    GPtrArray *handlers;            /* struct gt_track_func *: signal handlers in that */
    struct gt_track_func *stubs;    /* PLT stubs without a symbol: of a static program's ifuncs */
    uint64_t loaded;                /* time */
    bool gone;                      /* unmapped */
    bool apart;                     /* another one is or was in its place, or has its path */
    bool saved, mapped;             /* its symbols, its line in the map are written */
    bool recognised; /* it is one of code_modules.h, and not in gt_support_modules.all */
    bool listed;     /* its line is in task.txt, not in the map */
    bool made;       /* by gt_support_modules_add_made: no file of the guest */
    struct gt_elf_function_lines *lines; /* of its symbols; NULL: not known. Atomic */
    bool lines_read;                     /* they were looked for */
    struct gt_support_module *same;      /* one before of the same content; NULL: none */
    GArray *entered; /* uint64_t: relative addresses entered in code without symbols */
};

enum { GT_MODULES_ANON = 64 };

struct gt_support_modules {
    GPtrArray *all;       /* struct gt_support_module *, in the order they came */
    GPtrArray *live;      /* of files that are mapped now */
    GPtrArray *displaced; /* those that became `apart` because of the newest one */
    GHashTable *files;    /* modules.c: by their contents */
    GHashTable *paths;    /* path -> the newest struct gt_support_module of it */
    GTree *by_address;    /* lo -> struct gt_support_module: those that nothing has replaced */
    struct {
        uint64_t lo, hi;
    } anon[GT_MODULES_ANON]; /* guest addresses that belong to no file; hi 0: unused */
    unsigned next_anon;
    struct gt_thread_worker *worker; /* set by the owner before the first look-up */
    const char *program;             /* its path in QEMU's command line; NULL: not known */
    uint64_t guest_base;
    bool has_base;
    bool user;
    struct gt_support_code_modules
        *code;                      /* machines: code that a code map describes; NULL: no map */
    void (*code_found)(void *self); /* called when that code runs at a new load offset */
    uint64_t (*now)(void *self);    /* the time of the calling thread's vCPU; NULL: 0 */
    /* Called on the worker for each new module, before its functions are used, and for one that is
     * back where another was meanwhile; `loaded` is set, `displaced` is filled. */
    void (*added)(void *self, struct gt_support_module *m);
    void *self; /* of these callbacks */
};

void gt_support_modules_init(struct gt_support_modules *m, bool user,
                             void (*added)(void *, struct gt_support_module *), void *self);

/* The module of code at the guest address, whose bytes are at `host_addr` (NULL: not known). Never
 * NULL. */
struct gt_support_module *gt_support_modules_at(struct gt_support_modules *m, uint64_t pc,
                                                const void *host_addr);
/* The function there. Never NULL. */
struct gt_track_func *gt_support_module_func(const struct gt_support_module *module, uint64_t pc);

/* enum gt_track_func_flag of a function of that name. */
uint32_t gt_support_module_flags_of(const struct gt_elf_symbol *symbol);

/* Adds a module that is not a file of the guest: its functions have no code, and are never found by
 * an address. The symbols must live as long as the modules. NULL: the worker cannot run. */
struct gt_support_module *gt_support_modules_add_made(struct gt_support_modules *m, uint64_t lo,
                                                      const char *path,
                                                      struct gt_elf_symbols *symbols);

/* The guest mapped memory without a file at the range, or a file. */
void gt_support_modules_mapped(struct gt_support_modules *m, uint64_t lo, uint64_t size, bool anon);
/* The guest unmapped the range. */
void gt_support_modules_unmapped(struct gt_support_modules *m, uint64_t lo, uint64_t size);
/* The function that begins at the address, in the modules known so far; NULL: none. */
struct gt_track_func *gt_support_modules_entry(struct gt_support_modules *m, uint64_t pc);
/* The same, for a signal handler: one in code without a symbol becomes a function now, whose first
 * instruction is all that is known of it. */
struct gt_track_func *gt_support_modules_handler(struct gt_support_modules *m, uint64_t pc);

#endif
