/* Functions that kernels call without defining them: vprintf, __assertfail, malloc and free here, those of
 * the device runtime in device_launch.c. */
#include <stdio.h>

#include "ptx/device_launch.h"
#include "ptx/engine.h"

enum { FORMAT_MAX = 4096, LINE_MAX_BYTES = 8192, FLAGS_MAX = 32 };

/* Reads a string of the kernel byte by byte: the next byte may lie in memory that cannot be read. */
static enum ptx_status read_string(struct warp *warp, const struct instruction *instruction, uint64_t address,
                                   unsigned lane, char *into, size_t room)
{
    enum ptx_status status = PTX_OK;
    for (size_t i = 0; i < room - 1; i++) {
        const char *at =
            ptx_reach(warp, instruction, SPACE_GENERIC, address + i, 1, ACCESS_READ, lane, &status);
        if (at == NULL)
            return status;
        into[i] = *at;
        if (*at == 0)
            return PTX_OK;
    }
    into[room - 1] = 0;
    return PTX_OK;
}

/* The arguments of a printf, which lie in the kernel's memory. */
struct arguments {
    uint64_t next; /* address */
    int32_t read;
};

static enum ptx_status read_argument(struct warp *warp, const struct instruction *instruction,
                                     struct arguments *arguments, unsigned bytes, unsigned lane,
                                     uint64_t *value)
{
    enum ptx_status status = PTX_OK;
    const uint64_t address = (arguments->next + bytes - 1) / bytes * bytes;
    const void *at = ptx_reach(warp, instruction, SPACE_GENERIC, address, bytes, ACCESS_READ, lane, &status);
    *value = 0;
    if (at != NULL)
        memcpy(value, at, bytes);
    arguments->next = address + bytes;
    arguments->read++;
    return status;
}

/* Formats one conversion, from its % to its letter. Letters that write memory (%n) or read host memory are
 * left out. */
#define FLAGS "-+ #0123456789.*"
static size_t conversion_length(const char *format, bool *wide)
{
    size_t length = 1 + strspn(format + 1, FLAGS);
    *wide = format[length] == 'l' || format[length] == 'z' || format[length] == 'j' || format[length] == 't';
    length += strspn(format + length, "hlzjt");
    return strchr("diouxXcsfFeEgGaAp%", format[length]) != NULL && format[length] != 0 ? length + 1 : 0;
}

/* Copies the flags, width and precision of a conversion. A * takes an argument. */
static enum ptx_status copy_flags(struct warp *warp, const struct instruction *instruction, const char *flags,
                                  size_t length, struct arguments *arguments, unsigned lane, char *to,
                                  size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        if (flags[i] != '*') {
            to[used++] = flags[i];
            continue;
        }
        uint64_t value = 0;
        const enum ptx_status status = read_argument(warp, instruction, arguments, 4, lane, &value);
        if (status != PTX_OK)
            return status;
        if ((int32_t)value < 0 && used > 0 && to[used - 1] == '.')
            used--; /* as if the precision were absent */
        else
            used += (size_t)snprintf(to + used, room - used, "%d", (int32_t)value);
    }
    to[used] = 0;
    return PTX_OK;
}

/* The value as the length modifier h or hh converts it. */
static uint64_t narrow(uint64_t value, const char *modifier, bool is_signed)
{
    if (modifier[0] != 'h')
        return value;
    const bool byte = modifier[1] == 'h';
    return is_signed ? (uint64_t)(byte ? (int64_t)(int8_t)value : (int64_t)(int16_t)value)
                     : (byte ? (uint8_t)value : (uint16_t)value);
}

static enum ptx_status append(struct warp *warp, const struct instruction *instruction,
                              const char *conversion, size_t length, bool wide, struct arguments *arguments,
                              unsigned lane, char *line, size_t *used)
{
    char one[FLAGS_MAX * 12], before[FLAGS_MAX * 11 + 1], text[FORMAT_MAX];
    const char letter = conversion[length - 1];
    const size_t flags = strspn(conversion + 1, FLAGS);
    const size_t room = LINE_MAX_BYTES - *used;
    uint64_t value = 0;
    if (flags > FLAGS_MAX)
        return PTX_OK;
    const enum ptx_status copied =
        copy_flags(warp, instruction, conversion + 1, flags, arguments, lane, before, sizeof before);
    if (copied != PTX_OK)
        return copied;
    const bool is_wide = wide || strchr("sfFeEgGaAp", letter) != NULL;
    const enum ptx_status status =
        letter == '%' ? PTX_OK : read_argument(warp, instruction, arguments, is_wide ? 8 : 4, lane, &value);
    if (status != PTX_OK)
        return status;
    value = narrow(value, conversion + 1 + flags, letter == 'd' || letter == 'i');
    /* Set the length modifier from the argument's size in the kernel: 32 or 64 bits. */
    snprintf(one, sizeof one, "%%%s%s%c", before, strchr("diouxX", letter) != NULL ? "ll" : "",
             letter == '%' ? '%' : letter);
    int written = 0;
    double number;
    memcpy(&number, &value, sizeof number);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (letter == '%')
        written = snprintf(line + *used, room, "%%");
    else if (letter == 's') {
        strcpy(text, "(null)");
        const enum ptx_status read =
            value != 0 ? read_string(warp, instruction, value, lane, text, sizeof text) : PTX_OK;
        if (read != PTX_OK)
            return read;
        written = snprintf(line + *used, room, one, text);
    } else if (letter == 'p')
        written = snprintf(line + *used, room, one, (void *)(uintptr_t)value);
    else if (letter == 'c')
        written = snprintf(line + *used, room, one, (int)value);
    else if (strchr("fFeEgGaA", letter) != NULL)
        written = snprintf(line + *used, room, one, number);
    else if (letter == 'd' || letter == 'i')
        written = snprintf(line + *used, room, one, wide ? (long long)value : (long long)(int32_t)value);
    else
        written = snprintf(line + *used, room, one, (unsigned long long)value);
#pragma GCC diagnostic pop
    *used += written > 0 ? ((size_t)written < room ? (size_t)written : room - 1) : 0;
    return PTX_OK;
}

