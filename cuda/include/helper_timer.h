// helper_timer.h -- stopwatches of the host's time, in milliseconds.
#pragma once

#include <chrono>

class StopWatchInterface {
    std::chrono::steady_clock::time_point from;
    double sum = 0;
    int sessions = 0;
    bool running = false;

public:
    void start() { from = std::chrono::steady_clock::now(), running = true; }
    double since() const
    {
        return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - from).count();
    }
    void stop() { sum += since(), sessions++, running = false; }
    void reset()
    {
        sum = sessions = 0;
        from = std::chrono::steady_clock::now();
    }
    float getTime() { return (float)(running ? sum + since() : sum); }
    float getAverageTime() { return sessions ? (float)(sum / sessions) : 0.0f; }
};
static inline bool sdkCreateTimer(StopWatchInterface **t) { return *t = new StopWatchInterface, true; }
static inline bool sdkDeleteTimer(StopWatchInterface **t) { return delete *t, *t = nullptr, true; }
static inline bool sdkStartTimer(StopWatchInterface **t) { return (*t)->start(), true; }
static inline bool sdkStopTimer(StopWatchInterface **t) { return (*t)->stop(), true; }
static inline bool sdkResetTimer(StopWatchInterface **t) { return (*t)->reset(), true; }
static inline float sdkGetTimerValue(StopWatchInterface **t) { return (*t)->getTime(); }
static inline float sdkGetAverageTimerValue(StopWatchInterface **t) { return (*t)->getAverageTime(); }
