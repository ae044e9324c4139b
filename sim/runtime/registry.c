#include "runtime/registry.h"

#include "runtime/image.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS   1024u
#define LOG_BYTES 1024u

struct symbol {
    const void *host;
    const char *name;
    struct runtime_binary *binary;
    enum runtime_symbol_kind kind;
    CUkernel kernel; /* for a kernel, after its first use */
    struct symbol *next, *next_of_binary;
};

struct runtime_binary {
    const void *wrapper;
    CUlibrary library;
    bool tried;
    CUresult result; /* of loading; valid after the first try */
    struct symbol *symbols;
    struct runtime_binary *next_library;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* protects all data below and every binary */
static struct symbol *buckets[BUCKETS];
static struct runtime_binary *libraries; /* those that the program loaded itself */

static struct symbol **bucket_of(const void *host)
{
    return &buckets[((uintptr_t)host * 0x9e3779b97f4a7c15u >> 32) % BUCKETS];
}

struct runtime_binary *runtime_binary_add(const void *wrapper)
{
    struct runtime_binary *binary = calloc(1, sizeof *binary);
    if (binary != NULL)
        binary->wrapper = wrapper;
    return binary;
}

static struct symbol *find(const void *host, bool kernel)
{
    struct symbol *symbol = *bucket_of(host);
    while (symbol != NULL && (symbol->host != host || (symbol->kind == RUNTIME_KERNEL) != kernel))
        symbol = symbol->next;
    return symbol;
}

/* Called with the mutex held. */
static cudaError_t add(struct runtime_binary *binary, enum runtime_symbol_kind kind, const void *host,
                       const char *name, CUkernel kernel)
{
    struct symbol *symbol = malloc(sizeof *symbol);
    if (symbol == NULL)
        return cudaErrorMemoryAllocation;
    struct symbol **bucket = bucket_of(host);
    *symbol = (struct symbol){host, name, binary, kind, kernel, *bucket, binary->symbols};
    *bucket = binary->symbols = symbol;
    return cudaSuccess;
}

void runtime_symbol_add(struct runtime_binary *binary, enum runtime_symbol_kind kind, const void *host,
                        const char *name)
{
    (void)pthread_mutex_lock(&mutex);
    (void)add(binary, kind, host, name, NULL); /* the first use reports that it is missing */
    (void)pthread_mutex_unlock(&mutex);
}

cudaError_t runtime_library_add(CUlibrary library)
{
    struct runtime_binary *binary = runtime_binary_add(NULL);
    if (binary == NULL) {
        (void)DRIVER(cuLibraryUnload)(library);
        return runtime_error(cudaErrorMemoryAllocation);
    }
    binary->library = library;
    binary->tried = true;
    (void)pthread_mutex_lock(&mutex);
    binary->next_library = libraries;
    libraries = binary;
    (void)pthread_mutex_unlock(&mutex);
    return cudaSuccess;
}

/* The pointer in the list that leads to the binary of `library`, or to NULL. Called with the mutex held. */
static struct runtime_binary **library_place(CUlibrary library)
{
    struct runtime_binary **place = &libraries;
    while (*place != NULL && (*place)->library != library)
        place = &(*place)->next_library;
    return place;
}

cudaError_t runtime_library_remove(CUlibrary library)
{
    (void)pthread_mutex_lock(&mutex);
    struct runtime_binary **place = library_place(library);
    struct runtime_binary *binary = *place;
    if (binary != NULL)
        *place = binary->next_library;
    (void)pthread_mutex_unlock(&mutex);
    if (binary == NULL)
        return runtime_error(cudaErrorInvalidResourceHandle);
    runtime_binary_remove(binary);
    return cudaSuccess;
}

cudaError_t runtime_library_kernel_add(CUlibrary library, CUkernel kernel)
{
    cudaError_t error = cudaSuccess;
    (void)pthread_mutex_lock(&mutex);
    struct runtime_binary *binary = *library_place(library);
    if (binary != NULL && find(kernel, true) == NULL)
        error = add(binary, RUNTIME_KERNEL, kernel, NULL, kernel);
    (void)pthread_mutex_unlock(&mutex);
    return error == cudaSuccess ? cudaSuccess : runtime_error(error);
}

const void *runtime_host_kernel(CUfunction function)
{
    const void *host = NULL;
    CUfunction each;
    (void)pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < BUCKETS && host == NULL; i++)
        for (const struct symbol *symbol = buckets[i]; symbol != NULL && host == NULL; symbol = symbol->next)
            if (symbol->kind == RUNTIME_KERNEL && symbol->kernel != NULL &&
                DRIVER(cuKernelGetFunction)(&each, symbol->kernel) == CUDA_SUCCESS && each == function)
                host = symbol->host;
    (void)pthread_mutex_unlock(&mutex);
    return host;
}

