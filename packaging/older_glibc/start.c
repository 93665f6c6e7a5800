/* SPDX-License-Identifier: Apache-2.0
 * The start of the program under an older glibc. Since 2.34 the library runs the constructors of a program;
 * before, code that was linked into each program did, and today's linker adds none. The older entry takes
 * a function for it, in every version. */
#include <stddef.h>

typedef int Main(int, char**, char**);
typedef void Constructor(int, char**, char**);

int older_start(Main*, int, char**, Constructor*, void (*)(void), void (*)(void), void*);
__asm__(".symver older_start, __libc_start_main@GLIBC_2.2.5");

extern Constructor* __init_array_start[] __attribute__((visibility("hidden")));
extern Constructor* __init_array_end[] __attribute__((visibility("hidden")));
extern void _init(void);

static void run_constructors(int count, char** words, char** variables)
{
    _init();
    const size_t length = (size_t)(__init_array_end - __init_array_start);
    for (size_t i = 0; i < length; ++i)
        __init_array_start[i](count, words, variables);
}

__attribute__((visibility("hidden"))) int __libc_start_main(Main* run,
                                                            int count,
                                                            char** words,
                                                            Constructor* constructors,
                                                            void (*destructors)(void),
                                                            void (*loader_end)(void),
                                                            void* stack_end)
{
    (void)constructors;
    // Destructors are the loader's work in every version.
    return older_start(run, count, words, run_constructors, destructors, loader_end, stack_end);
}
