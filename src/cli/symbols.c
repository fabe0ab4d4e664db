/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `guesttrace symbols`: names for a recorded machine's addresses, from ELF files. */
#include "cli/command.h"
#include "cli/symbolize.h"

#include <inttypes.h>
#include <stdio.h>

struct symbols_options {
    const char *dir;
    bool prefix;
};

static const struct gt_option symbols_table[] = {
    {"dir", 'd', GT_OPTION_DIR, .value = "DIR",
     .help = "the recorded directory (default: uftrace.data)",
     .offset = offsetof(struct symbols_options, dir)},
    {"prefix-symbols", .type = GT_OPTION_FLAG,
     .help = "put the file's name before each of its functions, fw.elf:main",
     .offset = offsetof(struct symbols_options, prefix)},
    {0},
};

static int run_symbols(const struct gt_command *self, const void *options, size_t n,
                       char **operands)
{
    const struct symbols_options *opt = options;
    const char *dir = opt->dir ? opt->dir : "uftrace.data";
    if (n == 0)
        return gt_command_usage_error(self, "needs an ELF file");
    g_autofree struct gt_symbol_source *source = g_new0(struct gt_symbol_source, n);
    struct gt_error err = {0};
    int status = 0;
    for (size_t i = 0; i < n && status == 0; i++)
        status = gt_symbol_source_load(operands[i], &source[i], &err);
    if (status == 0)
        status = gt_symbolize(dir, source, n, opt->prefix, &err);
    for (size_t i = 0; i < n; i++) {
        if (status == 0)
            printf("%s: %zu functions at 0x%" PRIx64 "-0x%" PRIx64 "\n", source[i].file,
                   source[i].symbols->n_sym, source[i].start, source[i].end);
        gt_symbol_source_clear(&source[i]);
    }
    return status < 0 ? gt_command_fail(self, GT_EXIT_FAILED, "%s", err.text) : GT_EXIT_DONE;
}

const struct gt_command gt_command_symbols = {
    .name = "symbols",
    .summary = "name the functions of a recorded machine from ELF files",
    .usage = (const char *const[]){"[-d DIR] ELF[:OFFSET]...", NULL},
    .paragraphs =
        (const char *const[]){
            "A machine's recording holds addresses: QEMU does not know which programs ran in it."
            " Each ELF file names those it covers, at the addresses it is linked for plus OFFSET"
            " (decimal, or hex after 0x). A position-independent file that is linked at 0 needs"
            " an OFFSET.",
            "A function that its file has no name for is shown as FILE+0xOFFSET, counted from where"
            " its code begins; what no file covers, by its address. A file that is given again "
            "moves to its"
            " new OFFSET; files of earlier calls stay.",
            NULL},
    .options = symbols_table,
    .options_size = sizeof(struct symbols_options),
    .operands = GT_OPERANDS_FILES,
    .run = run_symbols,
};
