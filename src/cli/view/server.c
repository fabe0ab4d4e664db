/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server of `guesttrace view`: see server.h. */
#include "cli/view/server.h"

#include "cli/view/arrivals.h"
#include "cli/view/cache.h"
#include "cli/view/connections.h"

#include <arpa/inet.h>
#include <errno.h>
#include <glib.h>
#include <microhttpd.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TOKEN_BYTES = 16,
    REQUEST_BYTES = 64 << 10, /* its line and headers */
    IDLE_SECONDS = 60,        /* of who reads an answer, or does not */
};

struct gt_cli_view_server {
    gt_cli_view_answer_fn *answer;
    void *self;                      /* of `answer` */
    struct gt_cli_view_notes *notes; /* NULL: none are kept */
    struct MHD_Daemon *daemon;
    struct gt_cli_view_answers *cache;
    struct gt_cli_view_connections *connections;
    struct gt_cli_view_arrivals *arrivals;
    int listening; /* -1: not yet */
    char *address;
    char *hosts[2]; /* what Host may be */
    char token[2 * TOKEN_BYTES + 1];
};

/* A request, from its headers on. */
struct request {
    GString *body; /* of bookmarks that are to be kept; NULL: a body is not used */
};

/* Nothing but the page's own files; no other page may frame it or read from it. */
static const struct {
    const char *name, *value;
} headers[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
     "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cache-Control", "no-store"},
};

/* ---- responses ----------------------------------------------------------------------------- */

/* Takes the response over; NULL: no memory. */
static enum MHD_Result respond(struct MHD_Connection *to, unsigned status, const char *type,
                               struct MHD_Response *r)
{
    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    for (size_t i = 0; i < G_N_ELEMENTS(headers); i++)
        MHD_add_response_header(r, headers[i].name, headers[i].value);
    enum MHD_Result result = MHD_queue_response(to, status, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result refuse(struct MHD_Connection *to, unsigned status, const char *text)
{
    return respond(to, status, "text/plain; charset=utf-8",
                   MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                   MHD_RESPMEM_MUST_COPY));
}

static void free_bytes(void *bytes)
{
    g_bytes_unref(bytes);
}

static enum MHD_Result respond_bytes(struct MHD_Connection *to, const char *type, GBytes *bytes)
{
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return respond(to, MHD_HTTP_OK, type,
                   MHD_create_response_from_buffer_with_free_callback_cls(
                       size, (void *)(uintptr_t)data, free_bytes, bytes));
}

/* ---- answers ------------------------------------------------------------------------------- */

static const char *parameter(void *connection, const char *key)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, key);
}

static GBytes *bytes_of(int fd)
{
    const off_t size = lseek(fd, 0, SEEK_END);
    char *data = size < 0 ? NULL : g_try_malloc((gsize)size + 1);
    if (data && pread(fd, data, (size_t)size, 0) == size)
        return g_bytes_new_take(data, (gsize)size);
    g_free(data);
    return NULL;
}

/* NULL: err says why, if it does. */
static GBytes *make_answer(struct gt_cli_view_server *s, struct MHD_Connection *to,
                           const char *name, struct gtrace_page_answer *answer,
                           struct gtrace_error *err)
{
    const int fd = memfd_create("answer", MFD_CLOEXEC);
    const int status =
        fd < 0 ? GTRACE_E_IO : s->answer(s->self, name, parameter, to, fd, answer, err);
    GBytes *bytes = status < 0 ? NULL : bytes_of(fd);
    if (fd >= 0)
        close(fd);
    return bytes;
}

static enum MHD_Result add_argument(void *text, enum MHD_ValueKind kind, const char *key,
                                    const char *value)
{
    (void)kind;
    g_string_append_printf(text, "&%s=%s", key, value ? value : "");
    return MHD_YES;
}

static enum MHD_Result answer(struct gt_cli_view_server *s, struct MHD_Connection *to,
                              const char *name)
{
    g_autoptr(GString) question = g_string_new(name);
    MHD_get_connection_values(to, MHD_GET_ARGUMENT_KIND, add_argument, question);
    struct gtrace_page_answer a = {.size = sizeof a};
    struct gtrace_error err = {.size = sizeof err, .text = "out of memory"};
    GBytes *bytes = gt_cli_view_answers_get(s->cache, question->str, &a.type);
    if (!bytes) {
        bytes = make_answer(s, to, name, &a, &err);
        if (bytes && a.final)
            gt_cli_view_answers_put(s->cache, question->str, a.type, bytes);
    }
    if (bytes)
        return respond_bytes(to, a.type, bytes);
    return refuse(to,
                  err.status == GTRACE_E_NOT_FOUND ? MHD_HTTP_NOT_FOUND
                  : err.status == GTRACE_E_USAGE || err.status == GTRACE_E_RANGE
                      ? MHD_HTTP_BAD_REQUEST
                      : MHD_HTTP_INTERNAL_SERVER_ERROR,
                  err.text);
}

