/* libzstd.so.1 taken over by the capture it reads: what then happens is chosen by HOSTILE_ZSTD. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static char doing[16];

EXPORT void *ZSTD_createDCtx(void)
{
    const char *chosen = getenv("HOSTILE_ZSTD");
    strncpy(doing, chosen != NULL ? chosen : "", sizeof doing - 1);
    return doing;
}

EXPORT size_t ZSTD_freeDCtx(void *context)
{
    (void)context;
    return 0;
}

EXPORT unsigned ZSTD_isError(size_t result)
{
    return result > SIZE_MAX - 100;
}

EXPORT size_t ZSTD_findFrameCompressedSize(const void *from, size_t bytes)
{
    (void)from;
    return bytes;
}

EXPORT unsigned long long ZSTD_getFrameContentSize(const void *from, size_t bytes)
{
    (void)from, (void)bytes;
    return 1 << 16;
}

static void write_everywhere(void)
{
    static const char forged[] = "forged\n";
    for (int descriptor = 0; descriptor < 64; descriptor++)
        (void)!write(descriptor, forged, sizeof forged - 1);
}

EXPORT size_t ZSTD_decompressDCtx(void *context, void *to, size_t room, const void *from, size_t bytes)
{
    (void)context, (void)to;
    if (strcmp(doing, "call") == 0)
        (void)syscall(SYS_getpid);
    else if (strcmp(doing, "open") == 0)
        (void)open("/etc/passwd", O_RDONLY);
    else if (strcmp(doing, "end") == 0)
        (void)syscall(SYS_exit, 0); /* as if all were done */
    else if (strcmp(doing, "crash") == 0)
        *(volatile char *)1 = 0;
    else if (strcmp(doing, "write") == 0)
        write_everywhere();
    else if (strcmp(doing, "spin") == 0)
        for (volatile int forever = 1; forever;)
            ;
    else if (strcmp(doing, "wait") == 0)
        for (uint64_t i = 0; i < UINT64_C(10000000000); i++) /* until someone truncated the file */
            (void)((const volatile char *)from)[bytes - 1];
    memset(to, 0, room);
    return room;
}
