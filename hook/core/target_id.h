/* AMD's names of what code is for (LLVM, "User Guide for AMDGPU Backend", "Target ID"): a processor and,
 * where it matters to the code, whether features of it are on: "gfx90a:sramecc+:xnack-". */
#ifndef NEUTRINO_TARGET_ID_H
#define NEUTRINO_TARGET_ID_H

#include "view.h"

/* May the code of a bundle's entry with this id ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-") run on `target`?
 * -1 if not, else how many features it asks for: code that asks for more goes before code that asks for
 * fewer. */
int nb_target_fits(struct nb_view id, const char *target) __attribute__((visibility("hidden")));

#endif
