#include "replay/state/vault.h"

#include <stdlib.h>

#include "replay/base/engine.h"

enum { ALIGNMENT = 256 };

static uint64_t aligned(uint64_t bytes, uint64_t to)
{
    return (bytes + to - 1) / to * to;
}

static int map_piece(struct nb_replay *replay, struct nb_vault_piece *piece)
{
    const CUmemAccessDesc access = {replay->memory.physical.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (piece->mapped)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuMemMap, piece->address, (size_t)piece->bytes, 0, piece->handle, 0));
    piece->mapped = true;
    return NB_CALL(replay, cuMemSetAccess, piece->address, (size_t)piece->bytes, &access, 1);
}

static int unmap_piece(struct nb_replay *replay, struct nb_vault_piece *piece)
{
    if (!piece->mapped)
        return NB_REPLAY_OK;
    NB_TRY(NB_CALL(replay, cuMemUnmap, piece->address, (size_t)piece->bytes));
    piece->mapped = false;
    return NB_REPLAY_OK;
}

static int make_piece(struct nb_replay *replay, struct nb_vault_piece *piece)
{
    const CUmemAllocationProp *physical = &replay->memory.physical;
    const uint64_t granule = replay->memory.granule;
    NB_TRY(
        NB_CALL(replay, cuMemAddressReserve, &piece->address, (size_t)piece->bytes, (size_t)granule, 0, 0));
    NB_TRY(NB_CALL(replay, cuMemCreate, &piece->handle, (size_t)piece->bytes, physical, 0));
    piece->created = true;
    return map_piece(replay, piece);
}

int nb_vault_reserve(struct nb_replay *replay, uint64_t bytes)
{
    struct nb_vault *vault = &replay->vault;
    if (bytes == 0)
        return NB_REPLAY_OK;
    if (bytes > UINT64_MAX - replay->memory.granule)
        return nb_fail(replay, NB_REPLAY_CANNOT, "inputs of %llu bytes do not fit the address space",
                       (unsigned long long)bytes);
    if (vault->count == vault->room) {
        const uint32_t room = vault->room == 0 ? 8 : 2 * vault->room;
        struct nb_vault_piece *grown = realloc(vault->pieces, room * sizeof *grown);
        if (grown == NULL)
            return nb_fail(replay, NB_REPLAY_CANNOT, "out of host memory");
        vault->pieces = grown;
        vault->room = room;
    }
    struct nb_vault_piece *piece = &vault->pieces[vault->count++];
    *piece = (struct nb_vault_piece){.bytes = aligned(bytes, replay->memory.granule)};
    return make_piece(replay, piece);
}

int nb_vault_take(struct nb_replay *replay, uint64_t bytes, CUdeviceptr *address)
{
    struct nb_vault *vault = &replay->vault;
    if (vault->count == 0 ||
        bytes > vault->pieces[vault->count - 1].bytes - vault->pieces[vault->count - 1].used)
        NB_TRY(nb_vault_reserve(replay, bytes));
    struct nb_vault_piece *piece = &vault->pieces[vault->count - 1];
    *address = piece->address + piece->used;
    const uint64_t end = piece->used + aligned(bytes, ALIGNMENT);
    piece->used = end < piece->bytes ? end : piece->bytes;
    return NB_REPLAY_OK;
}

int nb_vault_open(struct nb_replay *replay)
{
    struct nb_vault *vault = &replay->vault;
    const uint64_t began = replay->driver.now_ns();
    for (uint32_t i = 0; i < vault->count; i++)
        NB_TRY(map_piece(replay, &vault->pieces[i]));
    vault->spent_ns += replay->driver.now_ns() - began;
    return NB_REPLAY_OK;
}

int nb_vault_close(struct nb_replay *replay)
{
    struct nb_vault *vault = &replay->vault;
    if (replay->options.guard == 0)
        return NB_REPLAY_OK;
    NB_TRY(nb_wait(replay, replay->streams.timed, NB_OWN_WORK_MS, "restoring the state"));
    const uint64_t began = replay->driver.now_ns();
    for (uint32_t i = 0; i < vault->count; i++)
        NB_TRY(unmap_piece(replay, &vault->pieces[i]));
    vault->spent_ns += replay->driver.now_ns() - began;
    return NB_REPLAY_OK;
}

void nb_vault_free(struct nb_replay *replay)
{
    struct nb_vault *vault = &replay->vault;
    for (uint32_t i = 0; replay->gone == NB_REPLAY_OK && i < vault->count; i++) {
        struct nb_vault_piece *piece = &vault->pieces[i];
        (void)unmap_piece(replay, piece);
        if (piece->created)
            replay->driver.cuMemRelease(piece->handle);
        if (piece->address != 0)
            replay->driver.cuMemAddressFree(piece->address, (size_t)piece->bytes);
    }
    free(vault->pieces);
}
