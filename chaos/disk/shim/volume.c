/*
 * Tells what a process does to the files of one folder, so that a loss of power can be made up
 * from it: loaded before everything else (LD_PRELOAD), it does each call as it is and writes a
 * record of it to a journal.
 *
 * ORDEAL_ROOT     the folder, absolute and without links
 * ORDEAL_JOURNAL  the journal, outside of it; records are appended
 * ORDEAL_LIE      if set: names, with a colon between them; syncs of files with one of these in
 *                 their path do nothing and say that they did
 *
 * A record of a write is there before the call returns; a record of a sync says which records
 * were there when the sync was called. So whatever came before a sync in any order that the
 * process could know of is covered by it, and a kill between a call and its record leaves out
 * only what nobody was told. It must never make a call behave otherwise but for the lie, and what
 * it cannot follow it says: a journal with an unknown call is refused by its reader.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    OPENED = 1, /* ino, a: 1 cut to nothing, b: 1 a folder; name */
    WRITTEN,    /* ino, a: at; data */
    ZEROED,     /* ino, a: at, b: how many */
    CUT,        /* ino, a: length */
    SYNCED,     /* ino, a: records that were there before */
    RENAMED,    /* name, name */
    UNLINKED,   /* name */
    FOLDER,     /* name */
    NO_FOLDER,  /* name */
    TOLD,       /* data, on standard output */
    UNKNOWN,    /* name: a call that cannot be followed */
};

struct record {
    uint32_t magic, kind;
    uint64_t ino, a, b;
    uint32_t name_bytes, data_bytes;
};

#define MAGIC 0x4c44524fu
#define FDS 65536

static struct {
    _Atomic int is_ours;
    int lies;
    uint64_t ino;
} fds[FDS];

static char root[4096], lie[256];
static size_t root_bytes;
static int journal = -1;
static uint64_t records;
static pthread_mutex_t appending = PTHREAD_MUTEX_INITIALIZER;
/* Held over calls that change names, so that their records are in the order of the calls. */
static pthread_mutex_t naming = PTHREAD_MUTEX_INITIALIZER;

#define REAL(result, name, ...)                                              \
    static result (*real)(__VA_ARGS__);                                      \
    if (!real)                                                               \
    real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static ssize_t raw_writev(int fd, const struct iovec *parts, int count)
{
    REAL(ssize_t, writev, int, const struct iovec *, int);
    return real(fd, parts, count);
}

static void give_up(const char *why)
{
    dprintf(2, "shim: %s: %s\n", why, strerror(errno));
    abort();
}

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("ORDEAL_ROOT"), *path = getenv("ORDEAL_JOURNAL");
    const char *lies = getenv("ORDEAL_LIE");
    if (!folder || !path)
        return;
    snprintf(root, sizeof root, "%s", folder);
    root_bytes = strlen(root);
    if (lies)
        snprintf(lie, sizeof lie, "%s", lies);
    REAL(int, open64, const char *, int, ...);
    journal = real(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (journal < 0)
        give_up("the journal");
}

/* One record; the next number is given to it. */
static void tell(enum kind kind, struct record it, const char *name, const void *data)
{
    int kept = errno;
    it.magic = MAGIC;
    it.kind = kind;
    it.name_bytes = name ? (uint32_t)strlen(name) : 0;
    struct iovec parts[] = {
        {&it, sizeof it},
        {(void *)name, it.name_bytes},
        {(void *)data, it.data_bytes},
    };
    ssize_t bytes = (ssize_t)(sizeof it + it.name_bytes + it.data_bytes);
    pthread_mutex_lock(&appending);
    if (raw_writev(journal, parts, 3) != bytes)
        give_up("a record");
    records++;
    pthread_mutex_unlock(&appending);
    errno = kept;
}

