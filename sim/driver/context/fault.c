#include "driver/context/fault.h"

#include "driver/core/state.h"
#include "driver/memory/range.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct report {
    char text[2048];
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void append(struct report *report, const char *format, ...)
{
    const size_t room = sizeof report->text - report->used;
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(report->text + report->used, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        report->used += (size_t)length < room ? (size_t)length : room - 1;
}

static const char *kind_name(enum sim_memory kind)
{
    static const char *const names[] = {[SIM_MEMORY_DEVICE] = "device memory",
                                        [SIM_MEMORY_GLOBAL] = "a module's global",
                                        [SIM_MEMORY_MANAGED] = "managed memory",
                                        [SIM_MEMORY_HOST] = "host memory",
                                        [SIM_MEMORY_REGISTERED] = "registered host memory",
                                        [SIM_MEMORY_MAPPED] = "a mapping"};
    return names[kind];
}

static void print_nearest(struct report *report, const struct ptx_fault *fault)
{
    struct sim_range range;
    if (sim_range_find(fault->address, &range)) {
        if (range.access != SIM_ACCESS_NONE)
            append(report, "  it ends %" PRIu64 " bytes after", fault->address + fault->bytes - range.end);
        else
            append(report, "  it lies, without access rights, in");
    } else if (!sim_range_find_nearest(fault->address, &range)) {
        append(report, "  no memory is allocated\n");
        return;
    } else if (fault->address < range.begin) {
        append(report, "  it is %" PRIu64 " bytes before", range.begin - fault->address);
    } else {
        append(report, "  it is %" PRIu64 " bytes after", fault->address - range.end);
    }
    append(report, " the nearest allocation: %" PRIu64 " bytes of %s at 0x%" PRIx64 "\n",
           range.end - range.begin, kind_name(range.kind), range.begin);
}

void sim_fault_report(const struct ptx_kernel *kernel, CUresult result,
                      const struct ptx_diagnostic *diagnostic)
{
    const struct ptx_fault *fault = &diagnostic->fault;
    struct report report = {.used = 0};
    const char *name = NULL;
    char line[256];
    if (!sim_environment()->exact_memory)
        return;
    (void)cuGetErrorName(result, &name);
    append(&report, "CPU driver: kernel %s ended with %s: %s\n",
           ptx_kernel_name(fault->kernel != NULL ? fault->kernel : kernel), name,
           fault->what != NULL ? fault->what : diagnostic->text);
    if (fault->what != NULL) {
        ptx_kernel_line(kernel, diagnostic->line, line, sizeof line);
        append(&report, "  line %u of the PTX: %s\n", diagnostic->line, line);
        append(&report, "  in thread (%u,%u,%u) of block (%u,%u,%u)", fault->thread[0], fault->thread[1],
               fault->thread[2], fault->block[0], fault->block[1], fault->block[2]);
        if (fault->access != NULL)
            append(&report, ", %s of %u bytes at 0x%" PRIx64, fault->access, fault->bytes, fault->address);
        append(&report, "\n");
        if (fault->access != NULL && fault->global && result == CUDA_ERROR_ILLEGAL_ADDRESS)
            print_nearest(&report, fault);
    }
    if (write(STDERR_FILENO, report.text, report.used) < 0)
        return; /* stderr is closed; the program still gets the result */
}
