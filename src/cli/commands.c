/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of subcommands and their families: see command.h. */
#include "cli/command.h"

const struct gt_cli_command *const gt_cli_commands[] = {
    &gt_cli_command_record,     &gt_cli_command_report,
    &gt_cli_command_graph,      &gt_cli_command_replay,
    &gt_cli_command_tui,        &gt_cli_command_top,
    &gt_cli_command_view,       &gt_cli_command_export,
    &gt_cli_command_diff,       &gt_cli_command_info,
    &gt_cli_command_symbols,    &gt_cli_command_repair,
    &gt_cli_command_ctl,        &gt_cli_command_coverage,
    &gt_cli_command_dump,       &gt_cli_command_convert,
    &gt_cli_command_events,     &gt_cli_command_simpletrace,
    &gt_cli_command_setup_qemu, &gt_cli_command_completion,
    &gt_cli_command_help,       NULL,
};

static const struct gt_cli_family_verb etrace[] = {{"coverage", &gt_cli_command_coverage},
                                                   {"dump", &gt_cli_command_dump},
                                                   {"export", &gt_cli_command_convert},
                                                   {NULL, NULL}};
static const struct gt_cli_family_verb execlog[] = {
    {"dump", &gt_cli_command_dump}, {"diff", &gt_cli_command_diff}, {NULL, NULL}};
static const struct gt_cli_family_verb events[] = {
    {"list", &gt_cli_command_events}, {"simpletrace", &gt_cli_command_simpletrace}, {NULL, NULL}};

const struct gt_cli_family gt_cli_families[] = {
    {"etrace", "executed code and memory accesses", etrace},
    {"execlog", "logs of instructions", execlog},
    {"events", "trace events", events},
    {NULL, NULL, NULL},
};
