/* One row per GPU. Limits by compute capability are those of the CUDA C++ Programming Guide's table
 * "Technical Specifications per Compute Capability", and of cuda_occupancy.h. Other figures, and where they
 * were read:
 *
 *   t4      deviceQuery, chiemon.github.io/2024/12/25
 *   a100    SXM4 40 GB: deviceQuery, upb-pc2.atlassian.net PC2DOK "NVIDIA A100 40GB with NVLINK"
 *   l4      nvidia-smi's clocks, data sheet; memory as PyTorch reports it (22.17 GiB)
 *   rtx4090 nvbench, github.com/NVIDIA/nvbench/pull/207
 *   h100    SXM5 80 GB: architecture white paper; memory as PyTorch reports it (79.10 GiB)
 *   h200    every attribute asked of an NVIDIA H200 with driver 580.159
 *   b200    github.com/pytorch/ao/pull/4002, Blackwell Tuning Guide
 *   rtx5090 deviceQuery, github.com/aikitoria/open-gpu-kernel-modules/issues/1
 *
 * The default models no real GPU. It is small, so that one block per multiprocessor is little work for a CPU.
 */
#include "driver/device/model.h"

#include "driver/core/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KIB 1024
#define MIB (1024 * 1024)

/* Compute capability 9.0 and 10.0. */
#define DATA_CENTRE_SHARED                                                                                   \
    .sm_threads = 2048, .sm_blocks = 32, .sm_shared = 228 * KIB, .block_shared_optin = 227 * KIB,            \
    .block_shared_reserved = KIB
/* Compute capability 8.9 and 12.0. */
#define GRAPHICS_SHARED                                                                                      \
    .sm_threads = 1536, .sm_blocks = 24, .sm_shared = 100 * KIB, .block_shared_optin = 99 * KIB,             \
    .block_shared_reserved = KIB

/* Multiprocessors per graphics processing cluster are not documented. These match an H200's occupancy of
 * thread block clusters. For other models only the sum is known. */
#define HOPPER_GROUPS 18, 18, 18, 16, 16, 16, 16, 14

