/* Forked processes that work on hostile bytes: they end by themselves, or are killed after a time limit. */
#ifndef NEUTRINO_PROCESSES_H
#define NEUTRINO_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

enum { NB_PROCESSES_MAX = 64 };

/* Runs in the forked process number `index`, with every signal blocked. It must keep the descriptor
 * `lifeline` open until it returns the process's exit status. */
typedef int nb_process_body(void *work, uint32_t index, int lifeline);

struct nb_process_ends {
    bool in_time; /* false: every process was killed after the time limit */
    struct {
        bool is_known;
        int status; /* as from waitpid */
    } at[NB_PROCESSES_MAX];
};

/* Runs `count` processes, at most NB_PROCESSES_MAX. All of them have ended when it returns. Returns
 * NB_REPLAY_OURS, with a line in `error`, if they cannot be started. */
int nb_processes_run(uint32_t count, nb_process_body *body, void *work, uint32_t seconds,
                     struct nb_process_ends *ends, char *error) __attribute__((visibility("hidden")));

#endif
