/* The driver's functions, one slot an export, in the order of the driver's own symbol table.
 *
 * The arrays are generated (surface.c, surface.S); `NB_SLOT_<name>` is in the generated surface.h. */
#ifndef NEUTRINO_SLOTS_H
#define NEUTRINO_SLOTS_H

#define NB_HIDDEN __attribute__((visibility("hidden")))
#define NB_EXPORT __attribute__((visibility("default")))

extern const unsigned nb_export_count NB_HIDDEN;
extern const char *const nb_export_names[] NB_HIDDEN; /* [nb_export_count + 1], the last NULL */
extern void *const nb_exports[] NB_HIDDEN;            /* what this shim exports under that name */
extern const char nb_driver_soname[] NB_HIDDEN;

/* What a call of that name jumps to: the resolving stub at first, then the driver's function. One more
 * than there are exports: the last stands for every function that this driver does not have. */
extern void *nb_slots[] NB_HIDDEN;

/* Opens the driver and fills every slot. Called by the resolving stubs; later calls return at once. */
void nb_resolve_all(void) NB_HIDDEN;

/* Fills in for a function that the opened driver lacks, whatever its arguments: "not supported" is 801 in
 * CUresult and in hipError_t alike. */
int nb_absent(void) NB_HIDDEN;

/* The driver's own function, typed by the generated real.h. */
#define NB_REAL(name) ((nb_##name##_t)__atomic_load_n(&nb_slots[NB_SLOT_##name], __ATOMIC_RELAXED))
#define NB_HAS(name)  (__atomic_load_n(&nb_slots[NB_SLOT_##name], __ATOMIC_RELAXED) != (void *)nb_absent)

/* Which slot's export the driver has at this address, or -1 (see cuGetProcAddress). */
int nb_slot_of_address(const void *address) NB_HIDDEN;

/* What the core has to know of a vendor, in hook/<vendor>/vendor.c. */
extern const unsigned nb_vendor NB_HIDDEN;        /* enum nb_capture_vendor */
extern const char nb_driver_probe[] NB_HIDDEN;    /* an export every driver has */
extern const char nb_driver_variable[] NB_HIDDEN; /* of the environment: the driver's full path */

#endif
