/* SPDX-License-Identifier: Apache-2.0
 * Functions that glibc has had since long ago and has given a newer version since: pthread_create came
 * with 2.2.5 and moved from libpthread to libc with 2.34, where a linker takes it under the newer version.
 * Each name is defined here, for this program only, as a jump to the older version. */
#if !defined(__x86_64__)
#error "the versions below are those of x86-64"
#endif
    .text
.macro older name, version
    .symver older_\name, \name@\version
    .globl \name
    .hidden \name
    .type \name, @function
\name:
    endbr64
    jmp *older_\name@GOTPCREL(%rip)
    .size \name, . - \name
.endm

.macro since_2_2_5 names:vararg
    .irp name, \names
    older \name, GLIBC_2.2.5
    .endr
.endm

    since_2_2_5 pthread_create, pthread_join, pthread_detach, pthread_once, pthread_sigmask
    since_2_2_5 pthread_mutex_trylock, pthread_mutexattr_init, pthread_mutexattr_settype, pthread_mutexattr_destroy
    since_2_2_5 pthread_rwlock_init, pthread_rwlock_rdlock, pthread_rwlock_wrlock, pthread_rwlock_unlock, pthread_rwlock_destroy
    since_2_2_5 pthread_key_create, __pthread_key_create, pthread_key_delete, pthread_getspecific, pthread_setspecific
    since_2_2_5 dlopen, dlclose, dlsym, dlerror, dladdr
    since_2_2_5 pow, log
    older pthread_condattr_setclock, GLIBC_2.3.3
    older pthread_setname_np, GLIBC_2.12

    .section .note.GNU-stack, "", @progbits