static const struct sim_model models[] = {
    {.key = "small",
     .name = "Neutrino CPU sm_90",
     .major = 9,
     .multiprocessors = 16,
     .groups = {16},
     .memory_bytes = 8ull << 30,
     DATA_CENTRE_SHARED,
     .clock_khz = 1000000,
     .memory_clock_khz = 1000000,
     .bus_bits = 128,
     .l2_bytes = 8 * MIB,
     .l2_persisting_bytes = 5 * MIB,
     .single_to_double = 2,
     .copy_engines = 2},
    {.key = "t4",
     .name = "Tesla T4",
     .major = 7,
     .minor = 5,
     .multiprocessors = 40,
     .memory_bytes = 15843721216,
     .sm_threads = 1024,
     .sm_blocks = 16,
     .sm_shared = 64 * KIB,
     .block_shared_optin = 64 * KIB,
     .clock_khz = 1590000,
     .memory_clock_khz = 5001000,
     .bus_bits = 256,
     .l2_bytes = 4 * MIB,
     .single_to_double = 32,
     .copy_engines = 3,
     .ecc = 1,
     .pci_device = 0x1eb810de},
    {.key = "a100",
     .name = "NVIDIA A100-SXM4-40GB",
     .major = 8,
     .multiprocessors = 108,
     .memory_bytes = 42405855232,
     .sm_threads = 2048,
     .sm_blocks = 32,
     .sm_shared = 164 * KIB,
     .block_shared_optin = 163 * KIB,
     .block_shared_reserved = KIB,
     .clock_khz = 1410000,
     .memory_clock_khz = 1215000,
     .bus_bits = 5120,
     .l2_bytes = 40 * MIB,
     .l2_persisting_bytes = 30 * MIB,
     .single_to_double = 2,
     .copy_engines = 3,
     .ecc = 1,
     .pci_device = 0x20b010de},
    {.key = "l4",
     .name = "NVIDIA L4",
     .major = 8,
     .minor = 9,
     .multiprocessors = 58,
     .memory_bytes = 11350ull * 2 * MIB,
     GRAPHICS_SHARED,
     .clock_khz = 2040000,
     .memory_clock_khz = 6251000,
     .bus_bits = 192,
     .l2_bytes = 48 * MIB,
     .l2_persisting_bytes = 33 * MIB,
     .single_to_double = 64,
     .copy_engines = 2,
     .ecc = 1,
     .pci_device = 0x27b810de},
    {.key = "rtx4090",
     .name = "NVIDIA GeForce RTX 4090",
     .major = 8,
     .minor = 9,
     .multiprocessors = 128,
     .memory_bytes = 24563ull * MIB,
     GRAPHICS_SHARED,
     .clock_khz = 2520000,
     .memory_clock_khz = 10501000,
     .bus_bits = 384,
     .l2_bytes = 72 * MIB,
     .l2_persisting_bytes = 49 * MIB + 512 * KIB,
     .single_to_double = 64,
     .copy_engines = 2,
     .pci_device = 0x268410de},
    {.key = "h100",
     .name = "NVIDIA H100 80GB HBM3",
     .major = 9,
     .multiprocessors = 132,
     .groups = {HOPPER_GROUPS},
     .memory_bytes = 40500ull * 2 * MIB,
     DATA_CENTRE_SHARED,
     .clock_khz = 1980000,
     .memory_clock_khz = 2619000,
     .bus_bits = 5120,
     .l2_bytes = 50 * MIB,
     .l2_persisting_bytes = 32000 * KIB,
     .single_to_double = 2,
     .copy_engines = 3,
     .ecc = 1,
     .pci_device = 0x233010de},
    {.key = "h200",
     .name = "NVIDIA H200",
     .major = 9,
     .multiprocessors = 132,
     .groups = {HOPPER_GROUPS},
     .memory_bytes = 150109880320,
     DATA_CENTRE_SHARED,
     .clock_khz = 1980000,
     .memory_clock_khz = 3201000,
     .bus_bits = 6016,
     .l2_bytes = 60 * MIB,
     .l2_persisting_bytes = 38400 * KIB,
     .single_to_double = 2,
     .copy_engines = 3,
     .ecc = 1,
     .pci_device = 0x233510de},
    {.key = "b200",
     .name = "NVIDIA B200",
     .major = 10,
     .multiprocessors = 148,
     .groups = {20, 20, 18, 18, 18, 18, 18, 18},
     .memory_bytes = 91315ull * 2 * MIB,
     DATA_CENTRE_SHARED,
     .clock_khz = 1965000,
     .memory_clock_khz = 3996000,
     .bus_bits = 7680,
     .l2_bytes = 126 * MIB + 512 * KIB,
     .l2_persisting_bytes = 79 * MIB,
     .single_to_double = 2,
     .copy_engines = 4,
     .ecc = 1,
     .pci_device = 0x290110de},
    {.key = "rtx5090",
     .name = "NVIDIA GeForce RTX 5090",
     .major = 12,
     .multiprocessors = 170,
     .groups = {16, 16, 16, 14, 14, 14, 14, 14, 14, 14, 14, 10},
     .memory_bytes = 33677180928,
     GRAPHICS_SHARED,
     .clock_khz = 2655000,
     .memory_clock_khz = 14001000,
     .bus_bits = 512,
     .l2_bytes = 96 * MIB,
     .l2_persisting_bytes = 60 * MIB,
     .single_to_double = 64,
     .copy_engines = 2,
     .pci_device = 0x2b8510de},
};

static const struct sim_model *chosen = models;

static void refuse(const char *name)
{
    char names[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, " %s", models[i].key);
    sim_print("SIM_GPU=%.64s: unknown model; use one of:%s", name, names);
}

CUresult sim_model_select(void)
{
    const char *name = getenv("SIM_GPU");
    if (name == NULL || *name == '\0')
        return CUDA_SUCCESS;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcasecmp(models[i].key, name) == 0) {
            chosen = &models[i];
            return CUDA_SUCCESS;
        }
    refuse(name);
    return CUDA_ERROR_INVALID_DEVICE;
}

const struct sim_model *sim_model(void)
{
    return chosen;
}

unsigned sim_model_target(void)
{
    return (unsigned)(chosen->major * 10 + chosen->minor);
}
