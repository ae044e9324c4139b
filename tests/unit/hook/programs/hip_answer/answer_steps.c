/* answer_steps LAST RESULT: a driver's last error before a hook answers the program, what the hook answers,
 * and the driver's last error then. */
#include <stdio.h>
#include <stdlib.h>

#include "core/driver/slots.h"
#include "hip/hooks/answer.h"
#include "real.h"
#include "surface.h"

static hipError_t last;

static hipError_t get_last(void)
{
    const hipError_t error = last;
    last = hipSuccess;
    return error;
}

static hipError_t peek(void)
{
    return last;
}

static hipError_t allocate(void **address, size_t bytes)
{
    (void)bytes; /* out of memory */
    return last = address == NULL ? hipErrorInvalidValue : hipErrorOutOfMemory;
}

static hipError_t nothing_to_free(void *address)
{
    printf("freed %p\n", address);
    return last = hipErrorInvalidValue;
}

void *nb_slots[] = {(void *)get_last, (void *)peek, (void *)allocate, (void *)nothing_to_free};

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    last = (hipError_t)atoi(argv[1]);
    const int answer = (int)nb_hip_answer((CUresult)atoi(argv[2]));
    printf("%d %d\n", answer, (int)last);
    return 0;
}
