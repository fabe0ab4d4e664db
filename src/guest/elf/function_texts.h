/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that are kept once each. */
#ifndef GT_GUEST_ELF_FUNCTION_TEXTS_H
#define GT_GUEST_ELF_FUNCTION_TEXTS_H

struct gt_elf_function_texts;

struct gt_elf_function_texts *gt_elf_function_texts_new(void); /* NULL: no memory */
/* The copy of the text, the same for equal texts; NULL: no memory. */
const char *gt_elf_function_texts_keep(struct gt_elf_function_texts *t, const char *text);
void gt_elf_function_texts_free(struct gt_elf_function_texts *t); /* NULL is fine */

#endif
