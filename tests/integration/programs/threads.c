/* threads COUNT LAUNCHES: each thread loads its own module and launches on it. */
#include <pthread.h>

#include "scale.h"

static const struct driver driver = SCALE_LINKED;
static int launches;

static void *run(void *context)
{
    CHECK(driver.set_current(context));
    scale_run(&driver, launches);
    return NULL;
}

int main(int argc, char **argv)
{
    enum { MOST = 256 };
    pthread_t threads[MOST];
    const int count = argc > 1 ? atoi(argv[1]) : 4;
    launches = argc > 2 ? atoi(argv[2]) : 5;
    CUcontext context;
    CHECK(driver.init(0));
    CHECK(driver.retain(&context, 0));
    for (int i = 0; i < count && i < MOST; i++)
        pthread_create(&threads[i], NULL, run, context);
    for (int i = 0; i < count && i < MOST; i++)
        pthread_join(threads[i], NULL);
    puts("right");
    return 0;
}
