#include "core/ring/omitted.h"

#include <stddef.h>
#include <string.h>

#include "core/base/log.h"
#include "core/ring/session.h"

uint8_t nb_omitted[UINT16_MAX + 1];

/* The process has found its session. */
static void start(void)
{
    const struct nb_session *session = nb_session();
    /* Read once: another process may change the header meanwhile. */
    const uint64_t offset = *(const volatile uint64_t *)&session->omitted_offset;
    const uint64_t bytes = *(const volatile uint64_t *)&session->omitted_bytes;
    const uint64_t end = session->image_offset;
    memset(nb_omitted, 0, sizeof nb_omitted);
    if (offset <= end && bytes <= end - offset && bytes <= sizeof nb_omitted)
        memcpy(nb_omitted, (const char *)session + offset, bytes);
    else
        nb_log("the list of omitted calls in the session memory is invalid, so all calls are recorded", NULL,
               ": no process but the supervisor may write to it");
}

const struct nb_component nb_omitted_component = {.start = start};
