#include "hip/hiprtc_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "hip/hiprtc_headers.h"

/* NVRTC 13 compiles for compute_75 at least, and every model of the CPU driver runs it. */
static const char *const always[] = {"--gpu-architecture=compute_75", "--pre-include=" HIPRTC_PRELUDE,
                                     "--device-int128"};
#define ALWAYS (sizeof always / sizeof *always)

static bool begins(const char *option, const char *const *beginnings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(option, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    }
    return false;
}

/* Options of the target and of AMD's code generator have no meaning to NVRTC: drop them. */
static bool is_clangs(const char *option)
{
    static const char *const beginnings[] = {"--offload-arch",
                                             "--gpu-architecture",
                                             "-arch",
                                             "--amdgpu-target",
                                             "--rocm-path",
                                             "--hip-",
                                             "-O",
                                             "-W",
                                             "-w",
                                             "-g",
                                             "-f",
                                             "-m",
                                             "-x",
                                             "-nogpu"};
    return begins(option, beginnings, sizeof beginnings / sizeof *beginnings);
}

/* Options whose value is the next word. */
static bool takes_a_word(const char *option)
{
    static const char *const words[] = {"-mllvm", "--offload-arch", "--gpu-architecture", "-arch",
                                        "-x",     "-Xclang"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(option, words[i]) == 0)
            return true;
    }
    return false;
}

const char **hiprtc_options(int count, const char *const *options, const char *includes, int *total)
{
    const char **const list = calloc((size_t)count + ALWAYS + 1, sizeof *list);
    if (list == NULL)
        return NULL;
    int used = 0;
    for (size_t i = 0; i < ALWAYS; i++)
        list[used++] = always[i];
    for (int i = 0; i < count; i++) {
        if (options[i] == NULL)
            continue;
        if (takes_a_word(options[i]))
            i++;
        else if (!is_clangs(options[i]))
            list[used++] = options[i];
    }
    if (includes[0] != '\0')
        list[used++] = includes;
    *total = used;
    return list;
}
