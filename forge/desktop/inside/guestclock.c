/* The guest's wall clock, by LD_PRELOAD: real time plus an offset that a read-only file says.
 *
 * What reads the wall clock gets the guest's; what waits for a wall-clock deadline has the deadline turned back into
 * real time; monotonic clocks, timers and relative sleeps are left alone. Time stamps of the guest's own files
 * (those that belong to its user) are shown and set in guest time; those of the system are not, because caches of
 * fonts and icons are checked against them.
 *
 * The file, $FORGE_CLOCK, holds two 64-bit integers in host byte order: the offset in nanoseconds, and, if the clock
 * stands still, the nanoseconds since 1970 at which it stands (else 0). It is mapped, so that a change is seen at once.
 *
 * Why not libfaketime: version 0.9.10 makes clock_nanosleep fail when monotonic clocks are not faked (Python's
 * time.sleep raises OSError), and does not know statx.
 *
 * Not covered: static programs, direct system calls, timerfd and POSIX timers with absolute wall-clock times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timeb.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#define BILLION 1000000000LL

static const volatile int64_t *clock_file;
static uid_t guest;

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* The first process of a box: bubblewrap bound its life to the owner's only just now. If the owner ended before, the box
 * would outlive it: end with it. */
static void follow_owner(void)
{
    const char *number = getenv("FORGE_OWNER");
    if (!number)
        return;
    struct pollfd owner = {.fd = atoi(number)};
    if (poll(&owner, 1, 0) == 1 && owner.revents & POLLHUP)
        _exit(137);
    close(owner.fd);
    unsetenv("FORGE_OWNER");
}

__attribute__((constructor)) static void open_clock(void)
{
    follow_owner();
    const char *path = getenv("FORGE_CLOCK");
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    guest = getuid();
    if (fd < 0)
        return;
    void *map = mmap(NULL, 16, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (map != MAP_FAILED)
        clock_file = map;
}

static int64_t offset(void) { return clock_file ? clock_file[0] : 0; }
static int64_t frozen(void) { return clock_file ? clock_file[1] : 0; }

static struct timespec shifted(struct timespec t, int64_t by)
{
    int64_t seconds = by / BILLION, rest = by % BILLION + t.tv_nsec;
    while (rest < 0) {
        rest += BILLION;
        seconds--;
    }
    while (rest >= BILLION) {
        rest -= BILLION;
        seconds++;
    }
    t.tv_sec += seconds;
    t.tv_nsec = rest;
    return t;
}

static struct timespec now(void)
{
    REAL(clock_gettime);
    struct timespec t = {0, 0};
    if (frozen()) {
        t.tv_sec = frozen() / BILLION;
        t.tv_nsec = frozen() % BILLION;
        return t;
    }
    real(CLOCK_REALTIME, &t);
    return shifted(t, offset());
}

/* a wall-clock deadline as real time; with a standing clock the program's own notion of "now" is the frozen one */
static struct timespec deadline(const struct timespec *t)
{
    REAL(clock_gettime);
    struct timespec wall;
    if (!frozen())
        return shifted(*t, -offset());
    real(CLOCK_REALTIME, &wall);
    return shifted(*t, wall.tv_sec * BILLION + wall.tv_nsec - frozen());
}

static int is_wall(clockid_t id) { return id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE || id == CLOCK_TAI; }

/* ---- reading the clock */

int clock_gettime(clockid_t id, struct timespec *t)
{
    REAL(clock_gettime);
    if (!is_wall(id))
        return real(id, t);
    *t = now();
    return 0;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    (void)zone;
    struct timespec at = now();
    t->tv_sec = at.tv_sec;
    t->tv_usec = at.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *t)
{
    struct timespec at = now();
    if (t)
        *t = at.tv_sec;
    return at.tv_sec;
}

int timespec_get(struct timespec *t, int base)
{
    if (base != TIME_UTC)
        return 0;
    *t = now();
    return base;
}

int ftime(struct timeb *t)
{
    struct timespec at = now();
    t->time = at.tv_sec;
    t->millitm = at.tv_nsec / 1000000;
    t->timezone = t->dstflag = 0;
    return 0;
}

/* ---- waiting for a wall-clock time */

int clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    REAL(clock_nanosleep);
    if (!(flags & TIMER_ABSTIME) || !is_wall(id) || !t)
        return real(id, flags, t, left);
    struct timespec at = deadline(t);
    return real(id, flags, &at, left);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, const struct timespec *restrict t)
{
    REAL(pthread_cond_timedwait);
    if (c->__data.__wrefs & 2) /* glibc's mark of a condition on the monotonic clock */
        return real(c, m, t);
    struct timespec at = deadline(t);
    return real(c, m, &at);
}

int pthread_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t id, const struct timespec *t)
{
    REAL(pthread_cond_clockwait);
    struct timespec at = is_wall(id) ? deadline(t) : *t;
    return real(c, m, id, &at);
}

int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict t)
{
    REAL(cnd_timedwait);
    struct timespec at = deadline(t);
    return real(c, m, &at);
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict t)
{
    REAL(sem_timedwait);
    struct timespec at = deadline(t);
    return real(s, &at);
}

int sem_clockwait(sem_t *restrict s, clockid_t id, const struct timespec *restrict t)
{
    REAL(sem_clockwait);
    struct timespec at = is_wall(id) ? deadline(t) : *t;
    return real(s, id, &at);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict t)
{
    REAL(pthread_mutex_timedlock);
    struct timespec at = deadline(t);
    return real(m, &at);
}

int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t id, const struct timespec *t)
{
    REAL(pthread_mutex_clocklock);
    struct timespec at = is_wall(id) ? deadline(t) : *t;
    return real(m, id, &at);
}

