/* The driver's own count of what it ran: the oracle that a log made elsewhere is tested against. */
#ifndef NEUTRINO_SIM_COUNTER_H
#define NEUTRINO_SIM_COUNTER_H

struct sim_launch;

/* Append one line to the file that SIM_LAUNCH_LOG names; without it do nothing. */
void sim_count_launch(const struct sim_launch *launch);

#endif
