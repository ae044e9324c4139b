/* The driver's own log of kernel launches. Tests compare the logs of other tools with it. */
#ifndef NEUTRINO_SIM_LAUNCH_LOG_H
#define NEUTRINO_SIM_LAUNCH_LOG_H

struct ptx_counts;
struct sim_launch;

/* Append one line to the file that SIM_LAUNCH_LOG names, if any. */
void sim_launch_log(const struct sim_launch *launch);

/* Counters of a launch; NULL unless SIM_COUNTS names a file, or if out of memory. */
struct ptx_counts *sim_counts_begin(const struct sim_launch *launch);
/* Appends the counters to that file, and frees them. */
void sim_counts_end(const struct sim_launch *launch, struct ptx_counts *counts);

#endif
