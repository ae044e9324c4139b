/* Parameters of a kernel as its PTX declares them. Each parameter lies at the next multiple of its
 * alignment. If the text gives no alignment, the type's alignment applies (PTX ISA, "Kernel Function
 * Parameters"). */
#include "core/image/layout.h"
#include "core/image/ptx_text.h"

#define BYTES_MAX 65536u /* limit of the sum; drivers accept less */

static const struct {
    const char *name;
    uint32_t bytes;
} types[] = {{".b8", 1},      {".u8", 1},    {".s8", 1},    {".b16", 2},    {".u16", 2},
             {".s16", 2},     {".f16", 2},   {".bf16", 2},  {".b32", 4},    {".u32", 4},
             {".s32", 4},     {".f32", 4},   {".f16x2", 4}, {".bf16x2", 4}, {".b64", 8},
             {".u64", 8},     {".s64", 8},   {".f64", 8},   {".texref", 8}, {".samplerref", 8},
             {".surfref", 8}, {".b128", 16}, {".u128", 16}, {".s128", 16}};

static const struct {
    const char *name;
    uint32_t lanes;
} vectors[] = {{".v2", 2}, {".v4", 4}, {".v8", 8}};

static uint32_t bytes_of_type(struct nb_view word)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (nb_ptx_is(word, types[i].name))
            return types[i].bytes;
    return 0;
}

static uint32_t lanes_of_vector(struct nb_view word)
{
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (nb_ptx_is(word, vectors[i].name))
            return vectors[i].lanes;
    return 0;
}

/* Parse a decimal number from 1 to BYTES_MAX; 0 otherwise. Compilers write no other numbers here. */
static uint32_t number_of(struct nb_view word)
{
    uint32_t number = 0;
    for (uint64_t i = 0; i < word.bytes; i++) {
        if (word.start[i] < '0' || word.start[i] > '9' || number > BYTES_MAX)
            return 0;
        number = 10 * number + (uint32_t)(word.start[i] - '0');
    }
    return number <= BYTES_MAX ? number : 0;
}

static uint32_t take_number(struct nb_ptx_text *text)
{
    struct nb_view word;
    return nb_ptx_take(text, &word) ? number_of(word) : 0;
}

/* Take the text between .param and the next comma or closing bracket, which goes to `ending`. */
static bool take_parameter(struct nb_ptx_text *text, uint32_t *bytes, uint32_t *alignment,
                           unsigned char *ending)
{
    struct nb_view word;
    uint32_t type = 0, lanes = 1, declared = 0;
    uint64_t count = 1;
    bool pointer = false;
    while (nb_ptx_take(text, &word)) {
        *ending = word.start[0];
        if (*ending == ',' || *ending == ')') {
            *bytes = (uint32_t)(type * lanes * count);
            *alignment = declared != 0 ? declared : type * lanes;
            return type != 0 && (*alignment & (*alignment - 1)) == 0;
        }
        pointer = pointer || nb_ptx_is(word, ".ptr");
        if (nb_ptx_is(word, ".align")) {
            const uint32_t number = take_number(text);
            if (number == 0)
                return false;
            declared = pointer ? declared : number; /* else the alignment of the pointer's target */
        } else if (*ending == '[') {
            count *= take_number(text);
            if (count == 0 || count > BYTES_MAX)
                return false;
        } else if (type == 0 && bytes_of_type(word) != 0) {
            type = bytes_of_type(word);
        } else if (lanes_of_vector(word) != 0) {
            lanes = lanes_of_vector(word);
        }
    }
    return false;
}

static int take_parameters(struct nb_ptx_text *text, struct nb_parameter *layout)
{
    struct nb_view word;
    uint32_t count = 0, end = 0;
    unsigned char ending = ',';
    while (ending == ',' && nb_ptx_take(text, &word)) {
        if (count == 0 && word.start[0] == ')')
            return 0;
        uint32_t bytes, alignment;
        if (!nb_ptx_is(word, ".param") || count == NB_LAYOUT_MAX ||
            !take_parameter(text, &bytes, &alignment, &ending))
            return -1;
        const uint32_t offset = (end + alignment - 1) & ~(alignment - 1);
        if (bytes > BYTES_MAX || offset > BYTES_MAX - bytes)
            return -1;
        layout[count++] = (struct nb_parameter){offset, bytes};
        end = offset + bytes;
    }
    return ending == ')' ? (int)count : -1;
}

int nb_layout_from_ptx(const void *start, uint64_t bytes, const char *name, struct nb_parameter *layout)
{
    struct nb_ptx_text text = {start, (const unsigned char *)start + bytes};
    struct nb_view word;
    uint32_t depth = 0;
    while (nb_ptx_take(&text, &word)) {
        depth = nb_ptx_depth(word, depth);
        if (depth != 0 || !nb_ptx_is(word, ".entry") || !nb_ptx_take(&text, &word))
            continue;
        const bool is_kernel = nb_ptx_is(word, name);
        if (!nb_ptx_take(&text, &word))
            return -1;
        if (is_kernel)
            return word.start[0] == '(' ? take_parameters(&text, layout) : 0;
        depth = nb_ptx_depth(word, depth);
    }
    return -1;
}