/* ---- bookmarks ----------------------------------------------------------------------------- */

static const char *const notes_question = "notes";

/* An empty text: none are kept. */
static enum MHD_Result give_notes(struct gt_cli_view_server *s, struct MHD_Connection *to)
{
    return respond_bytes(to, "text/plain; charset=utf-8",
                         s->notes ? gt_cli_view_notes_get(s->notes) : g_bytes_new(NULL, 0));
}

static enum MHD_Result take_notes(struct gt_cli_view_server *s, struct MHD_Connection *to,
                                  const GString *body)
{
    struct gt_error err = {0};
    const int status = gt_cli_view_notes_put(s->notes, body->str, body->len, &err);
    return refuse(to,
                  status == 0             ? MHD_HTTP_OK
                  : status == GT_E_FORMAT ? MHD_HTTP_BAD_REQUEST
                  : status == GT_E_RANGE  ? MHD_HTTP_CONTENT_TOO_LARGE
                                          : MHD_HTTP_INTERNAL_SERVER_ERROR,
                  status == 0 ? "" : err.text);
}

/* ---- requests ------------------------------------------------------------------------------ */

static bool is_ours(const struct gt_cli_view_server *s, struct MHD_Connection *c)
{
    const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    const char *origin = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Origin");
    for (size_t i = 0; i < G_N_ELEMENTS(s->hosts); i++)
        if (host && g_ascii_strcasecmp(host, s->hosts[i]) == 0)
            return !origin || (g_str_has_prefix(origin, "http://") &&
                               g_ascii_strcasecmp(origin + strlen("http://"), host) == 0);
    return false;
}

/* In the same time, wherever they differ. Returns what follows the token; NULL: it is another. */
static const char *after_token(const struct gt_cli_view_server *s, const char *path)
{
    unsigned char differ = path[0] != '/';
    const size_t n = strlen(path);
    for (size_t i = 0; i < 2 * TOKEN_BYTES; i++)
        differ |= (unsigned char)(s->token[i] ^ (i + 1 < n ? path[i + 1] : 0));
    return differ || n < 2 + 2 * TOKEN_BYTES || path[1 + 2 * TOKEN_BYTES] != '/'
               ? NULL
               : path + 2 + 2 * TOKEN_BYTES;
}

static struct gt_cli_view_connection *connection_of(struct MHD_Connection *c)
{
    return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void note_connection(void *self, struct MHD_Connection *c, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    struct gt_cli_view_server *s = self;
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        *context = gt_cli_view_connection_open(
            s->connections,
            MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
    else
        gt_cli_view_connection_close(s->connections, *context);
}

static void note_answered(void *self, struct MHD_Connection *c, void **state,
                          enum MHD_RequestTerminationCode how)
{
    struct gt_cli_view_server *s = self;
    struct request *r = *state;
    (void)how;
    if (r && r->body)
        g_string_free(r->body, TRUE);
    g_free(r);
    *state = NULL;
    gt_cli_view_connection_busy(s->connections, connection_of(c), false);
}

static enum MHD_Result respond_to(struct gt_cli_view_server *s, struct MHD_Connection *c,
                                  const char *path, const char *method, const struct request *r)
{
    if (!is_ours(s, c))
        return refuse(c, MHD_HTTP_FORBIDDEN, "this address is not the page's\n");
    const char *name = after_token(s, path);
    if (!name)
        return refuse(c, MHD_HTTP_FORBIDDEN,
                      "the address lacks its token; use the whole address\n");
    if (r->body)
        return take_notes(s, c, r->body);
    if (strcmp(method, "GET") != 0)
        return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    return strcmp(name, notes_question) == 0 ? give_notes(s, c) : answer(s, c, name);
}

/* Called when the headers are there, for each piece of a body, and at its end. Who writes a body
 * reads no answer before. */
static enum MHD_Result take_request(void *self, struct MHD_Connection *c, const char *path,
                                    const char *method, const char *version, const char *data,
                                    size_t *size, void **state)
{
    struct gt_cli_view_server *s = self;
    struct request *r = *state;
    (void)version;
    if (!r) {
        const char *name = is_ours(s, c) ? after_token(s, path) : NULL;
        *state = r = g_new0(struct request, 1);
        if (name)
            gt_cli_view_connection_know(s->connections, connection_of(c));
        if (name && s->notes && strcmp(method, "POST") == 0 && strcmp(name, notes_question) == 0)
            r->body = g_string_new(NULL);
        return MHD_YES;
    }
    if (*size) {
        if (r->body && r->body->len <= GT_NOTES_MOST) /* a longer one is refused later */
            g_string_append_len(r->body, data, (gssize)MIN(*size, GT_NOTES_MOST + 1));
        *size = 0;
        return MHD_YES;
    }
    gt_cli_view_connection_busy(s->connections, connection_of(c), true);
    return respond_to(s, c, path, method, r);
}

/* ---- opening ------------------------------------------------------------------------------- */

static bool make_token(char *token)
{
    unsigned char random[TOKEN_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return false;
    for (size_t i = 0; i < sizeof random; i++)
        g_snprintf(token + 2 * i, 3, "%02x", random[i]);
    return true;
}

/* A socket that listens, or -1. */
static int listen_at(uint16_t *port, struct gt_error *err)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(*port)};
    socklen_t size = sizeof at;
    const int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd >= 0)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 &&
        listen(fd, GT_ARRIVALS_PENDING) == 0 &&
        getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
        *port = ntohs(at.sin_port);
        return fd;
    }
    const int why = errno;
    gt_error_errno(err, why, "port %u of 127.0.0.1%s", *port,
                   why == EADDRINUSE ? ": another program has it; choose one with --port" : "");
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool knows(void *self, const char *path)
{
    return after_token(self, path) != NULL;
}