/* The name below the root; NULL when the path is elsewhere. */
static const char *inside(int folder, const char *path, char *whole)
{
    if (journal < 0 || !path)
        return NULL;
    if (path[0] == '/') {
        snprintf(whole, 4096, "%s", path);
    } else {
        char link[64];
        char base[4096];
        if (folder == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t got = readlink(link, base, sizeof base - 1);
        if (got < 0)
            return NULL;
        base[got] = 0;
        if (snprintf(whole, 4096, "%.2000s/%.2000s", base, path) >= 4096)
            return NULL;
    }
    size_t end = strlen(whole);
    while (1 < end && whole[end - 1] == '/')
        whole[--end] = 0;
    if (strncmp(whole, root, root_bytes) != 0)
        return NULL;
    if (whole[root_bytes] == 0)
        return whole + root_bytes;
    return whole[root_bytes] == '/' ? whole + root_bytes + 1 : NULL;
}

static int lies_about(const char *name)
{
    char names[sizeof lie], *rest = NULL;
    memcpy(names, lie, sizeof lie);
    for (char *one = strtok_r(names, ":", &rest); one; one = strtok_r(NULL, ":", &rest))
        if (strstr(name, one))
            return 1;
    return 0;
}

static void opened(int fd, int flags, const char *name)
{
    struct stat it;
    if (fd < 0 || FDS <= fd || !name)
        return;
    if (fstat(fd, &it) != 0)
        give_up("fstat");
    struct record record = {.ino = it.st_ino};
    record.a = (flags & O_TRUNC) != 0;
    record.b = S_ISDIR(it.st_mode);
    fds[fd].ino = it.st_ino;
    fds[fd].lies = !record.b && lies_about(name);
    tell(OPENED, record, name, NULL);
    atomic_store(&fds[fd].is_ours, 1);
}

static int is_ours(int fd)
{
    return 0 <= journal && 0 <= fd && fd < FDS && atomic_load(&fds[fd].is_ours);
}

static void unknown(const char *call)
{
    tell(UNKNOWN, (struct record){0}, call, NULL);
}

#define OPEN_BODY(call_name, ...)                                            \
    mode_t mode = 0;                                                         \
    if (flags & (O_CREAT | O_TMPFILE)) {                                     \
        va_list more;                                                        \
        va_start(more, flags);                                               \
        mode = va_arg(more, mode_t);                                         \
        va_end(more);                                                        \
    }                                                                        \
    char whole[4096];                                                        \
    const char *name = inside(folder, path, whole);                          \
    if (!name)                                                               \
        return real(__VA_ARGS__);                                            \
    pthread_mutex_lock(&naming);                                             \
    int fd = real(__VA_ARGS__);                                              \
    opened(fd, flags, name);                                                 \
    pthread_mutex_unlock(&naming);                                           \
    return fd;

int open(const char *path, int flags, ...)
{
    REAL(int, open, const char *, int, ...);
    int folder = AT_FDCWD;
    OPEN_BODY(open, path, flags, mode)
}

int open64(const char *path, int flags, ...)
{
    REAL(int, open64, const char *, int, ...);
    int folder = AT_FDCWD;
    OPEN_BODY(open64, path, flags, mode)
}

int openat(int folder, const char *path, int flags, ...)
{
    REAL(int, openat, int, const char *, int, ...);
    OPEN_BODY(openat, folder, path, flags, mode)
}

int openat64(int folder, const char *path, int flags, ...)
{
    REAL(int, openat64, int, const char *, int, ...);
    OPEN_BODY(openat64, folder, path, flags, mode)
}

int creat(const char *path, mode_t mode)
{
    return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int creat64(const char *path, mode_t mode)
{
    return open64(path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int fd)
{
    REAL(int, close, int);
    if (is_ours(fd))
        atomic_store(&fds[fd].is_ours, 0);
    return real(fd);
}

static int same(int fd, int copy)
{
    if (is_ours(fd) && 0 <= copy && copy < FDS) {
        fds[copy].ino = fds[fd].ino;
        fds[copy].lies = fds[fd].lies;
        atomic_store(&fds[copy].is_ours, 1);
    }
    return copy;
}

int dup(int fd)
{
    REAL(int, dup, int);
    return same(fd, real(fd));
}

int dup2(int fd, int copy)
{
    REAL(int, dup2, int, int);
    if (is_ours(copy))
        atomic_store(&fds[copy].is_ours, 0);
    return same(fd, real(fd, copy));
}

int dup3(int fd, int copy, int flags)
{
    REAL(int, dup3, int, int, int);
    if (is_ours(copy))
        atomic_store(&fds[copy].is_ours, 0);
    return same(fd, real(fd, copy, flags));
}

#define FCNTL_BODY                                                           \
    va_list more;                                                            \
    va_start(more, command);                                                 \
    void *argument = va_arg(more, void *);                                   \
    va_end(more);                                                            \
    int got = real(fd, command, argument);                                   \
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)                    \
        same(fd, got);                                                       \
    return got;

int fcntl(int fd, int command, ...)
{
    REAL(int, fcntl, int, int, ...);
    FCNTL_BODY
}

int fcntl64(int fd, int command, ...)
{
    REAL(int, fcntl64, int, int, ...);
    FCNTL_BODY
}

static int is_zero(const char *bytes, size_t count)
{
    return count && bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0;
}

static void written(int fd, const void *bytes, ssize_t count, off64_t at)
{
    if (count <= 0)
        return;
    struct record record = {.ino = fds[fd].ino, .a = (uint64_t)at};
    if (is_zero(bytes, (size_t)count)) {
        record.b = (uint64_t)count;
        tell(ZEROED, record, NULL, NULL);
    } else {
        record.data_bytes = (uint32_t)count;
        tell(WRITTEN, record, NULL, bytes);
    }
}

/* Where the `count` bytes begin that were just written. */
static off64_t begun(int fd, ssize_t count)
{
    return lseek64(fd, 0, SEEK_CUR) - (0 < count ? count : 0);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    REAL(ssize_t, write, int, const void *, size_t);
    if (fd == 1 && 0 <= journal && count) {
        /* Before the call: whoever reads it may end this process at once. */
        tell(TOLD, (struct record){.data_bytes = (uint32_t)count}, NULL, bytes);
        return real(fd, bytes, count);
    }
    ssize_t got = real(fd, bytes, count);
    if (is_ours(fd))
        written(fd, bytes, got, begun(fd, got));
    return got;
}

static void written_parts(int fd, const struct iovec *parts, int count, ssize_t got, off64_t at)
{
    for (int i = 0; i < count && 0 < got; i++) {
        ssize_t part = got < (ssize_t)parts[i].iov_len ? got : (ssize_t)parts[i].iov_len;
        written(fd, parts[i].iov_base, part, at);
        at += part;
        got -= part;
    }
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t got = raw_writev(fd, parts, count);
    if (is_ours(fd))
        written_parts(fd, parts, count, got, begun(fd, got));
    return got;
}

#define AT_BODY                                                              \
    ssize_t got = real(fd, bytes, count, at);                                \
    if (is_ours(fd))                                                         \
        written(fd, bytes, got, at);                                         \
    return got;

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at)
{
    REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
    AT_BODY
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t);
    AT_BODY
}

