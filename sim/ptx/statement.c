/* Helpers of the decoders: modifiers, operands, emission. */
#include "ptx/statement.h"

#include <stdio.h>
#include <string.h>

/* The instruction as it is written, with its modifiers, cut to fit. */
static void name_of(const struct statement *statement, char *text, size_t room)
{
    const struct token *last = statement->modifier_count != 0
                                   ? statement->modifiers[statement->modifier_count - 1]
                                   : statement->base;
    const size_t length = (size_t)(last->text + last->length - statement->base->text);
    snprintf(text, room, "%.*s", (int)(length < room ? length : room - 1), statement->base->text);
}

bool ptx_unsupported(const struct statement *statement)
{
    char name[160];
    name_of(statement, name, sizeof name);
    if (statement->parser->diagnostic->text[0] == 0)
        statement->parser->met_unsupported = ptx_is_in_isa(statement);
    return ptx_fail(statement->parser, statement->base->line, "unsupported PTX instruction '%s'", name);
}

/* Whether a decoder took all modifiers, so that it knows the form of the instruction. */
static bool is_known_form(const struct statement *statement)
{
    return statement->taken == (1u << statement->modifier_count) - 1;
}

bool ptx_refuse(const struct statement *statement, const char *why)
{
    char name[160];
    if (!is_known_form(statement) && ptx_is_in_isa(statement))
        return ptx_unsupported(statement);
    name_of(statement, name, sizeof name);
    return ptx_fail(statement->parser, statement->base->line, "'%s' %s", name, why);
}

static bool take_word(struct statement *statement, const char *word, size_t length)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        const struct token *token = statement->modifiers[i];
        if ((statement->taken >> i & 1) == 0 && token->length == length &&
            memcmp(token->text, word, length) == 0) {
            statement->taken |= 1u << i;
            return true;
        }
    }
    return false;
}

bool ptx_take(struct statement *statement, const char *modifier)
{
    return take_word(statement, modifier, strlen(modifier));
}

bool ptx_has(const struct statement *statement, const char *modifier)
{
    for (unsigned i = 0; i < statement->modifier_count; i++)
        if (ptx_token_is(statement->modifiers[i], modifier))
            return true;
    return false;
}

int ptx_take_one(struct statement *statement, const char *words)
{
    for (int i = 0;; i++) {
        const size_t length = strcspn(words, " ");
        if (length != 0 && take_word(statement, words, length))
            return i;
        if (words[length] == 0)
            return -1;
        words += length + 1;
    }
}

void ptx_take_all(struct statement *statement, const char *words)
{
    while (ptx_take_one(statement, words) >= 0)
        ;
}

uint16_t ptx_take_flags(struct statement *statement, const struct flag_word *words)
{
    uint16_t flags = 0;
    for (; words != NULL && words->word != NULL; words++)
        if (words->word[0] == 0 || ptx_take(statement, words->word))
            flags |= words->flag;
    return flags;
}

static enum type take_type_up_to(struct statement *statement, enum type last)
{
    for (unsigned i = 0; i < statement->modifier_count; i++) {
        const enum type type = ptx_type_of(statement->modifiers[i]);
        if ((statement->taken >> i & 1) == 0 && type != T_NONE && type <= last) {
            statement->taken |= 1u << i;
            return type;
        }
    }
    return T_NONE;
}

enum type ptx_take_type(struct statement *statement)
{
    return take_type_up_to(statement, T_F64);
}

enum type ptx_take_any_type(struct statement *statement)
{
    return take_type_up_to(statement, T_S4);
}

enum rounding ptx_take_rounding(struct statement *statement)
{
    return (enum rounding)(ptx_take_one(statement, ".rn .rz .rm .rp .rna") + 1);
}

enum space ptx_take_space(struct statement *statement)
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
        if (ptx_take(statement, spaces[i].word))
            return spaces[i].space;
    return SPACE_GENERIC;
}

void ptx_take_hints(struct statement *statement)
{
    ptx_take_all(statement,
                 ".volatile .relaxed .acquire .release .acq_rel .sc .weak .gpu .cta .sys .cluster .ca "
                 ".cg .cs .cv .lu .wb .wt .nc .uni .aligned .mmio .noftz .L1::evict_normal "
                 ".L1::evict_unchanged .L1::evict_first .L1::evict_last .L1::no_allocate "
                 ".L2::evict_last .L2::evict_normal .L2::evict_first .L2::64B .L2::128B .L2::256B");
}

