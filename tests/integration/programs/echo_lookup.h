/* cuGetProcAddress of the echo driver: the newest variant that is not newer than asked for, as a real one. */
#ifndef ECHO_LOOKUP_H
#define ECHO_LOOKUP_H

struct entry {
    const char *name;
    int version;
    int per_thread;
    void *address;
};

extern const struct entry entries[];
extern const unsigned entry_count;

enum {
    PER_THREAD_DEFAULT_STREAM = 2,
    STATUS_SUCCESS = 0,
    STATUS_NOT_FOUND = 1,
    STATUS_VERSION_NOT_SUFFICIENT = 2
};

__attribute__((visibility("default"))) int cuGetProcAddress(const char *symbol, void **pfn, int version,
                                                            unsigned long long flags);
__attribute__((visibility("default"))) int cuGetProcAddress_v2(const char *symbol, void **pfn, int version,
                                                               unsigned long long flags, int *status);

int cuGetProcAddress_v2(const char *symbol, void **pfn, int version, unsigned long long flags, int *status)
{
    const struct entry *best = 0;
    int known = strcmp(symbol, "cuGetProcAddress") == 0;
    *pfn = 0;
    if (known)
        *pfn = version >= 12000 ? (void *)cuGetProcAddress_v2 : (void *)cuGetProcAddress;
    for (unsigned i = 0; i < entry_count && !known; i++) {
        const struct entry *entry = &entries[i];
        if (strcmp(entry->name, symbol) != 0)
            continue;
        if (entry->per_thread && (flags & PER_THREAD_DEFAULT_STREAM) == 0)
            continue;
        if (entry->version <= version &&
            (best == 0 || entry->per_thread > best->per_thread ||
             (entry->per_thread == best->per_thread && entry->version > best->version)))
            best = entry;
    }
    if (best != 0)
        *pfn = best->address;
    if (status != 0)
        *status = *pfn != 0 ? STATUS_SUCCESS : STATUS_NOT_FOUND;
    return 0;
}

int cuGetProcAddress(const char *symbol, void **pfn, int version, unsigned long long flags)
{
    return cuGetProcAddress_v2(symbol, pfn, version, flags, 0);
}

#endif
