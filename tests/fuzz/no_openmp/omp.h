// Stands in for OpenMP's header where the fuzzers' clang has none: one thread.
#pragma once
inline int omp_get_max_threads() { return 1; }
inline void omp_set_num_threads(int) {}
