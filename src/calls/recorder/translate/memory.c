/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory code of a machine is in: its address in the recording, and what leads to it.
 *
 * Programs have different code at the same addresses, each in memory of its own. A kernel's code,
 * and a user-mode guest's, is at one address, but may be replaced there: a kernel translates BPF.
 *
 * QEMU translates a block of a machine once for all virtual addresses of its page (8.0 and later;
 * here from plugin ABI 3 on); so the page of memory, not the address, identifies the code. The code
 * of each page gets the address at which it was first expected, or else seen, and the block that is
 * being translated is moved there by a shift: so calls and returns among a library's pages match in
 * each process, wherever that has mapped it.
 *
 * When memory is used for other code, its bytes show it: a guest's page of code holds one file's
 * bytes as long as it is in use, and another's after that.
 */
#include "calls/recorder/translate/memory.h"
#include "base/fnv.h"
#include "calls/recorder/recorder.h"
#include "calls/recorder/run/vcpu.h"

#include <string.h>

enum { PIECE = 256 }; /* bytes that are compared at once: code and data may share a page */

struct gt_translate_memory_page {
    uint64_t at;                     /* the number of the page, where its code is */
    uint64_t piece[GT_PAGE / PIECE]; /* hashes of what it holds */
    uint64_t by_predecessor[GT_PAGE /
                            64]; /* reached by running on or by a branch, from the page itself */
};

static const uint8_t *page_of(const uint8_t *bytes)
{
    return bytes - (uintptr_t)bytes % GT_PAGE;
}

/* The key of a page that is executed at an address of a kernel, perhaps beside a low one: its code
 * keeps its address, but a kernel translates programs of its own to memory that it uses again. */
static const uint8_t *page_of_kernel(const uint8_t *bytes)
{
    return page_of(bytes) + 1;
}

/* The hash of the piece of the page that the bytes are in. */
static uint64_t hash_piece(const uint8_t *bytes, size_t piece)
{
    uint64_t hash = GT_FNV_BEGIN, word;
    for (size_t i = 0; i < PIECE; i += sizeof word) {
        memcpy(&word, page_of(bytes) + piece * PIECE + i, sizeof word);
        hash = gt_bytes_fnv(hash, word);
    }
    return hash;
}

/* The part of the page in which the block begins. */
static bool is_piece_unchanged(const struct gt_translate_memory_page *page, const uint8_t *bytes)
{
    size_t piece = (uintptr_t)bytes % GT_PAGE / PIECE;
    return page->piece[piece] == hash_piece(bytes, piece);
}

static bool is_unchanged(const struct gt_translate_memory_page *page, const uint8_t *bytes)
{
    for (size_t i = 0; i < G_N_ELEMENTS(page->piece); i++)
        if (page->piece[i] != hash_piece(bytes, i))
            return false;
    return true;
}

/* The page holds other code now, or code for the first time. */
static struct gt_translate_memory_page *renew(struct gt_recorder *r,
                                              struct gt_translate_memory_page *page,
                                              const uint8_t *key, const uint8_t *bytes)
{
    if (!page) {
        page = g_new(struct gt_translate_memory_page, 1);
        g_hash_table_insert(r->code.memory.pages, (void *)key, page);
    }
    memset(page->by_predecessor, 0, sizeof page->by_predecessor);
    for (size_t i = 0; i < G_N_ELEMENTS(page->piece); i++)
        page->piece[i] = hash_piece(bytes, i);
    return page;
}

/* The shift of a block of the page. A page that is seen at a second address is of a file, and whole
 * as it was, or it holds other code now. Blocks of it that were translated before keep their
 * addresses, and so do those that are translated again because the CPU's state is another. */
static bool find_shift(const struct gt_translate_memory_page *page, const uint8_t *bytes,
                       uint64_t pc, uint64_t *shift)
{
    *shift = (page->at - pc / GT_PAGE) * GT_PAGE;
    bool high = (pc + *shift) >> 63; /* a kernel runs low before it runs high */
    return *shift == 0 || (!high && is_unchanged(page, bytes));
}

uint64_t gt_translate_memory_shift(struct gt_recorder *r, struct gt_host_block *block)
{
    const uint8_t *bytes = gt_host_insn_host_addr(gt_host_block_insn(block, 0));
    uint64_t pc = gt_host_block_pc(block);
    r->code.memory.here = NULL;
    if (r->guest.user || !bytes)
        return 0;
    bool high = pc >> 63; /* as a kernel's page of its own: see page_of_kernel */
    const uint8_t *key = high ? page_of_kernel(bytes) : page_of(bytes);
    struct gt_translate_memory_page *page = g_hash_table_lookup(r->code.memory.pages, key);
    uint64_t shift = 0;
    bool known = page && is_piece_unchanged(page, bytes);
    if (known && r->host.abi >= 3 && !high)
        known = find_shift(page, bytes, pc, &shift);
    r->code.memory.here = known ? page : renew(r, page, key, bytes);
    if (known || r->host.abi < 3 || high)
        return shift;
    uint64_t expected = gt_run_vcpu_expects(r);
    shift = expected % GT_PAGE == pc % GT_PAGE ? expected - pc : 0;
    r->code.memory.here->at = (pc + shift) / GT_PAGE;
    return shift;
}

void gt_translate_memory_note_predecessor(struct gt_recorder *r, uint64_t pc)
{
    if (r->code.memory.here)
        r->code.memory.here->by_predecessor[pc % GT_PAGE / 64] |= UINT64_C(1) << pc % 64;
}

bool gt_translate_memory_has_predecessor(const struct gt_recorder *r, uint64_t pc)
{
    return !r->code.memory.here ||
           r->code.memory.here->by_predecessor[pc % GT_PAGE / 64] >> pc % 64 & 1;
}
