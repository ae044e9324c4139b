/* One instruction while it is decoded. */
#include "ptx/statement.h"

#include <string.h>

bool refuse(const struct statement *statement, const char *why)
{
    char text[160] = {0};
    size_t length = 0;
    const struct token *last = statement->modifier_count != 0
                                   ? statement->modifiers[statement->modifier_count - 1]
                                   : statement->base;
    length = (size_t)(last->text + last->length - statement->base->text);
    memcpy(text, statement->base->text, length < sizeof text - 1 ? length : sizeof text - 1);
    return fail(statement->parser, statement->base->line, "'%s' %s", text, why);
}

bool take(struct statement *statement, const char *modifier)
{
    for (unsigned i = 0; i < statement->modifier_count; i++)
        if ((statement->taken >> i & 1) == 0 && token_is(statement->modifiers[i], modifier)) {
            statement->taken |= 1u << i;
            return true;
        }
    return false;
}

int take_one(struct statement *statement, const char *const *words)
{
    for (int i = 0; words[i] != NULL; i++)
        if (take(statement, words[i]))
            return i;
    return -1;
}

static enum type take_type_up_to(struct statement *statement, enum type last)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        const enum type type = type_of(statement->modifiers[i]);
        if ((statement->taken >> i & 1) == 0 && type != T_NONE && type <= last) {
            statement->taken |= 1u << i;
            return type;
        }
    }
    return T_NONE;
}

enum type take_type(struct statement *statement)
{
    return take_type_up_to(statement, T_F64);
}

enum type take_any_type(struct statement *statement)
{
    return take_type_up_to(statement, T_S4);
}

enum rounding take_rounding(struct statement *statement)
{
    static const char *const words[] = {".rn", ".rz", ".rm", ".rp", ".rna", NULL};
    return (enum rounding)(take_one(statement, words) + 1);
}

enum space take_space(struct statement *statement)
{
    static const struct {
        const char *word;
        enum space space;
    } spaces[] = {{".global", SPACE_GLOBAL},      {".shared", SPACE_SHARED},
                  {".shared::cta", SPACE_SHARED}, {".shared::cluster", SPACE_SHARED},
                  {".local", SPACE_LOCAL},        {".const", SPACE_CONST},
                  {".param", SPACE_PARAM},        {".param::entry", SPACE_PARAM},
                  {".param::func", SPACE_PARAM}};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (take(statement, spaces[i].word))
            return spaces[i].space;
    return SPACE_GENERIC;
}

void take_hints(struct statement *statement)
{
    static const char *const hints[] = {".volatile",
                                        ".relaxed",
                                        ".acquire",
                                        ".release",
                                        ".acq_rel",
                                        ".sc",
                                        ".weak",
                                        ".gpu",
                                        ".cta",
                                        ".sys",
                                        ".cluster",
                                        ".ca",
                                        ".cg",
                                        ".cs",
                                        ".cv",
                                        ".lu",
                                        ".wb",
                                        ".wt",
                                        ".nc",
                                        ".uni",
                                        ".aligned",
                                        ".mmio",
                                        ".noftz",
                                        ".L1::evict_normal",
                                        ".L1::evict_unchanged",
                                        ".L1::evict_first",
                                        ".L1::evict_last",
                                        ".L1::no_allocate",
                                        ".L2::evict_last",
                                        ".L2::evict_normal",
                                        ".L2::evict_first",
                                        ".L2::64B",
                                        ".L2::128B",
                                        ".L2::256B",
                                        NULL};
    while (take_one(statement, hints) >= 0)
        ;
}

struct instruction *begin(struct statement *statement, enum operation operation, enum type type)
{
    struct instruction *instruction = emit(statement->parser, operation, statement->base->line);
    if (instruction == NULL)
        return NULL;
    instruction->guard = statement->guard;
    instruction->type = instruction->source = (uint8_t)type;
    return instruction;
}

static bool is_plain(const struct statement *statement, unsigned index)
{
    return index < statement->operand_count && statement->operands[index].form == FORM_PLAIN;
}

bool source(struct statement *statement, unsigned index, enum type type, struct operand *operand)
{
    if (!is_plain(statement, index))
        return refuse(statement, "lacks an operand");
    return read_operand(statement->parser, &statement->operands[index].atoms[0], type, operand);
}

bool destination(struct statement *statement, unsigned index, bool predicate, struct operand *operand)
{
    if (!is_plain(statement, index))
        return refuse(statement, "lacks a result");
    return write_operand(statement->parser, &statement->operands[index].atoms[0], predicate, operand);
}

/* A result and `count` sources, all of one type. */
struct instruction *simple(struct statement *statement, enum operation operation, enum type type,
                           unsigned count, enum type last)
{
    struct operand to, from[4] = {0};
    if (statement->operand_count != count + 1 || type == T_NONE) {
        refuse(statement, type == T_NONE ? "has no type" : "has another number of operands");
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        if (!source(statement, i + 1, i + 1 == count && last != T_NONE ? last : type, &from[i]))
            return NULL;
    if (!destination(statement, 0, false, &to))
        return NULL;
    struct instruction *instruction = begin(statement, operation, type);
    if (instruction == NULL)
        return NULL;
    instruction->to[0] = to;
    memcpy(instruction->from, from, sizeof from);
    return instruction;
}
