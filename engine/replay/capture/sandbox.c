#include "replay/capture/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "the number of this architecture in a seccomp filter is not known"
#endif

const char nb_no_sandbox[] = "this kernel refuses seccomp, without which no capture is read; use a kernel "
                             "with CONFIG_SECCOMP_FILTER, and a "
                             "container that allows it";

bool nb_sandbox_strict(void)
{
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0;
}

#define LOAD(field)       BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, field))
#define ALLOW(call, skip) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (call), (skip), 0)
#define RETURN(action)    BPF_STMT(BPF_RET | BPF_K, (action))

bool nb_sandbox_filter(void)
{
    struct sock_filter program[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr), /* numbers of the x32 interface have a bit that none of these has */
        ALLOW(SYS_read, 5),
        ALLOW(SYS_write, 4),
        ALLOW(SYS_exit, 3),
        ALLOW(SYS_exit_group, 2),
        ALLOW(SYS_rt_sigreturn, 1),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        RETURN(SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof *program, program};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool nb_sandbox_enter(void)
{
    return nb_sandbox_strict() || nb_sandbox_filter();
}

bool nb_sandbox_close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
        return true;
#endif
    enum { MOST = 1 << 20 }; /* closes in a tenth of a second */
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max > MOST)
        return false; /* descriptors opened under a higher limit may still be open, so the current limit is
                         not enough */
    for (int descriptor = first; descriptor < (int)limit.rlim_max; descriptor++)
        (void)close(descriptor);
    return true;
}
