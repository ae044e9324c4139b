/* Kernel names as users write them: mangled, plain or demangled. */
#include <ctype.h>
#include <dlfcn.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "core/region/selection.h"

#define PLAIN_MAX 512

/* Longer mangled names are not demangled, in the audit log neither (benchguard/audit/demangle.py). */
#define MANGLED_MAX 8192

typedef char *demangler(const char *mangled, char *buffer, size_t *bytes, int *status);

/* The program may be in C, or link its C++ library statically. */
static demangler *find_demangler(void)
{
    static demangler *found;
    static bool searched;
    if (!__atomic_load_n(&searched, __ATOMIC_ACQUIRE)) {
        void *symbol = dlsym(RTLD_DEFAULT, "__cxa_demangle");
        void *library = symbol == NULL ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
        if (library != NULL)
            symbol = dlsym(library, "__cxa_demangle");
        memcpy(&found, &symbol, sizeof found);
        __atomic_store_n(&searched, true, __ATOMIC_RELEASE);
    }
    return found;
}

/* Tables show names without ABI tags: numba-cuda puts a hash of 60 to 90 characters into a tag of each kernel
 * (benchguard/audit/kernel_name.py). */
static void remove_abi_tags(char *name)
{
    static const char start[] = "[abi:";
    char *to = name;
    for (const char *from = name; *from != 0;) {
        const char *tag = from + strlen(start), *end = tag;
        if (strncmp(from, start, strlen(start)) == 0)
            while (isalnum((unsigned char)*end) || *end == '_')
                end++;
        if (end > tag && *end == ']')
            from = end + 1;
        else
            *to++ = *from++;
    }
    *to = 0;
}

/* Also compares the text itself: brackets in "int (&) [4]" are not meant as a pattern. */
static bool text_matches(const char *pattern, const char *text)
{
    return strcmp(pattern, text) == 0 || fnmatch(pattern, text, 0) == 0;
}

static bool demangled_name_matches(const char *pattern, const char *name)
{
    demangler *demangle;
    if (strncmp(name, "_Z", 2) != 0 || strlen(name) > MANGLED_MAX || (demangle = find_demangler()) == NULL)
        return false;
    int status;
    char *demangled = demangle(name, NULL, NULL, &status);
    if (demangled == NULL)
        return false;
    bool matches = text_matches(pattern, demangled);
    if (!matches) {
        remove_abi_tags(demangled);
        matches = text_matches(pattern, demangled);
    }
    free(demangled);
    return matches;
}

/* The function's own name in an Itanium-mangled one: the last of the leading identifiers, "kernel" in
 * _ZN2at6native6kernelILi4EEEvPf. Empty for names that are not mangled this way. */
static void plain_name(const char *name, char *plain)
{
    const char *at = name;
    plain[0] = 0;
    if (strncmp(at, "_Z", 2) != 0)
        return;
    at += 2;
    at += strspn(at, "NKVrL"); /* nested, qualified, of internal linkage */
    if (strncmp(at, "St", 2) == 0)
        at += 2;
    while (isdigit((unsigned char)*at)) {
        size_t length = 0;
        for (; isdigit((unsigned char)*at) && length < PLAIN_MAX; at++)
            length = 10 * length + (size_t)(*at - '0');
        if (length == 0 || length >= PLAIN_MAX || strnlen(at, length) < length)
            return;
        memcpy(plain, at, length);
        plain[length] = 0;
        at += length;
        at += *at == 'L';
    }
}

bool nb_kernel_name_matches(const char *pattern, const char *name)
{
    char plain[PLAIN_MAX];
    if (*name == 0)
        return false;
    if (fnmatch(pattern, name, 0) == 0)
        return true;
    plain_name(name, plain);
    if (plain[0] != 0 && fnmatch(pattern, plain, 0) == 0)
        return true;
    return demangled_name_matches(pattern, name);
}
