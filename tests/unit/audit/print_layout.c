/* Prints the numbers of record.h, a name and a value a line, for test_layout.py. */
#include <stddef.h>
#include <stdio.h>

#include "core/wire/probe.h"
#include "core/wire/record.h"

#define VALUE(name, value) printf("%s %zu\n", name, (size_t)(value))
#define FIELD(type, field) VALUE(#type "." #field, offsetof(struct type, field))

int main(void)
{
    VALUE("FORMAT_VERSION", NB_FORMAT_VERSION);
    VALUE("PAGE", NB_PAGE);
    VALUE("SESSION_MAGIC", NB_SESSION_MAGIC);
    VALUE("RECORD_MAX", NB_RECORD_MAX);
    VALUE("STRING_MAX", NB_STRING_MAX);
    VALUE("PARAMETERS_MAX", NB_PARAMETERS_MAX);
    VALUE("ATTRIBUTES_MAX", NB_ATTRIBUTES_MAX);
    VALUE("ARGUMENTS_MAX", NB_ARGUMENTS_MAX);
    VALUE("session.image_next", offsetof(struct nb_session, image_next));
    VALUE("session.nonce", offsetof(struct nb_session, nonce));
    VALUE("session.image_bytes", offsetof(struct nb_session, image_bytes));
    VALUE("session.policy_offset", offsetof(struct nb_session, policy_offset));
    VALUE("session.probe_offset", offsetof(struct nb_session, probe_offset));
    VALUE("session.omitted_offset", offsetof(struct nb_session, omitted_offset));
    VALUE("session", sizeof(struct nb_session));
    VALUE("probe_area.answer_next", offsetof(struct nb_probe_area, answer_next));
    VALUE("probe_area", sizeof(struct nb_probe_area));
    VALUE("probe_answer.map_count", offsetof(struct nb_probe_answer, map_count));
    VALUE("probe_answer", sizeof(struct nb_probe_answer));
    VALUE("probe_map", sizeof(struct nb_probe_map));
    VALUE("probe", sizeof(struct nb_probe));
    VALUE("ring", sizeof(struct nb_ring));
    VALUE("ring.tail", offsetof(struct nb_ring, tail));
    VALUE("ring.state", offsetof(struct nb_ring, state));
    VALUE("ring.in_flight_since", offsetof(struct nb_ring, in_flight_since));
    VALUE("ring.ahead", offsetof(struct nb_ring, ahead));
    VALUE("ring.omitted", offsetof(struct nb_ring, omitted));
    VALUE("ring.attached_ns", offsetof(struct nb_ring, attached_ns));
    VALUE("record", sizeof(struct nb_record));
    VALUE("record.count", offsetof(struct nb_record, count));
    VALUE("process", sizeof(struct nb_process));
    VALUE("repeated", sizeof(struct nb_repeated));
    VALUE("image", sizeof(struct nb_image));
    VALUE("image.stored_at", offsetof(struct nb_image, stored_at));
    VALUE("kernel", sizeof(struct nb_kernel));
    VALUE("kernel.name_bytes", offsetof(struct nb_kernel, name_bytes));
    VALUE("attribute", sizeof(struct nb_attribute));
    VALUE("attribute.value", offsetof(struct nb_attribute, value));
    VALUE("launch", sizeof(struct nb_launch));
    VALUE("launch.kept_bytes", offsetof(struct nb_launch, kept_bytes));
    VALUE("unmapped", sizeof(struct nb_unmapped));
    VALUE("graph", sizeof(struct nb_graph));
    VALUE("graph_node", sizeof(struct nb_graph_node));
    VALUE("graph_launch", sizeof(struct nb_graph_launch));
    VALUE("launch_time", sizeof(struct nb_launch_time));
    VALUE("phase_mark", sizeof(struct nb_phase_mark));
    VALUE("decision", sizeof(struct nb_decision));
    VALUE("decision.image", offsetof(struct nb_decision, image));
    VALUE("FREE", NB_RING_FREE);
    VALUE("CLAIMED", NB_RING_CLAIMED);
    VALUE("LIVE", NB_RING_LIVE);
    VALUE("CLOSED", NB_RING_CLOSED);
    const int kinds[] = {
        NB_RECORD_CALL,       NB_RECORD_LAUNCH,       NB_RECORD_IMAGE,    NB_RECORD_KERNEL,
        NB_RECORD_PROCESS,    NB_RECORD_CLOCK,        NB_RECORD_UNMAPPED, NB_RECORD_GRAPH,
        NB_RECORD_GRAPH_NODE, NB_RECORD_GRAPH_LAUNCH, NB_RECORD_NOTE,     NB_RECORD_PHASE,
        NB_RECORD_DECISION,   NB_RECORD_REPEATED,     NB_RECORD_PROBE,    NB_RECORD_LAUNCH_TIME};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        VALUE("kind", kinds[i]);
    return 0;
}
