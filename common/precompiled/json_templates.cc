// Compiles the templates that headers.h declares; part of builds with RADL_PRECOMPILE only.
#include <nlohmann/json.hpp>
#include <string>

#define RADL_TEMPLATE template
#include "common/precompiled/json_templates.h"
