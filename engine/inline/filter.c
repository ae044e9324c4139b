#include "inline/filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SECCOMP_FILTER_FLAG_TSYNC_ESRCH
#define SECCOMP_FILTER_FLAG_TSYNC_ESRCH (1UL << 4)
#endif

enum { INSTRUCTIONS_MAX = 1280, END_LOW = 0, END_HIGH = 1, X32 = 0x40000000 };

struct program {
    struct sock_filter code[INSTRUCTIONS_MAX];
    unsigned count;
    unsigned refusal; /* result of a refused call */
};

static void emit(struct program *program, unsigned code, unsigned yes, unsigned no, uint64_t value)
{
    program->code[program->count++] =
        (struct sock_filter){(uint16_t)code, (uint8_t)yes, (uint8_t)no, (uint32_t)value};
}

static void load(struct program *program, size_t offset)
{
    emit(program, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static size_t low_of(int argument)
{
    return offsetof(struct seccomp_data, args) + 8 * (size_t)argument;
}

static void answer(struct program *program, unsigned action)
{
    emit(program, BPF_RET | BPF_K, 0, 0, action);
}

/* Skip `skipped` instructions unless argument `argument` has the value. */
static void unless_equal(struct program *program, size_t offset, uint64_t value, unsigned skipped)
{
    load(program, offset + 4);
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, skipped + 2, value >> 32);
    load(program, offset);
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, skipped, value & 0xffffffff);
}

/* M[END] = argument + bytes. Both are below 2^47 in every call that the kernel would carry out. */
static void find_end(struct program *program, int argument, int bytes)
{
    load(program, low_of(argument));
    emit(program, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(program, low_of(bytes));
    emit(program, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    emit(program, BPF_ST, 0, 0, END_LOW);
    emit(program, BPF_JMP | BPF_JGE | BPF_X, 3, 0, 0); /* the sum did not overflow */
    load(program, low_of(argument) + 4);
    emit(program, BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1);
    emit(program, BPF_JMP | BPF_JA, 0, 0, 1);
    load(program, low_of(argument) + 4);
    emit(program, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(program, low_of(bytes) + 4);
    emit(program, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    emit(program, BPF_ST, 0, 0, END_HIGH);
}

/* Refuse a range that overlaps a guarded one. */
static void refuse_overlaps(struct program *program, const struct nb_guarded *guarded, int argument,
                            int bytes)
{
    find_end(program, argument, bytes);
    for (uint32_t i = 0; i < guarded->count; i++) {
        const struct nb_range range = guarded->ranges[i];
        load(program, low_of(argument) + 4);
        emit(program, BPF_JMP | BPF_JGT | BPF_K, 10, 0, range.end >> 32);
        emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 2, range.end >> 32);
        load(program, low_of(argument));
        emit(program, BPF_JMP | BPF_JGE | BPF_K, 7, 0, range.end & 0xffffffff);
        emit(program, BPF_LD | BPF_MEM, 0, 0, END_HIGH);
        emit(program, BPF_JMP | BPF_JGT | BPF_K, 4, 0, range.begin >> 32);
        emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 4, range.begin >> 32);
        emit(program, BPF_LD | BPF_MEM, 0, 0, END_LOW);
        emit(program, BPF_JMP | BPF_JGT | BPF_K, 1, 0, range.begin & 0xffffffff);
        emit(program, BPF_JMP | BPF_JA, 0, 0, 1);
        answer(program, program->refusal);
    }
}

/* Instructions for a call number; `body` follows. */
static unsigned begin_call(struct program *program, long number)
{
    load(program, offsetof(struct seccomp_data, nr));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, (uint64_t)number);
    emit(program, BPF_JMP | BPF_JA, 0, 0, 0);
    return program->count - 1;
}

static void end_call(struct program *program, unsigned start)
{
    answer(program, SECCOMP_RET_ALLOW);
    program->code[start].k = program->count - start - 1;
}

static void guard_spans(struct program *program, const struct nb_guarded *guarded, long number)
{
    const unsigned start = begin_call(program, number);
    refuse_overlaps(program, guarded, 0, 1);
    end_call(program, start);
}

static void guard_mprotect(struct program *program, const struct nb_guarded *guarded)
{
    const unsigned start = begin_call(program, SYS_mprotect);
    /* 13 instructions on the whole arena, which allow the calls of its gate. */
    unless_equal(program, low_of(0), guarded->arena, 17);
    unless_equal(program, low_of(1), guarded->arena_bytes, 13);
    load(program, low_of(2));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PROT_NONE);
    answer(program, SECCOMP_RET_ALLOW);
    for (int i = 0; i < 2; i++) {
        unless_equal(program, offsetof(struct seccomp_data, instruction_pointer), guarded->openers[i], 1);
        answer(program, SECCOMP_RET_ALLOW);
    }
    refuse_overlaps(program, guarded, 0, 1);
    end_call(program, start);
}

