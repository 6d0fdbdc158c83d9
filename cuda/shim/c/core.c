// The core of libcuda.so.1: the connection to heddle, the window of the machine's memory, and page faults in it.
#include "graph.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static struct {
    int state; // 0 not tried, 1 connected, 2 failed
    int error; // what calls give in state 2
    int sock, file;
    pid_t owner;
    char *staging;
    struct sigaction fault; // of the program, before ours
} heddle = {.sock = -1, .file = -1};
static pthread_mutex_t calls, stages = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int reserved; // the window is this library's
static __thread int inside; // a callback of the host

static int fail(int error, const char *why)
{
    fprintf(stderr, "heddle: %s\n", why);
    heddle.state = 2;
    return heddle.error = error;
}

int heddle_in_window(const void *p)
{
    uint64_t a = (uint64_t)p;
    return a >= HEDDLE_WINDOW && a < HEDDLE_WINDOW + HEDDLE_WINDOW_BYTES;
}

// receive takes one packet; the file descriptor that comes with the first one goes to *fd.
static int receive(struct packet *p, char *data, int *fd)
{
    struct iovec part[2] = {{p, sizeof *p}, {data, PAYLOAD}};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
    if (fd) m.msg_control = &control, m.msg_controllen = sizeof control;
    ssize_t n;
    // Most answers are there within microseconds, sooner than a thread that sleeps wakes up.
    for (int tries = 0; (n = recvmsg(heddle.sock, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT)) < 0 && tries < 60; tries++)
        if (errno != EAGAIN && errno != EINTR) break;
    while (n < 0 && (errno == EINTR || errno == EAGAIN)) n = recvmsg(heddle.sock, &m, MSG_CMSG_CLOEXEC);
    if (n < (ssize_t)sizeof *p || p->size > PAYLOAD || (size_t)n != sizeof *p + p->size) return -1;
    struct cmsghdr *c = fd ? CMSG_FIRSTHDR(&m) : NULL;
    if (c && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int))) memcpy(fd, CMSG_DATA(c), sizeof(int));
    return 0;
}

