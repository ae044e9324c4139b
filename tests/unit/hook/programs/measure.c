/* Reads cases from standard input, each with a 32-bit length before it, and prints a line for each:
 *     measure: FORMAT BYTES PROBLEM
 *     layout NAME: COUNT OFFSET:SIZE ...                of the cubin inside, -1 if the layout is unknown
 *     kernel NAME: COUNT OFFSET:SIZE ...                of the code object inside, or of PTX
 *     globals ARCHITECTURE: NAME ... ; PROBLEM          an asterisk before a managed global's name
 *     others ARCHITECTURE: NAME ... ; PROBLEM           of the entries that a driver could take instead
 *     code TARGET: OFFSET BYTES                         of the code for this target in a plain bundle
 *
 * Each case lies in a block of exactly its size, so that AddressSanitizer detects a read past its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/code_object.h"
#include "core/image/image.h"
#include "core/image/image_globals.h"
#include "core/image/layout.h"

static void print_name(const char *name, bool managed, void *unused)
{
    (void)unused;
    fputs(managed ? "*" : "", stdout);
    for (; *name != 0; name++) /* hostile bytes must not end this program's lines */
        putchar(*name > ' ' && *name <= '~' ? *name : '?');
    putchar(' ');
}

static void print_globals(const unsigned char *bytes, uint32_t length, uint32_t architecture, bool others)
{
    const char *problem =
        (others ? nb_image_other_globals : nb_image_globals)(bytes, length, architecture, print_name, NULL);
    printf("; %s\n", problem != NULL ? problem : "");
}

static void print_layout(int count, const struct nb_parameter *layout)
{
    printf("%d", count);
    for (int i = 0; i < count; i++)
        printf(" %u:%u", layout[i].offset, layout[i].size);
    putchar('\n');
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "measure";
    const char *name = argc > 2 ? argv[2] : "";
    static struct nb_parameter layout[NB_LAYOUT_MAX];
    uint32_t length;
    while (fread(&length, sizeof length, 1, stdin) == 1) {
        unsigned char *bytes = malloc(length);
        if ((bytes == NULL && length != 0) || fread(bytes, 1, length, stdin) != length)
            return 1;
        if (strcmp(kind, "measure") == 0) {
            const struct nb_extent extent = nb_image_measure(bytes, length, 0);
            printf("%d %llu %s\n", (int)extent.format, (unsigned long long)extent.bytes, extent.problem);
        } else if (strcmp(kind, "globals") == 0 || strcmp(kind, "others") == 0) {
            print_globals(bytes, length, (uint32_t)atoi(name), kind[0] == 'o');
        } else if (strcmp(kind, "kernel") == 0) {
            print_layout(nb_layout_from_code_object(bytes, length, name, layout), layout);
        } else {
            const struct nb_extent elf = nb_image_elf(bytes, length);
            print_layout(elf.start != NULL ? nb_layout_from_elf(elf.start, elf.bytes, name, layout) : -1,
                         layout);
        }
        free(bytes);
    }
    return 0;
}
