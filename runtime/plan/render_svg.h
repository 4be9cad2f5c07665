// Draws the plan's actions and dependencies as an SVG element for an HTML page. Internal to
// runtime/plan.
#pragma once

#include <string>

#include "runtime/plan/plan.h"

namespace radl {

// Needs the page's styles (render_html.cc). In large plans, actions that differ only in the ordinal of their
// node share a box. Empty if there is nothing to draw, or too much.
std::string render_svg(const Plan& plan);

}  // namespace radl