static void guard_mremap(struct program *program, const struct nb_guarded *guarded)
{
    const unsigned start = begin_call(program, SYS_mremap);
    refuse_overlaps(program, guarded, 0, 1);
    refuse_overlaps(program, guarded, 4, 2);
    end_call(program, start);
}

static void refuse_call(struct program *program, long number)
{
    const unsigned start = begin_call(program, number);
    answer(program, SECCOMP_RET_ERRNO | EPERM);
    end_call(program, start);
}

static void guard_shmat(struct program *program)
{
    const unsigned start = begin_call(program, SYS_shmat);
    load(program, low_of(2));
    emit(program, BPF_JMP | BPF_JSET | BPF_K, 0, 1, SHM_REMAP);
    answer(program, program->refusal);
    end_call(program, start);
}

static void write_program(struct program *program, const struct nb_guarded *guarded, unsigned refusal)
{
    static const long spans[] = {SYS_mmap, SYS_munmap, SYS_pkey_mprotect, SYS_madvise, SYS_remap_file_pages};
    static const long refused[] = {SYS_process_madvise, SYS_userfaultfd, SYS_process_vm_readv,
                                   SYS_process_vm_writev};
    program->count = 0;
    program->refusal = refusal;
    load(program, offsetof(struct seccomp_data, arch));
    emit(program, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, AUDIT_ARCH_X86_64);
    answer(program, SECCOMP_RET_ERRNO | ENOSYS);
    load(program, offsetof(struct seccomp_data, nr));
    emit(program, BPF_JMP | BPF_JGE | BPF_K, 0, 1, X32);
    answer(program, SECCOMP_RET_ERRNO | ENOSYS);
    guard_mprotect(program, guarded);
    guard_mremap(program, guarded);
    guard_shmat(program);
    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++)
        guard_spans(program, guarded, spans[i]);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        refuse_call(program, refused[i]);
    answer(program, SECCOMP_RET_ALLOW);
}

static int install(const struct nb_guarded *guarded, unsigned refusal, unsigned long flags)
{
    static struct program program;
    write_program(&program, guarded, refusal);
    const struct sock_fprog filter = {(unsigned short)program.count, program.code};
    return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter);
}

int nb_filter_install(const struct nb_guarded *guarded, int *listener)
{
    *listener = -1;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    *listener = install(guarded, SECCOMP_RET_USER_NOTIF,
                        SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_TSYNC_ESRCH |
                            SECCOMP_FILTER_FLAG_NEW_LISTENER);
    if (*listener >= 0)
        return 0;
    *listener = -1;
    return install(guarded, SECCOMP_RET_ERRNO | EPERM, SECCOMP_FILTER_FLAG_TSYNC) == 0 ? 0 : -1;
}

/* ---- whether it works ---------------------------------------------------------------------------------- */

extern long nb_probe_protect(void *base, unsigned long bytes, int protection)
    __attribute__((visibility("hidden")));
extern const char nb_probe_protect_opens[] __attribute__((visibility("hidden")));

/* The only instruction here that may open the memory that the probe guards. */
__asm__(".text\n"
        ".globl nb_probe_protect\n.hidden nb_probe_protect\n.type nb_probe_protect, @function\n"
        "nb_probe_protect:\n"
        "    movl $10, %eax\n"
        "    syscall\n"
        ".globl nb_probe_protect_opens\n.hidden nb_probe_protect_opens\n"
        "nb_probe_protect_opens:\n"
        "    ret\n"
        ".size nb_probe_protect, . - nb_probe_protect\n");

static bool tells_apart(void)
{
    enum { BYTES = 4 * 4096 };
    unsigned char *base = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    const uint64_t arena = (uint64_t)(uintptr_t)base + 4096;
    const uint64_t opener = (uint64_t)(uintptr_t)nb_probe_protect_opens;
    const struct nb_guarded guarded = {.ranges = {{arena, arena + 4096}},
                                       .count = 1,
                                       .arena = arena,
                                       .arena_bytes = 4096,
                                       .openers = {opener, opener}};
    if (install(&guarded, SECCOMP_RET_ERRNO | EPERM, 0) != 0)
        return false;
    void *place = base + 4096;
    const bool others = mprotect(place, 4096, PROT_READ) == -1 && errno == EPERM &&
                        munmap(base, BYTES) == -1 && errno == EPERM && mprotect(base, 4096, PROT_READ) == 0 &&
                        mprotect(base + 8192, 8192, PROT_READ) == 0;
    return others && nb_probe_protect(place, 4096, PROT_READ) == 0 && mprotect(place, 4096, PROT_NONE) == 0;
}

bool nb_filter_works(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(tells_apart() ? 0 : 1);
    int status = 0;
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) == -1 && errno == EINTR)
        ;
    return child > 0 && ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
