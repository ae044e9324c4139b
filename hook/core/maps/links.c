#include "core/maps/links.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/image/sha256.h"
#include "core/ring/session.h"

enum { DIGEST_BYTES = 32 };

struct link {
    struct link *next;
    uint64_t state; /* 0: destroyed */
    struct nb_link_input input;
    unsigned inputs;
    bool has_product;
    uint8_t product[DIGEST_BYTES]; /* its digest: the supervisor frees stored images that are unloaded */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects what follows */
static struct link *links;

static struct link *find_state(uint64_t state)
{
    struct link *link = links;
    while (link != NULL && link->state != state)
        link = link->next;
    return link;
}

static struct link *find_product(const uint8_t *digest)
{
    struct link *link = links;
    while (link != NULL && (!link->has_product || memcmp(link->product, digest, DIGEST_BYTES) != 0))
        link = link->next;
    return link;
}

static struct link *keep(uint64_t state, const void *text, uint64_t bytes)
{
    const uint64_t at = nb_session_store_image(text, bytes);
    struct link *link = at != UINT64_MAX ? calloc(1, sizeof *link) : NULL;
    if (link == NULL)
        return NULL;
    link->state = state;
    link->input = (struct nb_link_input){(const char *)nb_session() + nb_session()->image_offset + at, bytes};
    return link;
}

void nb_links_add(uint64_t state, const void *text, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    struct link *link = find_state(state);
    if (link == NULL && (link = keep(state, text, bytes)) != NULL) {
        link->next = links;
        links = link;
    }
    if (link != NULL)
        link->inputs++;
    pthread_mutex_unlock(&lock);
}

void nb_links_complete(uint64_t state, const void *product, uint64_t bytes)
{
    pthread_mutex_lock(&lock);
    struct link *link = find_state(state);
    if (link != NULL && link->inputs == 1) {
        nb_sha256(product, bytes, link->product);
        link->has_product = true;
    }
    pthread_mutex_unlock(&lock);
}

void nb_links_destroy(uint64_t state)
{
    pthread_mutex_lock(&lock);
    struct link **place = &links;
    while (*place != NULL && (*place)->state != state)
        place = &(*place)->next;
    struct link *link = *place;
    if (link != NULL && link->has_product) {
        link->state = 0; /* the driver may give the handle out again */
    } else if (link != NULL) {
        *place = link->next;
        free(link);
    }
    pthread_mutex_unlock(&lock);
}

struct nb_link_input nb_links_find(const void *image, uint64_t bytes)
{
    struct nb_link_input input = {NULL, 0};
    pthread_mutex_lock(&lock);
    if (links != NULL) {
        uint8_t digest[DIGEST_BYTES];
        nb_sha256(image, bytes, digest);
        const struct link *link = find_product(digest);
        input = link != NULL ? link->input : input;
    }
    pthread_mutex_unlock(&lock);
    return input;
}

static void forget(void)
{
    links = NULL; /* the child's driver has none of the parent's states */
}

const struct nb_component nb_links_component = {.locks = {&lock}, .forget = forget};
