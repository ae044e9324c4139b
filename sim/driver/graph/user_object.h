/* User objects: data of the program that graphs and the program keep alive by references. */
#ifndef NEUTRINO_SIM_USER_OBJECT_H
#define NEUTRINO_SIM_USER_OBJECT_H

#include "driver/core/api.h"

/* A graph's references. */
struct sim_user_reference;

CUresult sim_user_copy_all(struct sim_user_reference **to, const struct sim_user_reference *from);
/* cuGraphRetainUserObject and cuGraphReleaseUserObject for a graph's references. */
CUresult sim_user_graph_retain(struct sim_user_reference **references, CUuserObject object, unsigned count,
                               unsigned flags);
CUresult sim_user_graph_release(struct sim_user_reference **references, CUuserObject object, unsigned count);

void sim_user_release_all(struct sim_user_reference **references);

#endif
