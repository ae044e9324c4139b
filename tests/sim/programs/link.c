/* Fuzzes the linker: link COUNT SEED FILE...
 *
 * Each round links two or three of the files with lines swapped, removed, doubled or renamed, in allocations
 * of exactly their size. The engine must read each product, or refuse it with a reason. Prints the count of
 * each status. */
#include "ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 16, FILE_MAX = 1 << 15, WORDS = 24 };

struct file {
    char bytes[FILE_MAX];
    size_t size;
};

static struct file files[FILES_MAX];
static size_t file_count;
static uint64_t state;

/* xorshift64* (Vigna 2016) */
static uint64_t next(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(2685821657736338717);
}

static size_t below(size_t limit)
{
    return limit == 0 ? 0 : (size_t)(next() % limit);
}

static const char *const words[WORDS] = {".extern ",
                                         ".weak ",
                                         ".visible ",
                                         ".common ",
                                         ".global .u32 base;",
                                         ".extern .shared .b8 s[];",
                                         ".global .u32 a, b = 3, c[2] = {1, 2};",
                                         ".func add;",
                                         ".func add() { ret; }",
                                         ".visible .func answer() { ret; }",
                                         ".entry k() .pragma \"x\"; { ret; }",
                                         ".alias f, answer;",
                                         ".section .debug { .b8 1 }",
                                         ".file 1 \"x\"",
                                         ".target sm_90, debug",
                                         "{",
                                         "}",
                                         ";",
                                         "(",
                                         ",",
                                         "=",
                                         "\"",
                                         "/*",
                                         ".global .u64 p = base;"};

static void insert(char *bytes, size_t *size, size_t at, const char *what, size_t length)
{
    if (*size + length > 2 * FILE_MAX)
        return;
    memmove(bytes + at + length, bytes + at, *size - at);
    memcpy(bytes + at, what, length);
    *size += length;
}

static size_t mutate(char *bytes)
{
    const struct file *file = &files[below(file_count)];
    size_t size = file->size;
    memcpy(bytes, file->bytes, size);
    for (size_t changes = below(4); changes > 0; changes--) {
        size_t at = below(size);
        if (below(3) != 0) /* at the begin of a line */
            while (at > 0 && bytes[at - 1] != '\n')
                at--;
        const char *word = words[below(WORDS)];
        const size_t rest = size - at, length = below(rest < 60 ? rest : 60);
        switch (below(4)) {
        case 0:
            memmove(bytes + at, bytes + at + length, rest - length);
            size -= length;
            break;
        case 1:
            if (size != 0)
                bytes[at] = (char)(below(4) == 0 ? next() : ' ' + below(95));
            break;
        default:
            insert(bytes, &size, at, word, strlen(word));
        }
    }
    return size;
}

static enum ptx_link_status run_once(void)
{
    static char scratch[3 * FILE_MAX];
    struct ptx_diagnostic diagnostic = {0};
    struct ptx_link *link = ptx_link_begin();
    enum ptx_link_status worst = PTX_LINKED;
    char *product = NULL;
    size_t bytes;
    if (link == NULL)
        exit(3);
    for (size_t texts = 2 + below(2); texts > 0; texts--) {
        const size_t size = mutate(scratch);
        char *exact = malloc(size);
        if (exact == NULL && size != 0)
            exit(3);
        if (size != 0)
            memcpy(exact, scratch, size);
        const enum ptx_link_status status = ptx_link_add(link, exact, size, "text", &diagnostic);
        worst = status > worst ? status : worst;
        free(exact);
        if (status != PTX_LINKED && diagnostic.text[0] == '\0')
            exit(4);
    }
    const enum ptx_link_status status = ptx_link_finish(link, &product, &bytes, &diagnostic);
    if (status == PTX_LINKED) {
        struct ptx_module *module;
        diagnostic.text[0] = '\0';
        if (strlen(product) != bytes)
            exit(5);
        if (ptx_module_parse(product, bytes, &module, &diagnostic) == 0)
            ptx_module_free(module);
        else if (diagnostic.text[0] == '\0')
            exit(6);
        else
            worst = PTX_LINK_MEMORY; /* counted as refused */
    }
    free(product);
    ptx_link_end(link);
    return status > worst ? status : worst;
}

int main(int count, char **arguments)
{
    static const char *const names[] = {"linked", "text", "symbol", "refused"};
    unsigned long results[4] = {0};
    file_count = count > 3 ? (size_t)count - 3 : 0;
    if (file_count == 0 || file_count > FILES_MAX)
        return 2;
    state = strtoull(arguments[2], NULL, 10) | 1;
    for (size_t i = 0; i < file_count; i++) {
        FILE *stream = fopen(arguments[i + 3], "rb");
        if (stream == NULL)
            return 2;
        files[i].size = fread(files[i].bytes, 1, FILE_MAX, stream);
        (void)fclose(stream);
    }
    for (unsigned long left = strtoul(arguments[1], NULL, 10); left > 0; left--)
        results[run_once()]++;
    for (size_t i = 0; i < 4; i++)
        printf("%s %lu\n", names[i], results[i]);
    return 0;
}