static int send_packet(const struct packet *p, const void *data)
{
    struct iovec part[2] = {{(void *)p, sizeof *p}, {(void *)data, p->size}};
    struct msghdr m = {.msg_iov = part, .msg_iovlen = p->size ? 2 : 1};
    ssize_t n;
    do n = sendmsg(heddle.sock, &m, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n == (ssize_t)(sizeof *p + p->size) ? 0 : -1;
}

// on_fault asks for a page of the window that the program touches.
static void on_fault(int sig, siginfo_t *info, void *context)
{
    ucontext_t *u = context;
    uint64_t v[VALUES] = {(uint64_t)info->si_addr, (u->uc_mcontext.gregs[REG_ERR] & 2) != 0};
    int kept = errno;
    if (heddle_in_window(info->si_addr) && heddle_call(CALL_TOUCH, v, NULL, 0, NULL, 0) == 0) {
        errno = kept;
        return;
    }
    errno = kept;
    if (heddle.fault.sa_flags & SA_SIGINFO && heddle.fault.sa_sigaction) {
        heddle.fault.sa_sigaction(sig, info, context);
        return;
    }
    if (heddle.fault.sa_handler != SIG_DFL && heddle.fault.sa_handler != SIG_IGN) {
        heddle.fault.sa_handler(sig);
        return;
    }
    signal(sig, SIG_DFL); // the access is repeated, and ends the program
}

static int greet(void)
{
    struct packet p = {.kind = CALL_HELLO, .v = {HEDDLE_PROTOCOL, (uint64_t)getpid()}};
    static char data[PAYLOAD];
    int fd = -1;
    if (send_packet(&p, NULL) || receive(&p, data, &fd)) return fail(999, "no answer from heddle exec");
    if (p.status || fd < 0) {
        fprintf(stderr, "heddle: %.*s\n", (int)p.size, data);
        heddle.state = 2;
        return heddle.error = p.status ? p.status : 999;
    }
    heddle.file = fd;
    return 0;
}

// reserve takes the window's addresses, before the program if it can: a runtime that lays its heap at random addresses,
// as Go's does, then finds them taken.
__attribute__((constructor)) static void reserve(void)
{
    if (reserved || !getenv("HEDDLE_SOCKET")) return;
    void *w = mmap((void *)HEDDLE_WINDOW, HEDDLE_WINDOW_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    reserved = w == (void *)HEDDLE_WINDOW;
    if (!reserved && w != MAP_FAILED) munmap(w, HEDDLE_WINDOW_BYTES); // a kernel before 4.17, which maps elsewhere
}

static void start(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&calls, &a);
    heddle.owner = getpid();
    const char *path = getenv("HEDDLE_SOCKET");
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (!path) {
        fprintf(stderr, "heddle: %s runs on a simulated GPU: start it by `heddle exec -- %s`\n",
                program_invocation_name, program_invocation_name);
        heddle.state = 2;
        heddle.error = 100; // no device
        return;
    }
    size_t length = strlen(path);
    if (length >= sizeof to.sun_path) {
        fail(999, "HEDDLE_SOCKET is too long a name for a socket");
        return;
    }
    memcpy(to.sun_path, path, length);
    if (*path == '@') to.sun_path[0] = 0; // a name that is in no folder
    heddle.sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (heddle.sock < 0 || connect(heddle.sock, (struct sockaddr *)&to, offsetof(struct sockaddr_un, sun_path) + length)) {
        fail(999, "heddle exec, which started this program, is gone");
        return;
    }
    if (greet()) return;
    reserve(); // a library that was loaded late, or a limit of virtual memory that was raised since
    if (!reserved) {
        fail(2, "the addresses from 0xc0000000 on, which are the machine's memory, are taken in this program: "
                "link it as an ordinary executable, without a sanitizer");
        return;
    }
    heddle.staging = mmap(NULL, HEDDLE_STAGING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, heddle.file,
                          HEDDLE_STAGING);
    if (heddle.staging == MAP_FAILED) {
        fail(2, "no room for the staging area of copies: raise the limit of virtual memory (ulimit -v unlimited)");
        return;
    }
    struct sigaction s = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    s.sa_sigaction = on_fault;
    sigaction(SIGSEGV, &s, &heddle.fault);
    heddle.state = 1;
}

int heddle_connect(void)
{
    pthread_once(&once, start);
    if (heddle.state != 1) return heddle.error;
    if (getpid() != heddle.owner) {
        heddle_refuse("a child process", "fork copies no CUDA context; call CUDA in the parent only, or start the "
                                         "child's program by exec");
        return CUDA_NOT_INITIALIZED;
    }
    return 0;
}

// protect maps a part of the window as heddle asks for: none of it, or the file's bytes.
static void protect(uint64_t addr, uint64_t bytes, int rights, uint64_t offset)
{
    int prot = rights == 0 ? PROT_NONE : rights == 1 ? PROT_READ : PROT_READ | PROT_WRITE;
    void *to = (void *)addr, *at;
    if (rights == 0 && heddle_in_window(to))
        at = mmap(to, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    else
        at = mmap(to, bytes, prot, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, heddle.file, (off_t)offset);
    if (at != to) {
        fprintf(stderr, "heddle: no memory for %llu bytes at %p\n", (unsigned long long)bytes, to);
        abort();
    }
}

// host_call runs a function that the program has put into a stream.
static void host_call(const struct packet *p)
{
    void *fn = (void *)p->v[0], *data = (void *)p->v[1];
    inside++;
    if (p->v[2]) ((void (*)(void *, int, void *))fn)((void *)p->v[3], p->status, data);
    else ((void (*)(void *))fn)(data);
    inside--;
    struct packet done = {.kind = CALL_DONE};
    send_packet(&done, NULL);
}

// waits_for_capture tells whether a call waits for a stream that only records what it is given.
static int waits_for_capture(int call, uint64_t stream)
{
    if (call == CALL_SYNC_ALL || call == CALL_RESET) return 1;
    return (call == CALL_SYNC || call == CALL_STREAM_QUERY) && heddle_capture_status(stream, NULL, NULL);
}

int heddle_call(int call, uint64_t v[VALUES], const void *in, size_t n, void *out, size_t cap)
{
    static char data[PAYLOAD];
    int e = heddle_connect();
    if (e) return e;
    if (inside && call != CALL_TOUCH) return 800; // not permitted
    if (heddle_captures && waits_for_capture(call, v[0])) return 900;
    struct packet p = {.kind = call, .size = (uint32_t)n};
    memcpy(p.v, v, sizeof p.v);
    if (n > PAYLOAD) return 1;
    pthread_mutex_lock(&calls);
    if (send_packet(&p, in)) goto gone;
    for (;;) {
        if (receive(&p, data, NULL)) goto gone;
        switch (p.kind) {
        case PUSH_TEXT: fwrite(data, 1, p.size, stdout); continue;
        case PUSH_PROTECT: protect(p.v[0], p.v[1], (int)p.v[2], p.v[3]); continue;
        case PUSH_HOST_CALL: host_call(&p); continue;
        }
        break;
    }
    memcpy(v, p.v, sizeof p.v);
    if (out) memcpy(out, data, p.size < cap ? p.size : cap);
    pthread_mutex_unlock(&calls);
    return p.status;
gone:
    pthread_mutex_unlock(&calls);
    heddle_refuse("a call", "heddle exec is gone");
    return 999;
}

void *heddle_stage(size_t n)
{
    if (n > HEDDLE_STAGING_BYTES) return NULL;
    pthread_mutex_lock(&stages);
    return heddle.staging;
}

void heddle_unstage(size_t n)
{
    if (n > 8 << 20) madvise(heddle.staging, HEDDLE_STAGING_BYTES, MADV_REMOVE);
    pthread_mutex_unlock(&stages);
}

void heddle_refuse(const char *call, const char *why)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct said { char call[64]; struct said *next; } *list;
    pthread_mutex_lock(&lock);
    struct said *s = list;
    while (s && strncmp(s->call, call, sizeof s->call - 1)) s = s->next;
    if (!s) {
        fprintf(stderr, "heddle: %s: %s\n", call, why);
        if ((s = calloc(1, sizeof *s))) {
            strncpy(s->call, call, sizeof s->call - 1);
            s->next = list;
            list = s;
        }
    }
    pthread_mutex_unlock(&lock);
}

int heddle_unsupported(const char *call)
{
    heddle_refuse(call, "heddle exec does not have this call (CUDA_ERROR_NOT_SUPPORTED, 801); write the program "
                        "without it, or report what it is needed for");
    return CUDA_NOT_SUPPORTED;
}

int heddle_attributes(const int32_t **list, int *count, const char **name, uint64_t *bytes)
{
    static struct { int32_t list[256]; char name[256]; } all;
    static uint64_t memory;
    static int known;
    if (!known) {
        uint64_t v[VALUES] = {0};
        int e = heddle_call(CALL_ATTRIBUTES, v, NULL, 0, &all, sizeof all);
        if (e) return e;
        memory = v[0];
        known = 1;
    }
    *list = all.list, *count = 256, *name = all.name, *bytes = memory;
    return 0;
}

// ---- memory of the program's own that kernels reach: its pages become pages of the window's file

static struct registered {
    uintptr_t from;
    size_t bytes;
    uint64_t at; // in the window
    struct registered *next;
} *registered;
static pthread_mutex_t registering = PTHREAD_MUTEX_INITIALIZER;

// of finds what is registered at an address.
static struct registered *of(const void *p)
{
    struct registered *r = registered;
    while (r && ((uintptr_t)p < r->from || (uintptr_t)p >= r->from + r->bytes)) r = r->next;
    return r;
}

int heddle_share(void *host, uint64_t at, size_t n)
{
    if (((uint64_t)host | at) & 4095) return 999;
    void *m = mmap(host, (n + 4095) & -4096ul, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, heddle.file,
                   (off_t)(at - HEDDLE_WINDOW));
    return m == host ? 0 : 2;
}

static int put(void *host, size_t n)
{
    uintptr_t from = (uintptr_t)host & -4096ul, to = ((uintptr_t)host + n + 4095) & -4096ul;
    int e = heddle_connect();
    if (e) return e;
    if (!host || !n || to <= from || heddle_in_window(host)) return 1;
    if (of(host) || of((char *)host + n - 1)) return 712; // registered already
    struct registered *r = calloc(1, sizeof *r);
    uint64_t at;
    if (!r) return 2;
    if ((e = heddle_allocate(&at, to - from + 4096, 2))) return free(r), e; // a page more, to begin with a whole one
    uint64_t first = (at + 4095) & -4096ul;
    memcpy((void *)first, (void *)from, to - from);
    if ((e = heddle_share((void *)from, first, to - from))) return free(r), e;
    r->from = from, r->bytes = to - from, r->at = first, r->next = registered;
    registered = r;
    return 0;
}

static int take(void *host)
{
    struct registered **p = &registered, *r = of(host);
    int e = heddle_connect();
    if (e) return e;
    if (!r) return 713; // not registered
    while (*p != r) p = &(*p)->next;
    void *kept = mmap(NULL, r->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) return 2;
    memcpy(kept, (void *)r->from, r->bytes);
    if (mremap(kept, r->bytes, r->bytes, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)r->from) == MAP_FAILED) return 2;
    *p = r->next;
    free(r);
    return 0; // its part of the window stays, as a kernel may still use it
}

int heddle_register(void *host, size_t n)
{
    pthread_mutex_lock(&registering);
    int e = put(host, n);
    pthread_mutex_unlock(&registering);
    return e;
}

int heddle_unregister(void *host)
{
    pthread_mutex_lock(&registering);
    int e = take(host);
    pthread_mutex_unlock(&registering);
    return e;
}

void *heddle_device_pointer(void *host)
{
    pthread_mutex_lock(&registering);
    struct registered *r = of(host);
    pthread_mutex_unlock(&registering);
    return r ? (void *)(r->at + ((uintptr_t)host - r->from)) : heddle_in_window(host) ? host : NULL;
}
