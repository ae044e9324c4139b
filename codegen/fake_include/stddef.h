/* Just enough of C's headers for cuda.h to parse the same on every host. */
#ifndef NB_FAKE_STDDEF_H
#define NB_FAKE_STDDEF_H
typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef int wchar_t;
#define NULL ((void *)0)
#endif
