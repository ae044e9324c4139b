#ifndef GOLDEN_HIPRTC_H
#define GOLDEN_HIPRTC_H
typedef enum hiprtcResult { HIPRTC_SUCCESS = 0 } hiprtcResult;
const char *hiprtcGetErrorString(hiprtcResult result);
#endif