/* `result` is that of the kernel's printf: the number of arguments, or -1 without a format (CUDA C++
 * Programming Guide, "Formatted Output"). */
static enum ptx_status print(struct warp *warp, const struct instruction *instruction,
                             uint64_t format_address, struct arguments arguments, unsigned lane,
                             int32_t *result)
{
    char format[FORMAT_MAX], line[LINE_MAX_BYTES];
    size_t used = 0;
    *result = -1;
    if (format_address == 0)
        return PTX_OK;
    enum ptx_status status = read_string(warp, instruction, format_address, lane, format, sizeof format);
    for (const char *at = format; status == PTX_OK && *at != 0 && used < sizeof line - 1;) {
        bool wide = false;
        const size_t length = *at == '%' ? conversion_length(at, &wide) : 0;
        if (length != 0) {
            status = append(warp, instruction, at, length, wide, &arguments, lane, line, &used);
            at += length;
        } else {
            line[used++] = *at++;
        }
    }
    if (status == PTX_OK)
        fwrite(line, 1, used, stdout);
    *result = arguments.read;
    return status;
}

static void allocate(struct warp *warp, const struct call *call, unsigned char *frame, uint64_t bytes)
{
    const struct ptx_memory *memory = &warp->block->grid->launch->memory;
    const uint64_t address =
        memory->allocate != NULL && bytes != 0 ? memory->allocate(memory->context, bytes) : 0;
    memcpy(frame + call->results[0].offset, &address, sizeof address);
}

static void release(struct warp *warp, uint64_t address)
{
    const struct grid *grid = warp->block->grid;
    const struct ptx_memory *memory = &grid->launch->memory;
    if (memory->release == NULL || address == 0)
        return;
    memory->release(memory->context, address);
    /* Forget the ranges that this block has cached. Other blocks may still reach the freed memory for a
     * while, as on a GPU. */
    for (uint32_t i = 0; i < warp->block->warp_count; i++)
        memset(warp->block->warps[i].ranges, 0, sizeof warp->ranges);
}

static uint64_t argument(const struct call *call, const unsigned char *frame, uint32_t number)
{
    uint64_t value = 0;
    if (number < call->argument_count)
        memcpy(&value, frame + call->arguments[number].offset,
               call->arguments[number].bytes < sizeof value ? call->arguments[number].bytes : sizeof value);
    return value;
}

/* __assertfail(message, file, line, function, size of a character), with the wording of NVIDIA's driver. */
static enum ptx_status say_failed(struct warp *warp, const struct instruction *instruction,
                                  const struct call *call, const unsigned char *frame, unsigned lane)
{
    char message[512], file[512], function[512];
    const uint32_t *block = warp->block->index;
    uint32_t thread[3];
    enum ptx_status status =
        read_string(warp, instruction, argument(call, frame, 0), lane, message, sizeof message);
    if (status == PTX_OK)
        status = read_string(warp, instruction, argument(call, frame, 1), lane, file, sizeof file);
    if (status == PTX_OK && call->argument_count > 3)
        status = read_string(warp, instruction, argument(call, frame, 3), lane, function, sizeof function);
    else
        function[0] = 0;
    if (status != PTX_OK)
        return status;
    ptx_thread_index(warp, lane, thread);
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file,
            (uint32_t)argument(call, frame, 2), function, block[0], block[1], block[2], thread[0], thread[1],
            thread[2], message);
    return PTX_OK;
}

enum ptx_status ptx_run_builtin(struct warp *warp, const struct instruction *instruction, uint32_t mask)
{
    const struct call *call = &warp->block->grid->module->calls[instruction->offset];
    for (uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        unsigned char *frame = warp->frames + (size_t)lane * warp->frame_room + warp->now->frame;
        const uint64_t first = argument(call, frame, 0);
        enum ptx_status status = PTX_OK;
        int32_t printed = 0;
        if (instruction->variant == BUILTIN_ASSERT_FAIL)
            status = say_failed(warp, instruction, call, frame, lane);
        else if (instruction->variant == BUILTIN_MALLOC)
            allocate(warp, call, frame, first);
        else if (instruction->variant == BUILTIN_FREE || instruction->variant == BUILTIN_DEVICE_FREE)
            release(warp, first);
        else if (instruction->variant == BUILTIN_VPRINTF)
            status = print(warp, instruction, first, (struct arguments){.next = argument(call, frame, 1)},
                           lane, &printed);
        if (instruction->variant >= BUILTIN_GET_PARAMETER_BUFFER)
            status = ptx_run_device_runtime(warp, instruction, call, frame, lane);
        if (instruction->variant == BUILTIN_VPRINTF && call->result_count != 0) {
            const struct slot *to = &call->results[0]; /* of any size */
            memcpy(frame + to->offset, &printed, to->bytes < sizeof printed ? to->bytes : sizeof printed);
        }
        if (status != PTX_OK)
            return status;
    }
    if (instruction->variant == BUILTIN_ASSERT_FAIL)
        return ptx_fault(warp, instruction, PTX_ASSERT, "assertion failed", 0);
    if (instruction->variant == BUILTIN_VPRINTF)
        fflush(stdout);
    return PTX_OK;
}
