// The table of the driver's functions, made from entries.txt.
#pragma once
int heddle_unsupported(const char *call);
int heddle_runtime_error(int e);
struct entry {
    const char *name; // without the version at its end
    int since;
    void *function;
};
extern const struct entry heddle_entries[]; // by name, then by version; a name of NULL ends it