int pthread_rwlock_timedrdlock(pthread_rwlock_t *restrict l, const struct timespec *restrict t)
{
    REAL(pthread_rwlock_timedrdlock);
    struct timespec at = deadline(t);
    return real(l, &at);
}

int pthread_rwlock_timedwrlock(pthread_rwlock_t *restrict l, const struct timespec *restrict t)
{
    REAL(pthread_rwlock_timedwrlock);
    struct timespec at = deadline(t);
    return real(l, &at);
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *t)
{
    REAL(pthread_timedjoin_np);
    struct timespec at = deadline(t);
    return real(thread, result, &at);
}

/* ---- time stamps of the guest's own files */

static void show(struct stat *s)
{
    if (s->st_uid != guest)
        return;
    s->st_atim = shifted(s->st_atim, offset());
    s->st_mtim = shifted(s->st_mtim, offset());
    s->st_ctim = shifted(s->st_ctim, offset());
}

#define SHOWN(name, parameters, arguments) \
    int name parameters \
    { \
        REAL(name); \
        int result = real arguments; \
        if (result == 0) \
            show((struct stat *)s); \
        return result; \
    }

SHOWN(stat, (const char *restrict path, struct stat *restrict s), (path, s))
SHOWN(lstat, (const char *restrict path, struct stat *restrict s), (path, s))
SHOWN(fstat, (int fd, struct stat *s), (fd, s))
SHOWN(fstatat, (int fd, const char *restrict path, struct stat *restrict s, int flags), (fd, path, s, flags))
SHOWN(stat64, (const char *restrict path, struct stat64 *restrict s), (path, s))
SHOWN(lstat64, (const char *restrict path, struct stat64 *restrict s), (path, s))
SHOWN(fstat64, (int fd, struct stat64 *s), (fd, s))
SHOWN(fstatat64, (int fd, const char *restrict path, struct stat64 *restrict s, int flags), (fd, path, s, flags))

/* programs built against glibc before 2.33 (libfm) use these; the version says a layout that is struct stat */
int __xstat(int version, const char *path, struct stat *s) { return (void)version, stat(path, s); }
int __lxstat(int version, const char *path, struct stat *s) { return (void)version, lstat(path, s); }
int __fxstat(int version, int fd, struct stat *s) { return (void)version, fstat(fd, s); }
int __fxstatat(int version, int fd, const char *path, struct stat *s, int flags)
{
    return (void)version, fstatat(fd, path, s, flags);
}
int __xstat64(int version, const char *path, struct stat64 *s) { return (void)version, stat64(path, s); }
int __lxstat64(int version, const char *path, struct stat64 *s) { return (void)version, lstat64(path, s); }
int __fxstat64(int version, int fd, struct stat64 *s) { return (void)version, fstat64(fd, s); }
int __fxstatat64(int version, int fd, const char *path, struct stat64 *s, int flags)
{
    return (void)version, fstatat64(fd, path, s, flags);
}

static void show_statx(struct statx_timestamp *t)
{
    struct timespec at = {t->tv_sec, t->tv_nsec};
    at = shifted(at, offset());
    t->tv_sec = at.tv_sec;
    t->tv_nsec = at.tv_nsec;
}

int statx(int fd, const char *restrict path, int flags, unsigned mask, struct statx *restrict s)
{
    REAL(statx);
    int result = real(fd, path, flags, mask | STATX_UID, s);
    if (result == 0 && s->stx_uid == guest) {
        show_statx(&s->stx_atime);
        show_statx(&s->stx_mtime);
        show_statx(&s->stx_ctime);
        if (s->stx_mask & STATX_BTIME)
            show_statx(&s->stx_btime);
    }
    return result;
}

static const struct timespec *kept(const struct timespec t[2], struct timespec at[2])
{
    if (!t)
        return NULL;
    for (int i = 0; i < 2; i++)
        at[i] = t[i].tv_nsec == UTIME_NOW || t[i].tv_nsec == UTIME_OMIT ? t[i] : shifted(t[i], -offset());
    return at;
}

int utimensat(int fd, const char *path, const struct timespec t[2], int flags)
{
    REAL(utimensat);
    struct timespec at[2];
    return real(fd, path, kept(t, at), flags);
}

int futimens(int fd, const struct timespec t[2])
{
    REAL(futimens);
    struct timespec at[2];
    return real(fd, kept(t, at));
}

static const struct timespec *kept_micro(const struct timeval t[2], struct timespec at[2])
{
    if (!t)
        return NULL;
    for (int i = 0; i < 2; i++) {
        struct timespec one = {t[i].tv_sec, t[i].tv_usec * 1000};
        at[i] = shifted(one, -offset());
    }
    return at;
}

int utimes(const char *path, const struct timeval t[2])
{
    REAL(utimensat);
    struct timespec at[2];
    return real(AT_FDCWD, path, kept_micro(t, at), 0);
}

int lutimes(const char *path, const struct timeval t[2])
{
    REAL(utimensat);
    struct timespec at[2];
    return real(AT_FDCWD, path, kept_micro(t, at), AT_SYMLINK_NOFOLLOW);
}

int futimes(int fd, const struct timeval t[2])
{
    REAL(futimens);
    struct timespec at[2];
    return real(fd, kept_micro(t, at));
}

int futimesat(int fd, const char *path, const struct timeval t[2])
{
    REAL(utimensat);
    struct timespec at[2];
    return real(fd, path, kept_micro(t, at), 0);
}

int utime(const char *path, const struct utimbuf *t)
{
    struct timeval both[2];
    if (!t)
        return utimes(path, NULL);
    both[0] = (struct timeval){t->actime, 0};
    both[1] = (struct timeval){t->modtime, 0};
    return utimes(path, both);
}
