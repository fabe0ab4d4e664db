/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of a machine that is known from files, recognised by its bytes wherever it runs.
 *
 * A code map (recording/code_map/code_map.h) has the functions. A block whose first bytes
 * are the first ones of one function of the map, at a distance from its linked address that is
 * whole pages, is a candidate; a second function at the same distance makes it certain. At the
 * linked address itself one is enough, and so it is for a long pattern that no other function has,
 * or for a shorter one if the page has another function of the module. Functions with a pattern, of
 * a kernel's modules, run in the upper half of the addresses only.
 *
 * A module may run at several places (a kernel before and after its MMU is
 * on, a boot loader and its copy): each is an instance with a struct gt_support_module of its own.
 * Where instances overlap, the newest one counts: the memory is used for something else then. A
 * kernel's module that was unloaded is not found where other code is translated, whatever that is.
 *
 * Not thread-safe: the caller holds a lock.
 */
#ifndef GT_QEMU_SUPPORT_CODE_MODULES_H
#define GT_QEMU_SUPPORT_CODE_MODULES_H

#include "qemu/support/modules.h"
#include "recording/code_map/code_map.h"

#include <glib.h>

/* Finds the function of a code map that begins with given bytes: by the hash of the first ones, or
 * by its pattern; and compares a page of code with the patterns of a module. */

/* Code of the guest: `before` bytes before `at` can be read, and `left` from there on. All are of
 * one page. */
struct gt_support_code_page {
    const uint8_t *at;
    size_t before, left;
};

/* Of a pattern: bytes that make it certain together with a second one. */
enum { GT_CODE_INDEX_ENOUGH = 8 };

/* Functions of a module that begin in a page. */
struct gt_support_code_presence {
    unsigned there, different; /* whose pattern is there, with enough bytes; is not */
};

struct gt_support_code_index {
    const struct gt_recording_code_map *map;
    GHashTable *by_hash; /* -> 1 + index of the function */
    uint64_t *filter;    /* a bit for the lowest bits of each hash: most blocks have none */
    size_t *in_page; /* of each address in a page: 1 + the first function with a pattern there */
    size_t *next_in_page; /* of each function: 1 + the next one */
};

/* The map must outlive the index. */
void gt_support_code_index_init(struct gt_support_code_index *x,
                                const struct gt_recording_code_map *map);
void gt_support_code_index_free(struct gt_support_code_index *x);

/* 1 + the function that begins with these GT_CODE_HASHED bytes; 0: none does. */
size_t gt_support_code_index_by_hash(const struct gt_support_code_index *x, const uint8_t *bytes);
/* 1 + the one whose pattern has the most bytes in common with the code at `pc`, and none that
 * differs; 0: none, or two with as many. *same: how many bytes. */
size_t gt_support_code_index_by_pattern(const struct gt_support_code_index *x, uint64_t pc,
                                        const struct gt_support_code_page *bytes, unsigned *same);
/* Compares the code around `pc` with the patterns of a module at that offset. */
struct gt_support_code_presence
gt_support_code_index_compare(const struct gt_support_code_index *x,
                              const struct gt_recording_code_module *module, uint64_t offset,
                              uint64_t pc, const struct gt_support_code_page *bytes);

struct gt_support_code_modules;

/* Reads the file. `anon` is the function of all code that is not known; is_user(self) (NULL: it is
 * not known) says whether the block being translated is a user program's: that is not a kernel at
 * low addresses. GT_E_*, with the file and the line. */
int gt_support_code_modules_read(const char *path, struct gt_track_func *anon,
                                 bool (*is_user)(void *self), void *self,
                                 struct gt_support_code_modules **out, struct gt_error *err);
void gt_support_code_modules_free(struct gt_support_code_modules *c);

/* The module at the address; NULL: none is known. `bytes`, if not NULL, belong to a block that
 * begins there. */
struct gt_support_module *gt_support_code_modules_at(struct gt_support_code_modules *c, uint64_t pc,
                                                     const struct gt_support_code_page *bytes);
/* The function of such a module at an address of it; `anon` where it has none there. */
struct gt_track_func *gt_support_code_module_func(const struct gt_support_module *module,
                                                  uint64_t pc);
/* A function's name; NULL: it is not of the module. */
const char *gt_support_code_module_name(const struct gt_support_module *module,
                                        const struct gt_track_func *fn);

/* A function's source. False: not known. */
bool gt_support_code_module_source(const struct gt_support_module *module,
                                   const struct gt_track_func *fn,
                                   struct gt_elf_function_line *out);
/* True: the map has source lines. */
bool gt_support_code_modules_have_lines(const struct gt_support_code_modules *c);

/* The number of instances of modules that were found. */
size_t gt_support_code_modules_instances(const struct gt_support_code_modules *c);
/* The number of matches to write: instances, and functions with a pattern that were seen in them.
 */
size_t gt_support_code_modules_count(const struct gt_support_code_modules *c);
/* Writes where modules were found: a line "<index decimal> <offset hex>" for each instance,
 * followed by " <hex>" for each function with a pattern that was seen, by its number in the module.
 * GT_E_*.
 */
int gt_support_code_modules_write(const struct gt_support_code_modules *c, const char *path,
                                  struct gt_error *err);
/* The map read. */
const struct gt_recording_code_map *
gt_support_code_modules_map(const struct gt_support_code_modules *c);
const struct gt_recording_code_linux *
gt_support_code_modules_linux(const struct gt_support_code_modules *c);

#endif
