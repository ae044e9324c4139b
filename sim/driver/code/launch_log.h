/* The driver's own log of kernel launches. Tests compare the logs of other tools with it. */
#ifndef NEUTRINO_SIM_LAUNCH_LOG_H
#define NEUTRINO_SIM_LAUNCH_LOG_H

struct sim_launch;

/* Append one line to the file that SIM_LAUNCH_LOG names, if any. */
void sim_launch_log(const struct sim_launch *launch);

#endif
