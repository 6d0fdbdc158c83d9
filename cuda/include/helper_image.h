// helper_image.h -- files of numbers and images (PGM, PPM), and comparisons, as samples use them.
#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fstream>
#include <type_traits>
#include <vector>

#include "helper_string.h"

// Whether all of n numbers lie within epsilon of the reference, but for a share of them.
template <class T, class S>
static inline bool compareData(const T *reference, const T *data, unsigned n, S epsilon, float share)
{
    unsigned bad = 0;
    for (unsigned i = 0; i < n; i++) bad += !(fabs((double)reference[i] - (double)data[i]) <= (double)epsilon);
    return (float)bad <= share * (float)n;
}
// Whether the difference is at most epsilon of the reference, both taken as vectors.
static inline bool sdkCompareL2fe(const float *reference, const float *data, unsigned n, float epsilon)
{
    double error = 0, all = 0;
    for (unsigned i = 0; i < n; i++) {
        error += ((double)reference[i] - data[i]) * ((double)reference[i] - data[i]);
        all += (double)reference[i] * reference[i];
    }
    return all > 1e-14 && sqrt(error) < epsilon * sqrt(all);
}

template <class T> static inline bool sdkReadFile(const char *name, T **data, unsigned *n, bool = false)
{
    std::ifstream file(name);
    if (!file) return false;
    std::vector<T> all;
    for (T x; file >> x;) all.push_back(x);
    if (*data && *n != all.size()) return false;
    if (!*data) *data = (T *)malloc(all.size() * sizeof(T));
    *n = (unsigned)all.size();
    for (size_t i = 0; i < all.size(); i++) (*data)[i] = all[i];
    return true;
}
template <class T, class S>
static inline bool sdkWriteFile(const char *name, const T *data, unsigned n, const S epsilon, bool = false,
                                bool append = false)
{
    std::ofstream file(name, append ? std::ios::app : std::ios::out);
    if (!file) return false;
    file << "# " << epsilon << "\n";
    for (unsigned i = 0; i < n; i++) file << data[i] << ' ';
    file << std::endl;
    return file.good();
}
static inline void sdkDumpBin(void *data, unsigned bytes, const char *name)
{
    std::ofstream(name, std::ios::binary).write((const char *)data, bytes);
}
template <class T> static inline bool heddle_read(const char *name, const char *folder, std::vector<T> &to)
{
    char *path = sdkFindFilePath(name, folder);
    std::ifstream file(path ? path : name, std::ios::binary);
    free(path);
    return (bool)file.read((char *)to.data(), (std::streamsize)(to.size() * sizeof(T)));
}
static inline bool sdkCompareBin2BinFloat(const char *a, const char *b, unsigned n, const float epsilon,
                                          const float share, char *folder)
{
    std::vector<float> x(n), y(n);
    return heddle_read(a, folder, x) && heddle_read(b, folder, y) &&
           compareData(y.data(), x.data(), n, epsilon, share);
}

// Reads a binary PGM or PPM: a byte for each of its channels.
static inline bool heddle_image(const char *name, std::vector<unsigned char> &to, unsigned *w, unsigned *h,
                                unsigned *channels)
{
    std::ifstream file(name ? name : "", std::ios::binary);
    std::string magic;
    unsigned number[3];
    if (!(file >> magic) || (magic != "P5" && magic != "P6")) return false;
    for (unsigned &x : number) {
        while ((file >> std::ws).peek() == '#') file.ignore(1 << 30, '\n');
        if (!(file >> x)) return false;
    }
    file.get();
    *w = number[0], *h = number[1], *channels = magic == "P5" ? 1 : 3;
    to.resize((size_t)*w * *h * *channels);
    return (bool)file.read((char *)to.data(), (std::streamsize)to.size());
}
// Floating-point pixels are from 0 to 1, others are bytes.
template <class T> static inline T heddle_pixel(unsigned char x)
{
    return std::is_floating_point<T>::value ? (T)(x / 255.0f) : (T)x;
}
template <class T> static inline unsigned char heddle_byte(T x)
{
    return (unsigned char)(std::is_floating_point<T>::value ? (T)(x * 255.0f) : x);
}
template <class T> static inline bool sdkLoadPGM(const char *name, T **data, unsigned *w, unsigned *h)
{
    std::vector<unsigned char> bytes;
    unsigned channels = 0;
    if (!heddle_image(name, bytes, w, h, &channels) || channels != 1) return false;
    if (!*data) *data = (T *)malloc(bytes.size() * sizeof(T));
    for (size_t i = 0; i < bytes.size(); i++) (*data)[i] = heddle_pixel<T>(bytes[i]);
    return true;
}
template <class T> static inline bool sdkLoadPPM4(const char *name, T **data, unsigned *w, unsigned *h)
{
    std::vector<unsigned char> bytes;
    unsigned channels = 0;
    if (!heddle_image(name, bytes, w, h, &channels) || channels != 3) return false;
    size_t n = (size_t)*w * *h;
    if (!*data) *data = (T *)malloc(4 * n * sizeof(T));
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 3; k++) (*data)[4 * i + k] = heddle_pixel<T>(bytes[3 * i + k]);
        (*data)[4 * i + 3] = 0;
    }
    return true;
}
static inline bool sdkLoadPPM4ub(const char *name, unsigned char **data, unsigned *w, unsigned *h)
{
    return sdkLoadPPM4(name, data, w, h);
}
static inline bool heddle_save(const char *name, const char *magic, unsigned w, unsigned h,
                               const std::vector<unsigned char> &bytes)
{
    std::ofstream file(name, std::ios::binary);
    file << magic << "\n" << w << "\n" << h << "\n" << 255 << "\n";
    file.write((const char *)bytes.data(), (std::streamsize)bytes.size());
    return file.good();
}
template <class T> static inline bool sdkSavePGM(const char *name, T *data, unsigned w, unsigned h)
{
    std::vector<unsigned char> bytes((size_t)w * h);
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = heddle_byte(data[i]);
    return heddle_save(name, "P5", w, h, bytes);
}
static inline bool sdkSavePPM4ub(const char *name, unsigned char *data, unsigned w, unsigned h)
{
    std::vector<unsigned char> bytes((size_t)w * h * 3);
    for (size_t i = 0; i < bytes.size(); i++) bytes[i] = data[i / 3 * 4 + i % 3];
    return heddle_save(name, "P6", w, h, bytes);
}
static inline bool heddle_compare(const char *a, const char *b, unsigned wanted, float epsilon, float share)
{
    std::vector<unsigned char> x, y;
    unsigned w[2], h[2], channels[2];
    return heddle_image(a, x, w, h, channels) && heddle_image(b, y, w + 1, h + 1, channels + 1) && w[0] == w[1] &&
           h[0] == h[1] && channels[0] == wanted && channels[1] == wanted &&
           compareData(y.data(), x.data(), (unsigned)x.size(), epsilon, share);
}
static inline bool sdkComparePPM(const char *a, const char *b, const float epsilon, const float share, bool = false)
{
    return heddle_compare(a, b, 3, epsilon, share);
}
static inline bool sdkComparePGM(const char *a, const char *b, const float epsilon, const float share, bool = false)
{
    return heddle_compare(a, b, 1, epsilon, share);
}
