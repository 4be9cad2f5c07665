#include "engine/kernels/own/amx_check.h"

namespace radl::engine::own {

std::string amx_disagreement() { return amx_disagreement<AmxUnit>(); }

}  // namespace radl::engine::own