#define PARTS_AT_BODY                                                        \
    ssize_t got = real(fd, parts, count, at);                                \
    if (is_ours(fd))                                                         \
        written_parts(fd, parts, count, got, at);                            \
    return got;

ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at)
{
    REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t);
    PARTS_AT_BODY
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t at)
{
    REAL(ssize_t, pwritev64, int, const struct iovec *, int, off64_t);
    PARTS_AT_BODY
}

static int cut(int fd, int got, off64_t bytes)
{
    if (got == 0 && is_ours(fd))
        tell(CUT, (struct record){.ino = fds[fd].ino, .a = (uint64_t)bytes}, NULL, NULL);
    return got;
}

int ftruncate(int fd, off_t bytes)
{
    REAL(int, ftruncate, int, off_t);
    return cut(fd, real(fd, bytes), bytes);
}

int ftruncate64(int fd, off64_t bytes)
{
    REAL(int, ftruncate64, int, off64_t);
    return cut(fd, real(fd, bytes), bytes);
}

#define SYNC_BODY                                                            \
    if (!is_ours(fd))                                                        \
        return real(fd);                                                     \
    if (fds[fd].lies)                                                        \
        return 0;                                                            \
    pthread_mutex_lock(&appending);                                          \
    struct record record = {.ino = fds[fd].ino, .a = records};               \
    pthread_mutex_unlock(&appending);                                        \
    int got = real(fd);                                                      \
    if (got == 0)                                                            \
        tell(SYNCED, record, NULL, NULL);                                    \
    return got;

int fsync(int fd)
{
    REAL(int, fsync, int);
    SYNC_BODY
}

int fdatasync(int fd)
{
    REAL(int, fdatasync, int);
    SYNC_BODY
}

static int renamed(int got, const char *from, const char *to)
{
    if (got != 0 || (!from && !to))
        return got;
    if (!from || !to) {
        unknown("a rename over the border");
        return got;
    }
    struct record record = {.data_bytes = (uint32_t)strlen(to)};
    tell(RENAMED, record, from, to);
    return got;
}

