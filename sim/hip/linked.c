/* The driver below: linked in, so nothing is opened, and no other libcuda of the process is called. */
#include "runtime/driver.h"

#define LINKED(function) .function = function,
static const struct runtime_driver driver = {DRIVER_FUNCTIONS(LINKED)};
#undef LINKED

const struct runtime_driver *runtime_driver(void)
{
    return &driver;
}
