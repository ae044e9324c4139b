#include "core/arena/fault.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

#include "core/arena/arena.h"
#include "core/base/log.h"

/* Bit of the page fault's error code (Intel SDM, volume 3, section 4.7): the access was a write. */
#define IS_WRITE 2

static struct sigaction before;

/* snprintf() may not be called in a signal handler (signal-safety(7)). */
static const char *hexadecimal(uint64_t value, char text[19])
{
    text[0] = '0';
    text[1] = 'x';
    size_t length = 2;
    for (int shift = 60; shift >= 0; shift -= 4)
        if (value >> shift != 0 || shift == 0)
            text[length++] = "0123456789abcdef"[value >> shift & 15];
    text[length] = 0;
    return text;
}

/* Returning repeats the faulting instruction, for the handler or the default action that was there before. */
static void explain(int number, siginfo_t *fault, void *context)
{
    const uint64_t address = (uint64_t)(uintptr_t)fault->si_addr;
    const ucontext_t *at = context;
    char text[19];
    if (fault->si_code > 0 && nb_arena_contains(address))
        nb_log((at->uc_mcontext.gregs[REG_ERR] & IS_WRITE) != 0 ? "host code wrote to device memory, at "
                                                                : "host code read device memory, at ",
               hexadecimal(address, text), "; use a copy of the driver (cudaMemcpy) or a kernel");
    (void)sigaction(number, &before, NULL);
    if (fault->si_code <= 0) /* sent by a process: no instruction repeats it */
        (void)raise(number);
}

void nb_fault_explain(void)
{
    struct sigaction own = {.sa_sigaction = explain, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    (void)sigemptyset(&own.sa_mask);
    if (sigaction(SIGSEGV, NULL, &before) == 0)
        (void)sigaction(SIGSEGV, &own, NULL);
}