struct instruction *ptx_begin_instruction(struct statement *statement, enum operation operation,
                                          enum type type)
{
    struct instruction *instruction = ptx_emit(statement->parser, operation, statement->base->line);
    if (instruction == NULL)
        return NULL;
    instruction->counted = !statement->begun;
    statement->begun = true;
    instruction->guard = statement->guard;
    instruction->type = instruction->source = (uint8_t)type;
    return instruction;
}

static bool is_plain(const struct statement *statement, unsigned index)
{
    return index < statement->operand_count && statement->operands[index].form == FORM_PLAIN;
}

bool ptx_read_source(struct statement *statement, unsigned index, enum type type, struct operand *operand)
{
    if (!is_plain(statement, index))
        return ptx_refuse(statement, "needs a plain operand");
    return ptx_read_operand(statement->parser, &statement->operands[index].atoms[0], type, operand);
}

bool ptx_read_result(struct statement *statement, unsigned index, bool predicate, struct operand *operand)
{
    if (!is_plain(statement, index))
        return ptx_refuse(statement, "needs a plain result operand");
    return ptx_write_operand(statement->parser, &statement->operands[index].atoms[0], predicate, operand);
}

/* Reads a source operand of the kind that its letter names. */
static bool read_source(struct statement *statement, unsigned index, char letter, enum type type,
                        enum type second, struct operand *operand)
{
    const enum type read = letter == 't'   ? type
                           : letter == 's' ? second
                           : letter == 'u' ? T_U32
                           : letter == 'l' ? T_U64
                                           : T_PRED;
    return ptx_read_source(statement, index, read, operand);
}

/* Reads a result operand of the kind that its letter names. */
static bool read_result(struct statement *statement, unsigned index, char letter, struct operand to[2])
{
    const struct written *written = &statement->operands[index];
    const bool predicate = letter == 'p' || letter == 'P';
    if (written->form == FORM_PAIR && (letter == 'D' || letter == 'P'))
        return ptx_write_operand(statement->parser, &written->atoms[0], predicate, &to[0]) &&
               ptx_write_operand(statement->parser, &written->atoms[1], true, &to[1]);
    return ptx_read_result(statement, index, predicate, &to[0]);
}

struct instruction *ptx_build_instruction(struct statement *statement, enum operation operation,
                                          const char *operands, enum type type, enum type second)
{
    struct operand to[2] = {0}, from[4] = {0};
    const unsigned count = (unsigned)strlen(operands);
    const struct atom *immediate = NULL;
    unsigned sources = 0;
    if (statement->operand_count != count || type == T_NONE) {
        ptx_refuse(statement, type == T_NONE ? "has no type" : "has the wrong number of operands");
        return NULL;
    }
    for (unsigned i = 0; i < count; i++) {
        if (operands[i] == 'i')
            immediate = &statement->operands[i].atoms[0];
        else if (strchr("tsulb", operands[i]) != NULL &&
                 !read_source(statement, i, operands[i], type, second, &from[sources++]))
            return NULL;
    }
    if (strchr("dDpP", operands[0]) != NULL && !read_result(statement, 0, operands[0], to))
        return NULL;
    if (immediate != NULL && immediate->kind != ATOM_INTEGER) {
        ptx_refuse(statement, "needs a number as its last operand");
        return NULL;
    }
    struct instruction *instruction = ptx_begin_instruction(statement, operation, type);
    if (instruction == NULL)
        return NULL;
    memcpy(instruction->to, to, sizeof to);
    memcpy(instruction->from, from, sizeof from);
    if (immediate != NULL)
        instruction->variant = (uint8_t)immediate->bits;
    return instruction;
}

bool ptx_decode_row(struct statement *statement, const struct row *row)
{
    const int word = row->words != NULL ? ptx_take_one(statement, row->words) : 0;
    const uint16_t flags = ptx_take_flags(statement, row->flags);
    if (row->ignored != NULL)
        ptx_take_all(statement, row->ignored);
    const enum type type = ptx_take_type(statement);
    const enum type second = row->two_types                       ? ptx_take_type(statement)
                             : strchr(row->operands, 'b') != NULL ? T_PRED
                                                                  : type;
    if ((word < 0 && row->words[0] != ' ') || second == T_NONE)
        return ptx_unsupported(statement);
    const unsigned chosen = word < 0 ? 0 : (unsigned)word;
    struct instruction *instruction =
        ptx_build_instruction(statement, row->words_are_operations ? row->operation + chosen : row->operation,
                              row->operands, type, second);
    if (instruction == NULL)
        return false;
    instruction->source = (uint8_t)second;
    instruction->flags = flags;
    if (row->words != NULL && !row->words_are_operations)
        instruction->variant = (uint8_t)chosen;
    return true;
}
