/* The driver's own count of what it ran: the oracle that a log made elsewhere is tested against. */
#ifndef NEUTRINO_SIM_LAUNCH_LOG_H
#define NEUTRINO_SIM_LAUNCH_LOG_H

struct sim_launch;

/* Append one line to the file that SIM_LAUNCH_LOG names; without it do nothing. */
void sim_launch_log(const struct sim_launch *launch);

#endif