static void forget(struct symbol *symbol)
{
    struct symbol **link = bucket_of(symbol->host);
    while (*link != symbol)
        link = &(*link)->next;
    *link = symbol->next;
    free(symbol);
}

void runtime_binary_remove(struct runtime_binary *binary)
{
    (void)pthread_mutex_lock(&mutex);
    for (struct symbol *symbol = binary->symbols, *next; symbol != NULL; symbol = next) {
        next = symbol->next_of_binary;
        forget(symbol);
    }
    (void)pthread_mutex_unlock(&mutex);
    if (binary->library != NULL)
        (void)DRIVER(cuLibraryUnload)(binary->library); /* the driver may already be gone at exit */
    free(binary);
}

/* Load the binary that contains `symbol`. Called with the mutex held. */
static CUresult load(const struct symbol *symbol)
{
    struct runtime_binary *binary = symbol->binary;
    if (binary->tried)
        return binary->result;
    char log[LOG_BYTES] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    struct runtime_image image;
    binary->result = runtime_image_open(binary->wrapper, &image);
    if (binary->result == CUDA_SUCCESS) {
        binary->result =
            DRIVER(cuLibraryLoadData)(&binary->library, image.data, options, values, 2, NULL, NULL, 0);
        runtime_image_close(&image);
    }
    binary->tried = true;
    log[sizeof log - 1] = '\0';
    if (binary->result != CUDA_SUCCESS) {
        binary->library = NULL;
        runtime_image_report_refusal(symbol->name, binary->result, log);
        return binary->result;
    }
    for (const struct symbol *each = binary->symbols; each != NULL; each = each->next_of_binary)
        if (each->kind == RUNTIME_MANAGED && binary->result == CUDA_SUCCESS)
            binary->result = runtime_image_managed(binary->library, each->name, each->host);
    return binary->result;
}

static CUresult kernel_of(struct symbol *symbol, CUkernel *kernel)
{
    CUresult result = CUDA_SUCCESS;
    if (symbol->kernel == NULL)
        result = load(symbol);
    if (result == CUDA_SUCCESS && symbol->kernel == NULL)
        result = DRIVER(cuLibraryGetKernel)(&symbol->kernel, symbol->binary->library, symbol->name);
    *kernel = symbol->kernel;
    return result == CUDA_ERROR_NOT_FOUND ? (CUresult)cudaErrorInvalidDeviceFunction : result;
}

cudaError_t runtime_kernel(const void *host, CUkernel *kernel)
{
    READY();
    (void)pthread_mutex_lock(&mutex);
    struct symbol *symbol = find(host, true);
    const CUresult result =
        symbol == NULL ? (CUresult)cudaErrorInvalidDeviceFunction : kernel_of(symbol, kernel);
    (void)pthread_mutex_unlock(&mutex);
    return runtime_result(result);
}

static CUresult find_global(const struct symbol *symbol, CUdeviceptr *address, size_t *bytes)
{
    CUresult result = load(symbol);
    if (result == CUDA_SUCCESS)
        result = symbol->kind == RUNTIME_MANAGED
                     ? DRIVER(cuLibraryGetManaged)(address, bytes, symbol->binary->library, symbol->name)
                     : DRIVER(cuLibraryGetGlobal)(address, bytes, symbol->binary->library, symbol->name);
    return result == CUDA_ERROR_NOT_FOUND ? (CUresult)cudaErrorInvalidSymbol : result;
}

cudaError_t runtime_global(const void *host, CUdeviceptr *address, size_t *bytes)
{
    READY();
    (void)pthread_mutex_lock(&mutex);
    const struct symbol *symbol = find(host, false);
    const CUresult result =
        symbol == NULL ? (CUresult)cudaErrorInvalidSymbol : find_global(symbol, address, bytes);
    (void)pthread_mutex_unlock(&mutex);
    return runtime_result(result);
}

cudaError_t runtime_set_managed_pointers(struct runtime_binary *binary)
{
    READY();
    CUresult result = CUDA_SUCCESS;
    (void)pthread_mutex_lock(&mutex);
    for (struct symbol *symbol = binary->symbols; symbol != NULL && result == CUDA_SUCCESS;
         symbol = symbol->next_of_binary) {
        CUdeviceptr address;
        size_t bytes;
        if (symbol->kind != RUNTIME_MANAGED)
            continue;
        result = find_global(symbol, &address, &bytes);
        if (result == CUDA_SUCCESS)
            memcpy((void *)(uintptr_t)symbol->host, &address, sizeof address);
    }
    (void)pthread_mutex_unlock(&mutex);
    return runtime_result(result);
}
