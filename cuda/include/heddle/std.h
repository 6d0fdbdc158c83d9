// cuda::std: the C++ library's names.
#pragma once

namespace cuda {
namespace std {
using namespace ::std;
}
} // namespace cuda
