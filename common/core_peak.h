// What a core of this computer can compute, as its kernel describes it.
#pragma once

#include <string>

namespace radl {

// fp32 operations a second of one logical core at most: its clock times the operations that its vector units
// do in a cycle, halved where two logical cores share them. 0 if the kernel does not report it. `root` stands
// before /proc.
double core_peak(const std::string& root = "");

}  // namespace radl
