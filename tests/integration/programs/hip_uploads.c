/* HIP's copies from the host, and one to it; a join where the host waits. */
#include "hip_region.h"

int main(void)
{
    hipStream_t stream;
    char text[] = "abcdefghijklmnopqrstuvwxyz", back[8];
    char *to = allocate("to", 65536);
    CHECK(hipStreamCreate(&stream));
    region_begin("uploads");
    CHECK(hipMemcpy(to, text, 5, hipMemcpyHostToDevice));
    CHECK(hipMemcpyHtoD(to + 5, text + 5, 3));
    CHECK(hipMemcpyAsync(to + 8, text + 8, 2, hipMemcpyHostToDevice, stream));
    CHECK(hipMemcpyHtoDAsync(to + 10, text + 10, 2, stream));
    CHECK(hipMemcpyWithStream(to + 12, text + 12, 4, hipMemcpyHostToDevice, stream));
    CHECK(hipMemcpy2D(to + 512, 256, text, 10, 4, 2, hipMemcpyHostToDevice));
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipDeviceSynchronize());
    CHECK(hipMemcpy(back, to, sizeof back, hipMemcpyDeviceToHost));
    region_end();
    return memcmp(back, text, sizeof back) != 0;
}
