/* Gives a crew copies of many sizes, and ends with 1 if one was not made, or not when it was said to be. */
#include "crew.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, ROUNDS = 200, COPIES = 3 * NB_CREW_COPIES + 1 };

static unsigned char from[NB_CREW_COPIES][BYTES], to[COPIES][BYTES];

static int round_of(struct nb_crew *crew, int seed)
{
    const int count = seed % COPIES;
    size_t sizes[COPIES];
    memset(to, 0xff, sizeof to);
    for (int i = 0; i < count; i++) {
        const uint64_t number = nb_crew_next(crew);
        unsigned char *piece = from[number % NB_CREW_COPIES];
        sizes[i] = (size_t)(seed * 7919 + i * 104729) % BYTES;
        nb_crew_make_room(crew, number); /* or it would be read while it is written to */
        memset(piece, (i + seed) % 255, BYTES);
        nb_crew_give(crew, &(struct nb_crew_copy){to[i], i % 5 == 4 ? NULL : piece, sizes[i]});
    }
    nb_crew_settle(crew);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < BYTES; k++)
            if (to[i][k] != (k >= sizes[i] ? 0xff : i % 5 == 4 ? 0 : (i + seed) % 255))
                return 1;
    return 0;
}

int main(void)
{
    struct nb_crew crew;
    memset(&crew, 0, sizeof crew);
    nb_crew_start(&crew);
    int wrong = 0;
    for (int seed = 0; seed < ROUNDS; seed++)
        wrong |= round_of(&crew, seed);
    nb_crew_dismiss(&crew);
    return wrong;
}
