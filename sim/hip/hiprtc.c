/* hiprtc over NVRTC: HIP source becomes PTX, and the PTX a code object, so that programs load the format of a
 * real one. Calls in a wrong order return NVRTC's errors, which have the same numbers. */
#include "hip/hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hip/code_object_write.h"
#include "hip/hiprtc_headers.h"
#include "hip/hiprtc_options.h"
#include "hip/nvrtc.h"
#include "ptx/ptx.h"

struct _hiprtcProgram {
    struct _nvrtcProgram *nvrtc; /* NULL without NVRTC */
    void *code;                  /* NULL until compiled */
    size_t code_bytes;
    char *log; /* used instead of NVRTC's */
};

static const char *const names[] = {
    "HIPRTC_SUCCESS",
    "HIPRTC_ERROR_OUT_OF_MEMORY",
    "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
    "HIPRTC_ERROR_INVALID_INPUT",
    "HIPRTC_ERROR_INVALID_PROGRAM",
    "HIPRTC_ERROR_INVALID_OPTION",
    "HIPRTC_ERROR_COMPILATION",
    "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
    "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
    "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
    "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
    "HIPRTC_ERROR_INTERNAL_ERROR",
};

const char *hiprtcGetErrorString(hiprtcResult result)
{
    return (size_t)result < sizeof names / sizeof *names ? names[result] : NULL;
}

/* As in HIP 5.2.3. */
hiprtcResult hiprtcVersion(int *major, int *minor)
{
    if (major == NULL || minor == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    *major = 9;
    *minor = 0;
    return HIPRTC_SUCCESS;
}

/* The program's headers, then built-in headers that the program does not replace. */
static hiprtcResult create(struct _hiprtcProgram *program, const char *source, const char *name, size_t count,
                           const char **texts, const char **includes)
{
    const size_t room = count + hiprtc_header_count;
    const char **const all_texts = calloc(2 * room, sizeof *all_texts);
    if (all_texts == NULL)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    const char **const all_names = all_texts + room;
    size_t used = count;
    for (size_t i = 0; i < count; i++) {
        all_texts[i] = texts[i];
        all_names[i] = includes[i];
    }
    for (size_t i = 0; i < hiprtc_header_count; i++) {
        bool given = false;
        for (size_t j = 0; j < count; j++)
            given = given || strcmp(includes[j], hiprtc_headers[i].name) == 0;
        if (given)
            continue;
        all_texts[used] = hiprtc_headers[i].text;
        all_names[used++] = hiprtc_headers[i].name;
    }
    const int result = hip_nvrtc()->create(&program->nvrtc, source, name, (int)used, all_texts, all_names);
    free(all_texts);
    return (hiprtcResult)result;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *prog, const char *src, const char *name, int numHeaders,
                                 const char **headers, const char **includeNames)
{
    if (prog == NULL || src == NULL || numHeaders < 0 ||
        (numHeaders > 0 && (headers == NULL || includeNames == NULL)))
        return HIPRTC_ERROR_INVALID_INPUT;
    struct _hiprtcProgram *const program = calloc(1, sizeof *program);
    if (program == NULL)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    hiprtcResult result = HIPRTC_SUCCESS;
    if (hip_nvrtc() != NULL)
        result = create(program, src, name, (size_t)numHeaders, headers, includeNames);
    if (result == HIPRTC_SUCCESS)
        *prog = program;
    else
        free(program);
    return result;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *prog)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (*prog == NULL)
        return HIPRTC_SUCCESS;
    if ((*prog)->nvrtc != NULL)
        (void)hip_nvrtc()->destroy(&(*prog)->nvrtc);
    free((*prog)->code);
    free((*prog)->log);
    free(*prog);
    *prog = NULL;
    return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram prog, const char *name_expression)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    return prog->nvrtc == NULL ? HIPRTC_SUCCESS
                               : (hiprtcResult)hip_nvrtc()->add_name(prog->nvrtc, name_expression);
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram prog, const char *name_expression, const char **lowered_name)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL || lowered_name == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (prog->nvrtc == NULL || prog->code == NULL)
        return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    return (hiprtcResult)hip_nvrtc()->lowered_name(prog->nvrtc, name_expression, lowered_name);
}

static hiprtcResult wrap(struct _hiprtcProgram *program)
{
    const struct hip_nvrtc *const nvrtc = hip_nvrtc();
    size_t bytes;
    int result = nvrtc->ptx_size(program->nvrtc, &bytes);
    if (result != 0 || bytes == 0)
        return result != 0 ? (hiprtcResult)result : HIPRTC_ERROR_INTERNAL_ERROR;
    char *const ptx = malloc(bytes);
    if (ptx == NULL)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    struct ptx_diagnostic diagnostic = {0};
    result = nvrtc->ptx(program->nvrtc, ptx);
    if (result == 0 &&
        hip_code_object(ptx, bytes - 1, &program->code, &program->code_bytes, &diagnostic) != 0) {
        result = diagnostic.text[0] != '\0' ? HIPRTC_ERROR_COMPILATION : HIPRTC_ERROR_OUT_OF_MEMORY;
        if (asprintf(&program->log, "error: the CPU driver does not run this: line %u of its PTX: %s\n",
                     diagnostic.line, diagnostic.text) < 0)
            program->log = NULL;
    }
    free(ptx);
    return (hiprtcResult)result;
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram prog, int numOptions, const char **options)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (numOptions < 0 || (numOptions > 0 && options == NULL))
        return HIPRTC_ERROR_INVALID_INPUT;
    if (prog->nvrtc == NULL) {
        free(prog->log);
        prog->log = strdup(hip_nvrtc_missing());
        return HIPRTC_ERROR_COMPILATION;
    }
    int count;
    const char **const list = hiprtc_options(numOptions, options, hip_nvrtc()->includes, &count);
    if (list == NULL)
        return HIPRTC_ERROR_OUT_OF_MEMORY;
    free(prog->code);
    free(prog->log);
    prog->code = NULL;
    prog->log = NULL;
    const int result = hip_nvrtc()->compile(prog->nvrtc, count, list);
    free(list);
    return result == 0 ? wrap(prog) : (hiprtcResult)result;
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram prog, size_t *logSizeRet)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (logSizeRet == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    *logSizeRet = prog->log != NULL ? strlen(prog->log) + 1 : 1;
    return prog->log != NULL || prog->nvrtc == NULL
               ? HIPRTC_SUCCESS
               : (hiprtcResult)hip_nvrtc()->log_size(prog->nvrtc, logSizeRet);
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram prog, char *log)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (log == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    if (prog->log == NULL && prog->nvrtc != NULL)
        return (hiprtcResult)hip_nvrtc()->log(prog->nvrtc, log);
    (void)strcpy(log, prog->log != NULL ? prog->log : ""); /* as long as the call above says */
    return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram prog, size_t *codeSizeRet)
{
    if (prog == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (codeSizeRet == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    *codeSizeRet = prog->code_bytes;
    return prog->code != NULL ? HIPRTC_SUCCESS : HIPRTC_ERROR_INVALID_PROGRAM;
}

hiprtcResult hiprtcGetCode(hiprtcProgram prog, char *code)
{
    if (prog == NULL || prog->code == NULL)
        return HIPRTC_ERROR_INVALID_PROGRAM;
    if (code == NULL)
        return HIPRTC_ERROR_INVALID_INPUT;
    memcpy(code, prog->code, prog->code_bytes);
    return HIPRTC_SUCCESS;
}
