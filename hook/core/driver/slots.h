/* The driver's functions: one slot for each export, in the order of the driver's symbol table.
 *
 * The arrays are generated (surface.c, surface.S); `NB_SLOT_<name>` is in the generated surface.h. */
#ifndef NEUTRINO_SLOTS_H
#define NEUTRINO_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define NB_HIDDEN __attribute__((visibility("hidden")))

extern const unsigned nb_export_count NB_HIDDEN;
extern const char *const nb_export_names[] NB_HIDDEN; /* [nb_export_count + 1], the last NULL */
extern void *const nb_exports[] NB_HIDDEN;            /* the shim's export of that name */
extern const char nb_driver_soname[] NB_HIDDEN;
extern const uint8_t nb_surface_sha256[32] NB_HIDDEN;   /* of surface.json, which describes the slots */
extern const unsigned char nb_export_fails[] NB_HIDDEN; /* 1: the call may be refused with a status */

/* The target of each call: the resolving stub at first, then the driver's function. The array has one more
 * slot than exports; the last slot stands for every function that this driver lacks. */
extern void *nb_slots[] NB_HIDDEN;

/* Where the jump of a passed-through export leads: to the same target, or to its guard if a rule of the
 * policy mentions it. The shim's own calls take the slots, so no rule decides them. */
extern void *nb_jumps[] NB_HIDDEN;
extern void *const nb_guards[] NB_HIDDEN; /* NULL for exports that are not passed through */

/* A byte for each export, not 0 if the policy must decide its calls. All are 1 until the process has
 * attached. */
extern uint8_t nb_guarded[] NB_HIDDEN;

/* Open the driver and fill every slot. The resolving stubs call this; later calls return at once. */
void nb_resolve_all(void) NB_HIDDEN;

/* Stands in for a function that the opened driver lacks, whatever its arguments. "Not supported" is 801 in
 * both CUresult and hipError_t. */
int nb_absent(void) NB_HIDDEN;

/* Stands in for every function of the driver that may be refused, once nb_driver_refuse() was called. */
int nb_refused(void) NB_HIDDEN;

/* The driver's own function, typed by the generated real.h. */
#define NB_REAL(name) ((nb_##name##_t)__atomic_load_n(&nb_slots[NB_SLOT_##name], __ATOMIC_RELAXED))
#define NB_HAS(name)  (__atomic_load_n(&nb_slots[NB_SLOT_##name], __ATOMIC_RELAXED) != (void *)nb_absent)

/* Return the slot of the driver's export at this address, or -1 (see cuGetProcAddress). */
int nb_slot_of_address(const void *address) NB_HIDDEN;

/* Does 0 as a stream mean the calling thread's default stream in this export? */
bool nb_export_is_per_thread(uint32_t slot) NB_HIDDEN;

/* Constants of a vendor, defined in hook/<vendor>/vendor.c. */
extern const unsigned nb_vendor NB_HIDDEN;      /* enum nb_capture_vendor */
extern const int nb_status_refused NB_HIDDEN;   /* the vendor's status for a call that is not permitted */
extern const char nb_driver_probe[] NB_HIDDEN;  /* an export of every driver */
extern const char nb_driver_global[] NB_HIDDEN; /* environment variable with the driver's full path */

#endif
