/* User objects: the program's own data, kept as long as graphs and the program refer to it. */
#ifndef NEUTRINO_SIM_USER_OBJECT_H
#define NEUTRINO_SIM_USER_OBJECT_H

#include "driver/core/api.h"

/* References that a graph owns. */
struct sim_user_reference;

CUresult sim_user_copy_all(struct sim_user_reference **to, const struct sim_user_reference *from);
/* cuGraphRetainUserObject and cuGraphReleaseUserObject, for the graph whose references these are. */
CUresult sim_user_graph_retain(struct sim_user_reference **references, CUuserObject object, unsigned count,
                               unsigned flags);
CUresult sim_user_graph_release(struct sim_user_reference **references, CUuserObject object, unsigned count);

void sim_user_release_all(struct sim_user_reference **references);

#endif