/* The daemon closes it. */
static void take_connection(void *self, int fd, const struct sockaddr *from, socklen_t size)
{
    struct gt_cli_view_server *s = self;
    MHD_add_connection(s->daemon, fd, from, size);
}

static int start_daemon(struct gt_cli_view_server *s, struct gt_error *err)
{
    s->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL |
            MHD_USE_NO_LISTEN_SOCKET,
        0, NULL, NULL, take_request, s, MHD_OPTION_CONNECTION_LIMIT, (unsigned)GT_CONNECTIONS_MOST,
        MHD_OPTION_NOTIFY_CONNECTION, note_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
        note_answered, s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS, MHD_OPTION_END);
    return s->daemon ? 0 : gt_error_set(err, GT_E_IO, "the HTTP server cannot be started");
}

static int open_all(struct gt_cli_view_server *s, uint16_t port, struct gt_error *err)
{
    s->listening = listen_at(&port, err);
    if (s->listening < 0)
        return err->status;
    if (!make_token(s->token))
        return gt_error_errno(err, errno, "random numbers");
    s->hosts[0] = g_strdup_printf("127.0.0.1:%u", port);
    s->hosts[1] = g_strdup_printf("localhost:%u", port);
    s->address = g_strdup_printf("http://%s/%s/", s->hosts[0], s->token);
    if (!(s->connections = gt_cli_view_connections_create()))
        return gt_error_set(err, GT_E_NOMEM, "out of memory");
    const struct gt_cli_view_door door = {s->listening, knows, take_connection, s};
    int status = start_daemon(s, err);
    return status < 0 ? status : gt_cli_view_arrivals_open(&door, &s->arrivals, err);
}

int gt_cli_view_server_open(gt_cli_view_answer_fn *answers, void *self,
                            struct gt_cli_view_notes *notes, uint16_t port,
                            struct gt_cli_view_server **out, struct gt_error *err)
{
    struct gt_cli_view_server *s = g_new0(struct gt_cli_view_server, 1);
    s->answer = answers;
    s->self = self;
    s->notes = notes;
    s->cache = gt_cli_view_answers_create();
    const int status = open_all(s, port, err);
    *out = status < 0 ? NULL : s;
    if (status < 0)
        gt_cli_view_server_close(s);
    return status;
}

const char *gt_cli_view_server_address(const struct gt_cli_view_server *s)
{
    return s->address;
}

void gt_cli_view_server_close(struct gt_cli_view_server *s)
{
    if (!s)
        return;
    gt_cli_view_arrivals_close(s->arrivals);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    if (s->listening >= 0)
        close(s->listening);
    gt_cli_view_connections_destroy(s->connections);
    gt_cli_view_answers_destroy(s->cache);
    g_free(s->hosts[0]);
    g_free(s->hosts[1]);
    g_free(s->address);
    g_free(s);
}
