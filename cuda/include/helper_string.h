// helper_string.h -- command lines as samples read them: -name and -name=value, with one dash or two.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <string>

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

// What follows -name: "" or the value after '='; null where it is not there.
static inline const char *heddle_argument(int argc, const char **argv, const char *name)
{
    size_t n = strlen(name);
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (*a != '-') continue;
        while (*a == '-') a++;
        if (strncmp(a, name, n) == 0 && (a[n] == 0 || a[n] == '=')) return a[n] ? a + n + 1 : a + n;
    }
    return 0;
}
static inline bool checkCmdLineFlag(const int argc, const char **argv, const char *name)
{
    return heddle_argument(argc, argv, name) != 0;
}
static inline int getCmdLineArgumentInt(const int argc, const char **argv, const char *name)
{
    const char *v = heddle_argument(argc, argv, name);
    return v ? atoi(v) : 0;
}
static inline float getCmdLineArgumentFloat(const int argc, const char **argv, const char *name)
{
    const char *v = heddle_argument(argc, argv, name);
    return v ? (float)atof(v) : 0;
}
static inline bool getCmdLineArgumentString(const int argc, const char **argv, const char *name, char **to)
{
    *to = (char *)heddle_argument(argc, argv, name);
    return *to != 0;
}
// A file of this name in the folder that the program runs in or in its data.
static inline char *sdkFindFilePath(const char *name, const char *)
{
    const char *folders[] = {"./", "./data/", "../data/"};
    for (const char *f : folders) {
        size_t n = strlen(f) + strlen(name) + 1;
        char *path = (char *)malloc(n);
        snprintf(path, n, "%s%s", f, name);
        if (FILE *file = fopen(path, "rb")) {
            fclose(file);
            return path;
        }
        free(path);
    }
    return 0;
}
