/* Deliberate mistakes, one for each sanitizer, which the sanitizers must report. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int shared;

static void *write_unguarded(void *unused)
{
    for (int i = 0; i < 1000; i++)
        shared += 1;
    return unused;
}

static int race(void)
{
    pthread_t first, second;
    pthread_create(&first, NULL, write_unguarded, NULL);
    pthread_create(&second, NULL, write_unguarded, NULL);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}

static int read_past_the_end(size_t count)
{
    volatile char *const bytes = calloc(count, 1);
    return bytes[count];
}

static int shift_too_far(int by)
{
    return 1 << by;
}

int main(int argc, char **argv)
{
    const char *const what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "race") == 0)
        return race();
    if (strcmp(what, "address") == 0)
        return read_past_the_end((size_t)argc);
    if (strcmp(what, "undefined") == 0)
        return shift_too_far(38 + argc) & 0;
    return 2;
}
