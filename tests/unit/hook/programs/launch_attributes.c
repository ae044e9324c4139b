/* launch_attributes ID...: prints the attributes that a capture keeps, and the reasons for refusing the
 * others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/capture/attribute.h"
#include "cuda/capture/refuse.h"

void nb_capture_refuse(const struct nb_call *call, const char *reason)
{
    (void)call;
    printf("refused %s\n", reason);
}

int main(int argc, char **argv)
{
    enum { MOST = 32 };
    static CUlaunchAttribute given[MOST];
    static struct nb_attribute kept[MOST];
    const struct nb_call call = {.slot = 0};
    for (int i = 1; i < argc && i <= MOST; i++) {
        given[i - 1].id = (CUlaunchAttributeID)atoi(argv[i]);
        memset(&given[i - 1].value, i, sizeof given->value);
    }
    const uint32_t count = nb_capture_copy_attributes(&call, given, (uint32_t)argc - 1, kept);
    for (uint32_t i = 0; i < count; i++)
        printf("kept %u %d %d\n", kept[i].id, kept[i].value[0], kept[i].value[63]);
    return 0;
}
