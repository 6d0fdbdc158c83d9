// Calls of the C library that hand memory to the system. The system cannot fetch pages of managed memory, as an access
// of the program itself does (core.c), and would answer EFAULT: such pages are fetched before.
#include "wire.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define CHUNK 65536ull // what one touch fetches

static void reach(const void *p, size_t n, int writes)
{
    if (!n || !heddle_in_window(p) || heddle_connect()) return;
    uint64_t from = (uint64_t)p, v[VALUES] = {from};
    if (heddle_call(CALL_POINTER, v, NULL, 0, NULL, 0) || v[0] != 3) return; // not managed
    for (uint64_t at = from; at < from + n; at = (at / CHUNK + 1) * CHUNK) {
        uint64_t t[VALUES] = {at, (uint64_t)writes};
        if (heddle_call(CALL_TOUCH, t, NULL, 0, NULL, 0)) return; // the system's answer is EFAULT
    }
}

// NEXT is the function of the C library that one here stands in front of.
#define NEXT(type, name, ...) static type (*next)(__VA_ARGS__); if (!next) next = (type (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

ssize_t read(int fd, void *p, size_t n)
{
    NEXT(ssize_t, read, int, void *, size_t);
    reach(p, n, 1);
    return next(fd, p, n);
}
ssize_t __read_chk(int fd, void *p, size_t n, size_t room)
{
    NEXT(ssize_t, __read_chk, int, void *, size_t, size_t);
    reach(p, n, 1);
    return next(fd, p, n, room);
}
ssize_t pread(int fd, void *p, size_t n, off_t at)
{
    NEXT(ssize_t, pread, int, void *, size_t, off_t);
    reach(p, n, 1);
    return next(fd, p, n, at);
}
ssize_t pread64(int fd, void *p, size_t n, off64_t at)
{
    NEXT(ssize_t, pread64, int, void *, size_t, off64_t);
    reach(p, n, 1);
    return next(fd, p, n, at);
}
ssize_t write(int fd, const void *p, size_t n)
{
    NEXT(ssize_t, write, int, const void *, size_t);
    reach(p, n, 0);
    return next(fd, p, n);
}
ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
    NEXT(ssize_t, pwrite, int, const void *, size_t, off_t);
    reach(p, n, 0);
    return next(fd, p, n, at);
}
ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
    NEXT(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    reach(p, n, 0);
    return next(fd, p, n, at);
}
ssize_t recv(int fd, void *p, size_t n, int flags)
{
    NEXT(ssize_t, recv, int, void *, size_t, int);
    reach(p, n, 1);
    return next(fd, p, n, flags);
}
ssize_t send(int fd, const void *p, size_t n, int flags)
{
    NEXT(ssize_t, send, int, const void *, size_t, int);
    reach(p, n, 0);
    return next(fd, p, n, flags);
}
ssize_t readv(int fd, const struct iovec *list, int count)
{
    NEXT(ssize_t, readv, int, const struct iovec *, int);
    for (int i = 0; i < count; i++) reach(list[i].iov_base, list[i].iov_len, 1);
    return next(fd, list, count);
}
ssize_t writev(int fd, const struct iovec *list, int count)
{
    NEXT(ssize_t, writev, int, const struct iovec *, int);
    for (int i = 0; i < count; i++) reach(list[i].iov_base, list[i].iov_len, 0);
    return next(fd, list, count);
}
// The C library reads and writes much at once past its buffer.
size_t fread(void *p, size_t size, size_t n, FILE *f)
{
    NEXT(size_t, fread, void *, size_t, size_t, FILE *);
    reach(p, size * n, 1);
    return next(p, size, n, f);
}
size_t __fread_chk(void *p, size_t room, size_t size, size_t n, FILE *f)
{
    NEXT(size_t, __fread_chk, void *, size_t, size_t, size_t, FILE *);
    reach(p, size * n, 1);
    return next(p, room, size, n, f);
}
size_t fwrite(const void *p, size_t size, size_t n, FILE *f)
{
    NEXT(size_t, fwrite, const void *, size_t, size_t, FILE *);
    reach(p, size * n, 0);
    return next(p, size, n, f);
}
