/* replay.h with canned answers, each of them another number: what the binding makes of every field. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/replay.h"

struct nb_replay {
    int descriptor;
    uint8_t memory[16];
};

static int refuse(char *error, const char *text)
{
    snprintf(error, NB_REPLAY_TEXT, "%s", text);
    return NB_REPLAY_CANNOT;
}

NB_REPLAY_EXPORT int nb_replay_open(int descriptor, const struct nb_replay_limits *limits,
                                    struct nb_replay **replay, char *error)
{
    if (limits->host_bytes != 1 || limits->device_bytes != 2 || limits->elements != 3 ||
        limits->decoders != 4)
        return refuse(error, "limits");
    if (descriptor < 0) {
        memset(error, 0xff, NB_REPLAY_TEXT); /* not even an end */
        return NB_REPLAY_BAD_CAPTURE;
    }
    *replay = calloc(1, sizeof **replay);
    (*replay)->descriptor = descriptor;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT const char *nb_replay_refusal(const struct nb_replay *replay, uint32_t index)
{
    static const char *const refusals[] = {"first", "second"};
    return replay->descriptor == 5 && index < 2 ? refusals[index] : NULL;
}

NB_REPLAY_EXPORT const char *nb_replay_note(const struct nb_replay *replay, uint32_t index)
{
    return replay->descriptor == 5 && index == 0 ? "a note" : NULL;
}

NB_REPLAY_EXPORT int nb_replay_prepare(struct nb_replay *replay, const char *driver,
                                       const struct nb_replay_options *options,
                                       struct nb_replay_device *device, struct nb_replay_prepared *prepared,
                                       char *error)
{
    (void)replay;
    if (strcmp(driver, "libcuda.so.1") != 0)
        return refuse(error, "no such driver");
    if (options->device != 1 || options->cold != 3 || options->cold_code != 1 || options->prime != 0 ||
        options->prime_limit_ms != 4 || options->timeout_ms != 5 || options->scrub != 1 ||
        options->step != 1 || options->seed != UINT64_MAX || options->key != UINT64_C(1) << 63 ||
        options->guard != 1 || options->strict != 1 || options->input_bytes != 6 || options->set_bytes != 8 ||
        options->rotating_count != 7 || options->flush_code != 1 || options->ignore_reads != 1)
        return refuse(error, "options");
    *device = (struct nb_replay_device){"a device", 11, 12, 13, 14, 15, 16, 17, 18, "", 19};
    memset(device->pci_bus, '0', sizeof device->pci_bus); /* no end */
    *prepared =
        (struct nb_replay_prepared){1.5, 2.5, 3.5, 4.5, 21, 22, 23, 24, 25, 26, 27, 28, 1, 29, 30, 31};
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_input(struct nb_replay *replay, uint32_t set, uint64_t address,
                                     const void *data, uint64_t bytes, char *error)
{
    if (set != 7 || address != 1 || bytes != 3)
        return refuse(error, "input");
    if (data == NULL)
        memset(replay->memory + 1, 0, 3);
    else
        memcpy(replay->memory + 1, data, 3);
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_output(struct nb_replay *replay, uint64_t address, uint64_t bytes, char *error)
{
    (void)replay;
    return address == 8 && bytes == 9 ? NB_REPLAY_OK : refuse(error, "output");
}

NB_REPLAY_EXPORT int nb_replay_find_in_place(struct nb_replay *replay, uint32_t *output, char *error)
{
    (void)error;
    *output = replay->memory[1] == 0 ? 0xffffffff : 2;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_once(struct nb_replay *replay, uint32_t set, char *error)
{
    (void)replay;
    return set == 0xffffffff ? NB_REPLAY_OK : refuse(error, "once");
}

NB_REPLAY_EXPORT int nb_replay_read(struct nb_replay *replay, uint64_t address, void *data, uint64_t bytes,
                                    char *error)
{
    if (bytes > sizeof replay->memory || address > sizeof replay->memory - bytes)
        return refuse(error, "read");
    memcpy(data, replay->memory + address, bytes);
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_verify(struct nb_replay *replay, struct nb_replay_difference *differences,
                                      uint32_t room, uint32_t *count, char *error)
{
    (void)replay, (void)error;
    for (uint32_t i = 0; i < room && i < 5; i++)
        differences[i] = (struct nb_replay_difference){i, 31, 32, 33, 34, 1, {0xab}, {0xcd}};
    *count = 5;
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_measure(struct nb_replay *replay, uint32_t set,
                                       struct nb_replay_sample *sample, char *error)
{
    (void)replay, (void)error;
    *sample = (struct nb_replay_sample){1.25, 2.25, 3.25, 1980.0, set, 1, 4.25, 5.25, 6.25};
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_measure_empty(struct nb_replay *replay, uint32_t set,
                                             struct nb_replay_sample *sample, char *error)
{
    (void)replay, (void)error;
    *sample = (struct nb_replay_sample){.device_us = 0.25, .input_set = set};
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT int nb_replay_measure_overhead(struct nb_replay *replay, struct nb_replay_overhead *overhead,
                                                char *error)
{
    (void)replay, (void)error;
    *overhead = (struct nb_replay_overhead){0.032, 1.25, 2.0, 3.0};
    return NB_REPLAY_OK;
}

NB_REPLAY_EXPORT void nb_replay_close(struct nb_replay *replay)
{
    free(replay);
}
