/* What every handle points to, and the set of handles that are valid now. */
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

/* First member of everything that a handle names. A handle is valid from publish to withdraw; the memory
 * lives on while queued work holds references. */
struct sim_object {
    enum sim_kind kind;
    atomic_uint references;
    struct sim_context *context; /* whose end is this object's end; NULL: none */
    void (*dispose)(struct sim_object *object);
};

/* One reference, the caller's. `dispose` frees the object when the last one is gone. */
void sim_object_init(struct sim_object *object, enum sim_kind kind, struct sim_context *context,
                     void (*dispose)(struct sim_object *object));
void *sim_object_retain(void *object);
void sim_object_release(void *object);

/* False if there is no memory for the set. */
bool sim_object_publish(void *object);

/* True for the one caller that took the handle out; the publisher's reference is then that caller's. */
bool sim_object_withdraw(const void *handle, enum sim_kind kind);

/* The object, or NULL if the handle is not valid or of another kind. No reference is taken: to use a handle
 * while another thread destroys it is the program's error, as with a GPU's driver. */
void *sim_object_find(const void *handle, enum sim_kind kind);

/* Any valid object of that kind that belongs to `context`, withdrawn, or NULL if there is none left. */
void *sim_object_withdraw_any(enum sim_kind kind, const struct sim_context *context);

#endif
