/* fuzz SEED FROM COUNT PROGRESS CORPUS...   make inputs FROM, FROM + 1 ... and give each to the target
 * fuzz SEED FROM COUNT - CORPUS...          write each to standard output, behind its outcome and its size
 * fuzz SEED NUMBER - - CORPUS...            write that input to standard output
 * fuzz FILE                                 give the target this file
 * fuzz --outcomes                           their names, a line each
 *
 * PROGRESS is a file that holds the number of the input at hand, so that whoever started us can make it again
 * should we not survive it. FUZZ_SECONDS of processor time for one input are enough (1 unless set). */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "target.h"

size_t __sanitizer_get_current_allocated_bytes(void);
void __sanitizer_print_stack_trace(void);

enum { FOUND = 99, DEADLOCK_SECONDS = 60 };

struct progress { /* read by run.py */
    uint64_t number;
    uint64_t outcomes[OUTCOMES];
};

static struct itimerval limit = {.it_value.tv_sec = 1};

_Noreturn void finding(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("FINDING: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    _exit(FOUND);
}

static void too_slow(int signal)
{
    static const char words[] = "FINDING: the input takes too long; it was here:\n";
    (void)!write(STDERR_FILENO, words, sizeof words - 1);
    __sanitizer_print_stack_trace();
    _exit(signal == SIGPROF ? FOUND : FOUND - 1);
}

static unsigned take(const struct input *input)
{
    unsigned char *exact = malloc(input->size != 0 ? input->size : 1);
    if (exact == NULL)
        finding("no memory for an input of %zu bytes", input->size);
    memcpy(exact, input->bytes, input->size);
    const size_t before = __sanitizer_get_current_allocated_bytes();
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(DEADLOCK_SECONDS);
    const unsigned outcome = target_take(exact, input->size);
    const size_t after = __sanitizer_get_current_allocated_bytes();
    if (after != before)
        finding("%zd bytes were not freed", (ssize_t)(after - before));
    free(exact);
    return outcome;
}

static struct progress *map_progress(const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct progress)) != 0)
        return NULL;
    void *memory = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return memory == MAP_FAILED ? NULL : memory;
}

static int take_file(const char *path)
{
    struct corpus corpus;
    char *paths[] = {(char *)(uintptr_t)path};
    corpus_read(&corpus, paths, 1);
    const struct input input = {.bytes = corpus.texts[0].bytes, .size = corpus.texts[0].size};
    fprintf(stderr, "%s\n", target_outcomes[take(&input)]);
    corpus_free(&corpus);
    return 0;
}

static int take_many(const struct corpus *corpus, uint64_t seed, uint64_t from, uint64_t count,
                     const char *path)
{
    struct progress *progress = map_progress(path);
    struct input input = {0};
    if (progress == NULL) {
        perror(path);
        return 2;
    }
    for (uint64_t number = from; number < from + count; number++) {
        progress->number = number;
        make_input(corpus, target_style, seed, number, &input);
        progress->outcomes[take(&input)]++;
    }
    free(input.bytes);
    return 0;
}

/* Writes inputs to standard output, for a differential test. */
static int show_many(const struct corpus *corpus, uint64_t seed, uint64_t from, uint64_t count)
{
    struct input input = {0};
    for (uint64_t number = from; number < from + count; number++) {
        make_input(corpus, target_style, seed, number, &input);
        const uint32_t head[2] = {take(&input), (uint32_t)input.size};
        if (fwrite(head, sizeof head, 1, stdout) != 1 ||
            fwrite(input.bytes, 1, input.size, stdout) != input.size)
            return 2;
    }
    free(input.bytes);
    return 0;
}

int main(int argc, char **argv)
{
    const char *seconds = getenv("FUZZ_SECONDS");
    if (seconds != NULL && atoi(seconds) > 0)
        limit.it_value.tv_sec = atoi(seconds);
    signal(SIGPROF, too_slow);
    signal(SIGALRM, too_slow);
    if (argc == 2 && strcmp(argv[1], "--outcomes") == 0) {
        for (size_t i = 0; i < OUTCOMES && target_outcomes[i] != NULL; i++)
            puts(target_outcomes[i]);
        return 0;
    }
    if (argc == 2)
        return take_file(argv[1]);
    if (argc < 6) {
        fputs("usage: fuzz SEED FROM COUNT PROGRESS CORPUS... | fuzz SEED NUMBER - - CORPUS... | fuzz FILE\n",
              stderr);
        return 2;
    }
    struct corpus corpus;
    corpus_read(&corpus, argv + 5, (size_t)argc - 5);
    const uint64_t seed = strtoull(argv[1], NULL, 10), from = strtoull(argv[2], NULL, 10);
    int status = 0;
    if (strcmp(argv[3], "-") != 0 && strcmp(argv[4], "-") == 0) {
        status = show_many(&corpus, seed, from, strtoull(argv[3], NULL, 10));
    } else if (strcmp(argv[3], "-") != 0) {
        status = take_many(&corpus, seed, from, strtoull(argv[3], NULL, 10), argv[4]);
    } else {
        struct input input = {0};
        make_input(&corpus, target_style, seed, from, &input);
        fwrite(input.bytes, 1, input.size, stdout);
        free(input.bytes);
    }
    corpus_free(&corpus);
    return status;
}
