// Peak compute rate of a core of this computer, from the kernel's description.
#pragma once

#include <string>

namespace radl {

// Peak fp32 operations per second of one logical core: clock times operations per cycle of its vector
// units, halved if two logical cores share them. 0 if the kernel does not report it. `root` is prepended to
// /proc.
double core_peak(const std::string& root = "");

}  // namespace radl
