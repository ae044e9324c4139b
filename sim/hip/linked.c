/* The driver is linked in: this opens no library, and calls no other libcuda of the process. */
#include "runtime/driver.h"

#define LINKED(function) .function = function,
static const struct runtime_driver driver = {DRIVER_FUNCTIONS(LINKED)};
#undef LINKED

const struct runtime_driver *runtime_driver(void)
{
    return &driver;
}
