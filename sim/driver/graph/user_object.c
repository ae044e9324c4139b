#include "driver/graph/user_object.h"

#include "driver/core/object.h"
#include "driver/core/state.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct sim_user_object {
    struct sim_object object;
    struct sim_user_object *next; /* in the queue of destructors */
    void *data;
    CUhostFn destroy;
    atomic_ullong held; /* references of the program and of graphs */
};

struct sim_user_reference {
    struct sim_user_reference *next;
    struct sim_user_object *object;
    unsigned long long count;
};

/* Destructors run on a thread of the driver, as documented. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct sim_user_object *first;
    bool started;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void *destroyer(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&queue.lock);
        while (queue.first == NULL)
            pthread_cond_wait(&queue.changed, &queue.lock);
        struct sim_user_object *object = queue.first;
        queue.first = object->next;
        pthread_mutex_unlock(&queue.lock);
        object->destroy(object->data);
        sim_object_release(object);
    }
    return NULL;
}

static bool start(void)
{
    sigset_t all;
    sigset_t previous;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &previous);
    const bool started = pthread_create(&thread, NULL, destroyer, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &previous, NULL);
    if (started)
        pthread_detach(thread);
    return started;
}

static void dispose(struct sim_object *object)
{
    free(object);
}

static void drop(struct sim_user_object *object, unsigned long long count)
{
    if (atomic_fetch_sub(&object->held, count) != count)
        return;
    (void)sim_object_withdraw(object, SIM_USER_OBJECT);
    pthread_mutex_lock(&queue.lock);
    struct sim_user_object **last = &queue.first;
    while (*last != NULL)
        last = &(*last)->next;
    *last = object;
    object->next = NULL;
    pthread_cond_signal(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

/* Called before the first object is made, so that the last release cannot fail. */
static bool prepare(void)
{
    pthread_mutex_lock(&queue.lock);
    if (!queue.started)
        queue.started = start();
    const bool ready = queue.started;
    pthread_mutex_unlock(&queue.lock);
    return ready;
}

static bool is_count(unsigned count)
{
    return count != 0 && count <= INT_MAX;
}

static CUresult find(CUuserObject handle, unsigned count, struct sim_user_object **object)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    *object = sim_object_find(handle, SIM_USER_OBJECT);
    return *object == NULL || !is_count(count) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuUserObjectCreate(CUuserObject *object_out, void *ptr, CUhostFn destroy,
                            unsigned int initialRefcount, unsigned int flags)
{
    const CUresult result = sim_check_initialized();
    if (result != CUDA_SUCCESS)
        return result;
    if (object_out == NULL || destroy == NULL || initialRefcount == 0 ||
        flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct sim_user_object *object = calloc(1, sizeof(*object));
    if (object == NULL || !prepare()) {
        free(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_object_init(&object->object, SIM_USER_OBJECT, NULL, dispose);
    object->data = ptr;
    object->destroy = destroy;
    atomic_store(&object->held, initialRefcount);
    if (!sim_object_publish(object)) {
        sim_object_release(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *object_out = (CUuserObject)object;
    return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned int count)
{
    struct sim_user_object *self;
    const CUresult result = find(object, count, &self);
    if (result == CUDA_SUCCESS)
        atomic_fetch_add(&self->held, count);
    return result;
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned int count)
{
    struct sim_user_object *self;
    const CUresult result = find(object, count, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > atomic_load(&self->held))
        return CUDA_ERROR_INVALID_VALUE;
    drop(self, count);
    return CUDA_SUCCESS;
}

static CUresult refer(struct sim_user_reference **references, struct sim_user_object *object,
                      unsigned long long count)
{
    struct sim_user_reference *reference = *references;
    while (reference != NULL && reference->object != object)
        reference = reference->next;
    if (reference == NULL) {
        reference = calloc(1, sizeof(*reference));
        if (reference == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *reference = (struct sim_user_reference){.next = *references, .object = object};
        *references = reference;
    }
    reference->count += count;
    return CUDA_SUCCESS;
}

CUresult sim_user_copy_all(struct sim_user_reference **to, const struct sim_user_reference *from)
{
    for (; from != NULL; from = from->next) {
        const CUresult result = refer(to, from->object, from->count);
        if (result != CUDA_SUCCESS)
            return result;
        atomic_fetch_add(&from->object->held, from->count);
    }
    return CUDA_SUCCESS;
}

void sim_user_release_all(struct sim_user_reference **references)
{
    while (*references != NULL) {
        struct sim_user_reference *first = *references;
        *references = first->next;
        drop(first->object, first->count);
        free(first);
    }
}

CUresult sim_user_graph_retain(struct sim_user_reference **references, CUuserObject object, unsigned count,
                               unsigned flags)
{
    struct sim_user_object *self;
    CUresult result = find(object, count, &self);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = refer(references, self, count);
    if (result == CUDA_SUCCESS && flags == 0)
        atomic_fetch_add(&self->held, count);
    return result;
}

CUresult sim_user_graph_release(struct sim_user_reference **references, CUuserObject object, unsigned count)
{
    struct sim_user_object *self;
    const CUresult result = find(object, count, &self);
    if (result != CUDA_SUCCESS)
        return result;
    struct sim_user_reference **link = references;
    while (*link != NULL && (*link)->object != self)
        link = &(*link)->next;
    struct sim_user_reference *reference = *link;
    if (reference == NULL)
        return CUDA_SUCCESS; /* releasing more than the graph has is not an error (driver 580) */
    const unsigned long long released = count < reference->count ? count : reference->count;
    reference->count -= released;
    if (reference->count == 0) {
        *link = reference->next;
        free(reference);
    }
    drop(self, released);
    return CUDA_SUCCESS;
}
