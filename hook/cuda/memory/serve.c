#include "cuda/memory/serve.h"

#include "cuda/memory/arena.h"
#include "cuda/memory/pending.h"

CUresult nb_memory_serve(struct nb_arena_block *block)
{
    block->kind = NB_ARENA_MEMORY;
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    for (int attempt = 0; attempt < 2 && result == CUDA_ERROR_OUT_OF_MEMORY; attempt++) {
        if (attempt != 0)
            nb_memory_reap(true);
        result = nb_memory_map_block(block);
    }
    if (result == CUDA_SUCCESS && !nb_arena_add(block)) {
        nb_memory_give_back(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return result;
}
