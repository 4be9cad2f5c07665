// The plan's actions and what each waits for, as one SVG element for a page of HTML. Internal to
// runtime/plan.
#pragma once

#include <string>

#include "runtime/plan/plan.h"

namespace radl {

// Needs the page's styles (render_html.cc). Actions that differ in the ordinal of their node alone are one
// box where there are many. Empty where there is nothing to draw, or too much of it to be looked at.
std::string render_svg(const Plan& plan);

}  // namespace radl
