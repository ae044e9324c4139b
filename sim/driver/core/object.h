/* Objects with handles, and the set of valid handles. */
#ifndef NEUTRINO_SIM_OBJECT_H
#define NEUTRINO_SIM_OBJECT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct sim_context;

enum sim_kind {
    SIM_CONTEXT,
    SIM_STREAM,
    SIM_EVENT,
    SIM_MODULE,
    SIM_FUNCTION,
    SIM_LIBRARY,
    SIM_KERNEL,
    SIM_LINK,
    SIM_POOL,
    SIM_PHYSICAL,
    SIM_ARRAY,
    SIM_MIPMAPPED_ARRAY,
    SIM_TEXTURE,
    SIM_SURFACE,
    SIM_GRAPH,
    SIM_GRAPH_NODE,
    SIM_GRAPH_EXEC,
    SIM_GREEN,
    SIM_DESCRIPTION,
    SIM_USER_OBJECT
};

/* First member of every struct that a handle names. A handle is valid from publish to withdraw. Queued work
 * holds references that keep the memory alive. */
struct sim_object {
    enum sim_kind kind;
    atomic_uint references;
    struct sim_context *context; /* NULL: belongs to no context */
    void (*dispose)(struct sim_object *object);
    void (*end)(void *object); /* releases the publisher's reference when the context ends; NULL: the object
                                  outlives its context */
};

/* The caller gets the only reference. `dispose` frees the object after the last release. */
void sim_object_init(struct sim_object *object, enum sim_kind kind, struct sim_context *context,
                     void (*dispose)(struct sim_object *object));
void *sim_object_retain(void *object);
void sim_object_release(void *object);

/* Make the handle valid. False: out of memory. */
bool sim_object_publish(void *object);

/* Make the handle invalid. True for the one caller that withdrew it, who then owns the publisher's
 * reference. */
bool sim_object_withdraw(const void *handle, enum sim_kind kind);

/* NULL if the handle is invalid or of another kind. Takes no reference: destroying a handle while another
 * thread uses it is an error of the program, as on a GPU. */
void *sim_object_find(const void *handle, enum sim_kind kind);

/* The same, with a reference for the caller: for threads that run while the program destroys handles. */
void *sim_object_acquire(const void *handle, enum sim_kind kind);

/* Withdraw and end every object of `context` that has an `end`. */
void sim_object_end_all(const struct sim_context *context);

#endif
