/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server of `guesttrace view`: HTTP on the loopback interface for one page.
 *
 * Who may ask is who knows the address: its path begins with a random token. A request has to be a
 * GET for a Host that is this address, or a POST of bookmarks, where they are kept; answers are
 * made from the recordings and the page's own files, never from a path of the request.
 */
#ifndef GT_CLI_VIEW_SERVER_H
#define GT_CLI_VIEW_SERVER_H

#include "base/error.h"
#include "cli/view/notes.h"
#include "gtrace/gtrace.h"

#include <stdint.h>

struct gt_cli_view_server;

/* An answer: as gtrace_page_answer. */
typedef int gt_cli_view_answer_fn(void *self, const char *question,
                                  const char *(*value)(void *user, const char *key), void *user,
                                  int fd, struct gtrace_page_answer *out, struct gtrace_error *err);

/* Listens on that port (0: any) of 127.0.0.1 and answers, on threads of its own, until it is
 * closed. `notes` stay the caller's; NULL: bookmarks are not kept. GT_E_IO: the port is in use, or
 * cannot be used. */
int gt_cli_view_server_open(gt_cli_view_answer_fn *answers, void *self,
                            struct gt_cli_view_notes *notes, uint16_t port,
                            struct gt_cli_view_server **out, struct gt_error *err);
/* The page's address. */
const char *gt_cli_view_server_address(const struct gt_cli_view_server *s);
/* Ends after the answers that are being made. NULL is fine. */
void gt_cli_view_server_close(struct gt_cli_view_server *s);

#endif
