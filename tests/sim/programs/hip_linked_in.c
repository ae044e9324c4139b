/* Launches a kernel that is linked in, by its handle: in a stream, and in a graph; reads and writes a
 * variable of its code. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct dim3 {
    uint32_t x, y, z;
};
struct kernel_node {
    struct dim3 block;
    void **extra;
    const void *function;
    struct dim3 grid;
    void **parameters;
    unsigned shared;
};

int hipMalloc(void **to, size_t bytes);
int hipMemcpy(void *to, const void *from, size_t bytes, int kind);
int hipDeviceSynchronize(void);
int hipLaunchKernel(const void *function, struct dim3 grid, struct dim3 block, void **arguments,
                    size_t shared, void *stream);
int hipMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int hipMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int hipGraphCreate(void **graph, unsigned flags);
int hipGraphAddKernelNode(void **node, void *graph, void *const *after, size_t count,
                          const struct kernel_node *);
int hipGraphAddMemcpyNodeToSymbol(void **node, void *graph, void *const *after, size_t count,
                                  const void *symbol, const void *from, size_t bytes, size_t offset,
                                  int kind);
int hipGraphAddMemcpyNodeFromSymbol(void **node, void *graph, void *const *after, size_t count, void *to,
                                    const void *symbol, size_t bytes, size_t offset, int kind);
int hipGraphInstantiate(void **executable, void *graph, void **error, char *log, size_t bytes);
int hipGraphLaunch(void *executable, void *stream);

extern const void *const store;
extern unsigned char counter[4];

enum { TO_DEVICE = 1, TO_HOST = 2 };

#define CALL(function, ...)                                                                                  \
    do {                                                                                                     \
        const int result = function(__VA_ARGS__);                                                            \
        if (result != 0) {                                                                                   \
            (void)fprintf(stderr, #function " returned %d\n", result);                                       \
            exit(1);                                                                                         \
        }                                                                                                    \
    } while (0)

static uint32_t word(const void *at)
{
    uint32_t value;
    CALL(hipDeviceSynchronize);
    CALL(hipMemcpy, &value, at, sizeof value, TO_HOST);
    return value;
}

int main(void)
{
    const struct dim3 one = {1, 1, 1};
    uint32_t value = 5, nine = 9, eleven = 11, found, then = 0, last = 0;
    void *memory, *graph, *executable, *nodes[3];
    CALL(hipMalloc, &memory, 4);
    void *arguments[] = {&memory, &value};
    CALL(hipLaunchKernel, &store, one, one, arguments, 0, NULL);
    const uint32_t launched = word(memory);

    value = 6;
    CALL(hipGraphCreate, &graph, 0);
    CALL(hipGraphAddKernelNode, &nodes[0], graph, NULL, 0,
         &(struct kernel_node){.block = one, .function = &store, .grid = one, .parameters = arguments});
    CALL(hipGraphAddMemcpyNodeToSymbol, &nodes[1], graph, nodes, 1, counter, &nine, 4, 0, TO_DEVICE);
    CALL(hipGraphAddMemcpyNodeFromSymbol, &nodes[2], graph, nodes + 1, 1, &then, counter, 4, 0, TO_HOST);
    CALL(hipMemcpyFromSymbol, &found, counter, 4, 0, TO_HOST);
    CALL(hipGraphInstantiate, &executable, graph, NULL, NULL, 0);
    CALL(hipGraphLaunch, executable, NULL);
    const uint32_t in_graph = word(memory);
    CALL(hipMemcpyToSymbol, counter, &eleven, 4, 0, TO_DEVICE);
    CALL(hipMemcpyFromSymbol, &last, counter, 4, 0, TO_HOST);
    (void)printf("launched %u, in a graph %u, counter %u, then %u and %u\n", launched, in_graph, found, then,
                 last);
    return 0;
}
