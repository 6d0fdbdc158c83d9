// cuGetProcAddress: the newest function of a name that the caller's version of CUDA has.
#include "driver.h"
#include "entries.h"

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, unsigned long long flags,
                             CUdriverProcAddressQueryResult *status)
{
    int known = 0;
    if (!symbol || !function || flags > 2) return 1; // both default streams are one: flags choose nothing
    *function = NULL;
    for (const struct entry *e = heddle_entries; e->name; e++) {
        if (strcmp(e->name, symbol)) continue;
        known = 1;
        if (e->since <= version && e->since <= HEDDLE_DRIVER_VERSION) *function = e->function;
    }
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS
                  : known   ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                            : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? 0 : 500;
}
CUresult cuGetProcAddress(const char *symbol, void **function, int version, unsigned long long flags)
{
    return cuGetProcAddress_v2(symbol, function, version, flags, NULL);
}
