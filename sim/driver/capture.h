/* Stream capture: what would be queued becomes nodes of a graph. */
#ifndef NEUTRINO_SIM_CAPTURE_H
#define NEUTRINO_SIM_CAPTURE_H

#include "api.h"

#include <stdbool.h>

struct sim_context;
struct sim_event;
struct sim_stream;
struct sim_work;

/* The first three are called with the context's `order` held. */

/* Add work to the graph that `stream` captures into. Takes what the work owns. */
CUresult sim_capture_add(struct sim_stream *stream, struct sim_work *work);

/* Something was done that a capture cannot hold: its end will fail. */
void sim_capture_spoil(struct sim_stream *stream);

/* Whether a blocking stream captures, so that work on the legacy stream would have to wait for it; spoils
 * that capture, as the API says. */
bool sim_capture_forbids_legacy(struct sim_context *context);

/* An event is recorded on, or waited for by, `stream`. `captured`: it was the capture's, all is done. */
CUresult sim_capture_record(struct sim_stream *stream, struct sim_event *event, bool external,
                            bool *captured);
CUresult sim_capture_wait(struct sim_stream *stream, struct sim_event *event, bool external, bool *captured);

/* The stream ends: so does a capture that it takes part in. */
void sim_capture_abandon(struct sim_stream *stream);

#endif
