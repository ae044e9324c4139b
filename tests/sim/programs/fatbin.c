/* Fuzzes the reader of fat binaries: fatbin COUNT SEED FILE...
 *
 * Each input is a file with some bytes changed, removed or doubled, in an allocation of exactly its size, so
 * that AddressSanitizer detects a read beyond it. Prints the count of each result: all of them must occur in
 * a long run, or the mutations no longer reach all branches. */
#include "driver/code/fatbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 32, FILE_MAX = 1 << 16, HEADS_MAX = 256 };

struct file {
    unsigned char bytes[FILE_MAX];
    size_t size;
};

static struct file files[FILES_MAX];
static uint64_t state;

/* xorshift64* (Vigna 2016): the same inputs on every machine for a seed. */
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

/* Boundary values of the fields. */
static uint64_t odd_value(size_t size)
{
    static const uint64_t values[] = {
        0,      1,          15,         16,          63,      64,         0x2000,    0x8000,
        0xffff, 0x7fffffff, 0xffffffff, 0x100000000, 1 << 28, UINT64_MAX, INT64_MAX, UINT64_MAX - 15};
    const size_t choice = below(sizeof values / sizeof *values + 3);
    if (choice < sizeof values / sizeof *values)
        return values[choice];
    return size + below(33) - 16;
}

/* Offsets of the complete headers: of the file and of its entries. */
static size_t find_heads(const struct file *file, size_t *heads)
{
    size_t count = 0;
    heads[count++] = 0;
    for (size_t at = SIM_FATBIN_HEAD; count < HEADS_MAX && at + 64 <= file->size;) {
        uint32_t head;
        uint64_t payload;
        memcpy(&head, file->bytes + at + 4, sizeof head);
        memcpy(&payload, file->bytes + at + 8, sizeof payload);
        heads[count++] = at;
        if (head > file->size || payload > file->size || head + payload == 0)
            break;
        at += head + payload;
    }
    return count;
}

/* Set a field of a header, because the reader uses most of them. */
static void change_field(unsigned char *bytes, size_t size, const size_t *heads, size_t count)
{
    static const unsigned char fields[][2] = {{0, 2},  {4, 4},  {8, 8}, {16, 4}, {28, 4},
                                              {40, 8}, {56, 8}, {6, 2}, {0, 4}};
    const size_t field = below(sizeof fields / sizeof *fields);
    const size_t at = heads[below(count)] + fields[field][0];
    uint64_t value = odd_value(size);
    if (at + fields[field][1] > size)
        return;
    if (below(2) == 0) { /* near the old value */
        uint64_t old = 0;
        memcpy(&old, bytes + at, fields[field][1]);
        value = old + below(9) - 4;
    }
    memcpy(bytes + at, &value, fields[field][1]);
}

static size_t mutate(const struct file *file, unsigned char *bytes)
{
    size_t heads[HEADS_MAX];
    size_t size = file->size;
    const size_t count = find_heads(file, heads);
    memcpy(bytes, file->bytes, size);
    for (size_t changes = below(4); changes > 0 && size > 0; changes--) {
        switch (below(6)) {
        case 0:
        case 1:
        case 2:
            change_field(bytes, size, heads, count);
            break;
        case 3:
            bytes[below(size)] = (unsigned char)next();
            break;
        case 4:
            size = below(8) == 0 ? below(size) : size - below(size < 24 ? size : 24);
            break;
        default:
            bytes[below(size)] ^= (unsigned char)(1u << below(8));
        }
    }
    return size;
}

static void run_once(const struct file *file, unsigned long *results)
{
    static unsigned char scratch[FILE_MAX];
    struct sim_text text;
    const char *reason = NULL;
    const size_t size = mutate(file, scratch);
    unsigned char *exact = malloc(size);
    if (exact == NULL && size != 0)
        exit(3);
    if (size != 0)
        memcpy(exact, scratch, size);
    const enum sim_fatbin result = sim_fatbin_text(exact, size, 90, &text, &reason);
    results[result]++;
    if ((result == SIM_FATBIN_TEXT) != (text.text != NULL) || (text.owned != NULL && text.text == NULL))
        exit(4);
    if (text.bytes != 0 && memchr(text.text, 0, text.bytes) != NULL) /* read every byte */
        exit(5);
    free(text.owned);
    free(exact);
}

int main(int count, char **arguments)
{
    static const char *const names[] = {"text", "nothing", "malformed", "corrupt", "no-library", "no-memory"};
    unsigned long results[6] = {0};
    const unsigned long inputs = count > 3 ? strtoul(arguments[1], NULL, 10) : 0;
    const size_t file_count = count > 3 ? (size_t)count - 3 : 0;
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
    for (unsigned long i = 0; i < inputs; i++)
        run_once(&files[i % file_count], results);
    for (size_t i = 0; i < 6; i++)
        printf("%s %lu\n", names[i], results[i]);
    return 0;
}
