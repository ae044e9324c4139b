/* Writes LLVM's AMDGPUUsage.rst, "Code Object V4 Metadata". clang leaves out arguments that a kernel does not
 * use, so the note has no hidden ones. */
#include "hip/code_object_note.h"

#include "hip/byte_buffer.h"
#include "ptx/ptx.h"

#define NT_AMDGPU_METADATA 32
#define KERNEL_ENTRIES     11
#define WAVE               32
#define REGISTERS_IN_USE   16

static void number(struct byte_buffer *to, uint64_t value)
{
    const unsigned char bytes[] = {value < 128 ? (unsigned char)value : 0xce, (unsigned char)(value >> 24),
                                   (unsigned char)(value >> 16), (unsigned char)(value >> 8),
                                   (unsigned char)value};
    byte_buffer_add(to, bytes, value < 128 ? 1 : sizeof bytes);
}

static void text(struct byte_buffer *to, const char *value)
{
    const size_t bytes = strlen(value);
    const unsigned char head[] = {0xda, (unsigned char)(bytes >> 8), (unsigned char)bytes};
    byte_buffer_add(to, head, sizeof head);
    byte_buffer_add(to, value, bytes & 0xffff);
}

/* A map (0xde) or an array (0xdc) of up to 65535. */
static void begin(struct byte_buffer *to, unsigned char kind, size_t count)
{
    const unsigned char head[] = {kind, (unsigned char)(count >> 8), (unsigned char)count};
    byte_buffer_add(to, head, sizeof head);
}

static void map(struct byte_buffer *to, size_t count)
{
    begin(to, 0xde, count);
}

static void array(struct byte_buffer *to, size_t count)
{
    begin(to, 0xdc, count);
}

static void entry(struct byte_buffer *to, const char *key, uint64_t value)
{
    text(to, key);
    number(to, value);
}

static void arguments(struct byte_buffer *to, const struct ptx_kernel *kernel)
{
    const size_t count = ptx_kernel_parameter_count(kernel);
    text(to, ".args");
    array(to, count);
    for (size_t i = 0; i < count; i++) {
        size_t offset, bytes;
        ptx_kernel_parameter(kernel, i, &offset, &bytes);
        map(to, 3);
        entry(to, ".offset", offset);
        entry(to, ".size", bytes);
        text(to, ".value_kind");
        text(to, "by_value");
    }
}

static void describe(struct byte_buffer *to, const struct ptx_kernel *kernel)
{
    struct ptx_kernel_attributes attributes;
    ptx_kernel_attributes(kernel, &attributes);
    map(to, KERNEL_ENTRIES);
    arguments(to, kernel);
    entry(to, ".group_segment_fixed_size", attributes.shared_bytes);
    entry(to, ".kernarg_segment_align", 8);
    entry(to, ".kernarg_segment_size", (ptx_kernel_parameter_bytes(kernel) + 7) & ~(size_t)7);
    entry(to, ".max_flat_workgroup_size", attributes.max_threads);
    text(to, ".name");
    text(to, ptx_kernel_name(kernel));
    entry(to, ".private_segment_fixed_size", attributes.local_bytes);
    entry(to, ".sgpr_count", REGISTERS_IN_USE);
    text(to, ".symbol");
    struct byte_buffer symbol = {0};
    byte_buffer_add(&symbol, ptx_kernel_name(kernel), strlen(ptx_kernel_name(kernel)));
    byte_buffer_text(&symbol, ".kd");
    if (symbol.failed)
        to->failed = true;
    else
        text(to, (const char *)symbol.data);
    free(symbol.data);
    entry(to, ".vgpr_count", attributes.registers);
    entry(to, ".wavefront_size", WAVE);
}

void hip_code_object_note(const struct ptx_module *module, struct byte_buffer *note)
{
    static const char owner[8] = "AMDGPU";
    const size_t kernels = ptx_module_kernel_count(module);
    struct byte_buffer metadata = {0};
    map(&metadata, 3);
    text(&metadata, "amdhsa.kernels");
    array(&metadata, kernels);
    for (size_t i = 0; i < kernels; i++)
        describe(&metadata, ptx_module_kernel(module, i));
    text(&metadata, "amdhsa.target");
    text(&metadata, "amdgcn-amd-amdhsa--sim");
    text(&metadata, "amdhsa.version");
    array(&metadata, 2);
    number(&metadata, 1);
    number(&metadata, 1);

    const uint32_t head[] = {7, (uint32_t)metadata.size, NT_AMDGPU_METADATA};
    byte_buffer_add(note, head, sizeof head);
    byte_buffer_add(note, owner, sizeof owner);
    byte_buffer_add(note, metadata.data, metadata.size);
    byte_buffer_align(note, 4);
    note->failed = note->failed || metadata.failed;
    free(metadata.data);
}
