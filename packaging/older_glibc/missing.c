/* SPDX-License-Identifier: Apache-2.0
 * Functions that glibc 2.17 does not have, for this program only. System calls are made directly; where
 * the library at hand has the function after all, and better than it can be done here, that one is called. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// GCC calls a function that is defined here under the name that headers give another one.
#define OURS __attribute__((visibility("hidden")))

// The structure of x86-64 has had one layout since 2.2.5, with and without 64 in its name.
enum { layout_of_stat = 1 };
int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
__asm__(".symver __xstat, __xstat@GLIBC_2.2.5");
__asm__(".symver __lxstat, __lxstat@GLIBC_2.2.5");
__asm__(".symver __fxstat, __fxstat@GLIBC_2.2.5");
__asm__(".symver __fxstatat, __fxstatat@GLIBC_2.4");

OURS int stat(const char* path, struct stat* out) { return __xstat(layout_of_stat, path, out); }
OURS int lstat(const char* path, struct stat* out) { return __lxstat(layout_of_stat, path, out); }
OURS int fstat(int fd, struct stat* out) { return __fxstat(layout_of_stat, fd, out); }
OURS int fstatat(int folder, const char* path, struct stat* out, int flags)
{
    return __fxstatat(layout_of_stat, folder, path, out, flags);
}
OURS int stat64(const char* path, struct stat64* out) { return stat(path, (struct stat*)out); }
OURS int lstat64(const char* path, struct stat64* out) { return lstat(path, (struct stat*)out); }
OURS int fstat64(int fd, struct stat64* out) { return fstat(fd, (struct stat*)out); }

OURS int fcntl64(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void* argument = va_arg(more, void*);
    va_end(more);
    return fcntl(fd, command, argument);
}

OURS ssize_t getrandom(void* out, size_t length, unsigned int flags)
{
    return syscall(SYS_getrandom, out, length, flags);
}

OURS int getentropy(void* out, size_t length)
{
    if (length > 256) {
        errno = EIO;
        return -1;
    }
    char* at = out;
    while (length > 0) {
        const ssize_t got = getrandom(at, length, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return -1;
        at += got;
        length -= (size_t)got;
    }
    return 0;
}

OURS int memfd_create(const char* name, unsigned int flags)
{
    return (int)syscall(SYS_memfd_create, name, flags);
}

OURS ssize_t copy_file_range(
    int from, off64_t* from_at, int to, off64_t* to_at, size_t length, unsigned int flags)
{
    return syscall(SYS_copy_file_range, from, from_at, to, to_at, length, flags);
}

OURS int renameat2(
    int from_folder, const char* from, int to_folder, const char* to, unsigned int flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

OURS int statx(int folder, const char* path, int flags, unsigned int mask, struct statx* out)
{
    return (int)syscall(SYS_statx, folder, path, flags, mask, out);
}

// Names as glibc 2.32 and later give them.
OURS const char* sigabbrev_np(int number)
{
    static const char* const names[] = {
        "0",    "HUP",  "INT",  "QUIT", "ILL",    "TRAP", "ABRT", "BUS",  "FPE",  "KILL", "USR1",
        "SEGV", "USR2", "PIPE", "ALRM", "TERM",   "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN",
        "TTOU", "URG",  "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "POLL", "PWR",  "SYS"};
    return number > 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}

// libstdc++ spares itself atomic operations when it is true.
OURS char __libc_single_threaded = 0;

// What unwinding needs to know of the object that holds an address.
struct Search {
    char* address;
    struct dl_find_object* found;
};

static int look_into(struct dl_phdr_info* object, size_t size, void* data)
{
    (void)size;
    struct Search* search = data;
    char* frames = NULL;
    char* begin = NULL;
    char* end = NULL;
    for (int i = 0; i < object->dlpi_phnum; ++i) {
        const ElfW(Phdr)* part = &object->dlpi_phdr[i];
        char* at = (char*)object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_GNU_EH_FRAME) frames = at;
        if (part->p_type == PT_LOAD && search->address >= at &&
            search->address < at + part->p_memsz) {
            begin = at;
            end = at + part->p_memsz;
        }
    }
    if (!begin || !frames) return 0;
    memset(search->found, 0, sizeof *search->found);
    search->found->dlfo_map_start = begin;
    search->found->dlfo_map_end = end;
    search->found->dlfo_eh_frame = frames;
    return 1;
}

OURS int _dl_find_object(void* address, struct dl_find_object* found)
{
    struct Search search = {address, found};
    return dl_iterate_phdr(look_into, &search) == 1 ? 0 : -1;
}

OURS int pthread_cond_clockwait(pthread_cond_t* condition,
                                pthread_mutex_t* mutex,
                                clockid_t clock,
                                const struct timespec* until)
{
    typedef int Wait(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);
    static _Atomic(Wait*) library_has;
    static _Atomic(int) asked;
    if (!asked) {
        library_has = (Wait*)dlsym(RTLD_DEFAULT, "pthread_cond_clockwait");
        asked = 1;
    }
    Wait* wait = library_has;
    if (wait) return wait(condition, mutex, clock, until);
    // Only one clock can be waited for: the same moment by that one. A wait may end early or late when
    // someone sets it; callers look at their own clock and wait again.
    struct timespec now;
    struct timespec wall;
    clock_gettime(clock, &now);
    clock_gettime(CLOCK_REALTIME, &wall);
    wall.tv_sec += until->tv_sec - now.tv_sec;
    wall.tv_nsec += until->tv_nsec - now.tv_nsec;
    if (wall.tv_nsec < 0) {
        wall.tv_nsec += 1000000000;
        --wall.tv_sec;
    }
    if (wall.tv_nsec >= 1000000000) {
        wall.tv_nsec -= 1000000000;
        ++wall.tv_sec;
    }
    return pthread_cond_timedwait(condition, mutex, &wall);
}

// Destructors of thread-local objects, run by the library where it can (2.18); else at the thread's end by
// a key, which the main thread does not have: its objects then live until the process ends.
struct Ending {
    void (*destroy)(void*);
    void* object;
    struct Ending* next;
};
static pthread_key_t endings;
static pthread_once_t endings_made = PTHREAD_ONCE_INIT;

static void run_endings(void* first)
{
    for (struct Ending* each = first; each;) {
        struct Ending* next = each->next;
        each->destroy(each->object);
        free(each);
        each = next;
    }
}

static void make_endings(void) { pthread_key_create(&endings, run_endings); }

OURS int __cxa_thread_atexit_impl(void (*destroy)(void*), void* object, void* library)
{
    typedef int Register(void (*)(void*), void*, void*);
    Register* library_has = (Register*)dlsym(RTLD_DEFAULT, "__cxa_thread_atexit_impl");
    if (library_has) return library_has(destroy, object, library);
    pthread_once(&endings_made, make_endings);
    struct Ending* added = malloc(sizeof *added);
    if (!added) return -1;
    *added = (struct Ending){destroy, object, pthread_getspecific(endings)};
    return pthread_setspecific(endings, added);
}