#define RENAME_BODY(from_folder, to_folder, ...)                             \
    char whole[4096], other[4096];                                           \
    const char *here = inside(from_folder, from, whole);                     \
    const char *there = inside(to_folder, to, other);                        \
    pthread_mutex_lock(&naming);                                             \
    int got = renamed(real(__VA_ARGS__), here, there);                       \
    pthread_mutex_unlock(&naming);                                           \
    return got;

int rename(const char *from, const char *to)
{
    REAL(int, rename, const char *, const char *);
    RENAME_BODY(AT_FDCWD, AT_FDCWD, from, to)
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    REAL(int, renameat, int, const char *, int, const char *);
    RENAME_BODY(from_folder, to_folder, from_folder, from, to_folder, to)
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    REAL(int, renameat2, int, const char *, int, const char *, unsigned);
    if (flags & RENAME_EXCHANGE)
        unknown("an exchange of names");
    RENAME_BODY(from_folder, to_folder, from_folder, from, to_folder, to, flags)
}

#define NAME_BODY(folder, kind, ...)                                         \
    char whole[4096];                                                        \
    const char *name = inside(folder, path, whole);                          \
    pthread_mutex_lock(&naming);                                             \
    int got = real(__VA_ARGS__);                                             \
    if (got == 0 && name)                                                    \
        tell(kind, (struct record){0}, name, NULL);                          \
    pthread_mutex_unlock(&naming);                                           \
    return got;

int unlink(const char *path)
{
    REAL(int, unlink, const char *);
    NAME_BODY(AT_FDCWD, UNLINKED, path)
}

int unlinkat(int folder, const char *path, int flags)
{
    REAL(int, unlinkat, int, const char *, int);
    NAME_BODY(folder, flags & AT_REMOVEDIR ? NO_FOLDER : UNLINKED, folder, path, flags)
}

int rmdir(const char *path)
{
    REAL(int, rmdir, const char *);
    NAME_BODY(AT_FDCWD, NO_FOLDER, path)
}

int mkdir(const char *path, mode_t mode)
{
    REAL(int, mkdir, const char *, mode_t);
    NAME_BODY(AT_FDCWD, FOLDER, path, mode)
}

int mkdirat(int folder, const char *path, mode_t mode)
{
    REAL(int, mkdirat, int, const char *, mode_t);
    NAME_BODY(folder, FOLDER, folder, path, mode)
}

/* Calls that nothing here makes today: they are told, so that the day they are made is seen. */

int link(const char *from, const char *path)
{
    REAL(int, link, const char *, const char *);
    NAME_BODY(AT_FDCWD, UNKNOWN, from, path)
}

int symlink(const char *from, const char *path)
{
    REAL(int, symlink, const char *, const char *);
    NAME_BODY(AT_FDCWD, UNKNOWN, from, path)
}

int truncate(const char *path, off_t bytes)
{
    REAL(int, truncate, const char *, off_t);
    NAME_BODY(AT_FDCWD, UNKNOWN, path, bytes)
}

int truncate64(const char *path, off64_t bytes)
{
    REAL(int, truncate64, const char *, off64_t);
    NAME_BODY(AT_FDCWD, UNKNOWN, path, bytes)
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
    REAL(void *, mmap, void *, size_t, int, int, int, off_t);
    if (is_ours(fd) && (flags & MAP_SHARED) && (protection & PROT_WRITE))
        unknown("mmap");
    return real(at, bytes, protection, flags, fd, from);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off64_t from)
{
    REAL(void *, mmap64, void *, size_t, int, int, int, off64_t);
    if (is_ours(fd) && (flags & MAP_SHARED) && (protection & PROT_WRITE))
        unknown("mmap64");
    return real(at, bytes, protection, flags, fd, from);
}

/* Whoever copies files falls back to reading and writing, which can be followed. */

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t bytes,
                        unsigned flags)
{
    REAL(ssize_t, copy_file_range, int, off64_t *, int, off64_t *, size_t, unsigned);
    if (is_ours(to)) {
        errno = ENOSYS;
        return -1;
    }
    return real(from, from_at, to, to_at, bytes, flags);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t bytes)
{
    REAL(ssize_t, sendfile64, int, int, off64_t *, size_t);
    if (is_ours(to)) {
        errno = ENOSYS;
        return -1;
    }
    return real(to, from, at, bytes);
}
