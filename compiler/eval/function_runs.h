// What each function does; functions.cc has the table that names them. Internal to compiler/eval.
#pragma once

#include "compiler/eval/functions.h"

namespace radl::expr {

// Appends the text of an element to the parts of a joined text; false, reported, when it has none.
bool append_text(const CallFrame& call, Items& parts, const Value& item);

Value run_min(const CallFrame& call);
Value run_max(const CallFrame& call);
Value run_sum(const CallFrame& call);
Value run_ceil(const CallFrame& call);
Value run_floor(const CallFrame& call);
Value run_round(const CallFrame& call);
Value run_abs(const CallFrame& call);
Value run_count(const CallFrame& call);
Value run_range(const CallFrame& call);
Value run_join(const CallFrame& call);
Value run_split(const CallFrame& call);
Value run_has(const CallFrame& call);
Value run_keys(const CallFrame& call);
Value run_map(const CallFrame& call);
Value run_merge(const CallFrame& call);
Value run_lookup(const CallFrame& call);
Value run_sort(const CallFrame& call);
Value run_distinct(const CallFrame& call);
Value run_flatten(const CallFrame& call);
Value run_length(const CallFrame& call);
Value run_upper(const CallFrame& call);
Value run_lower(const CallFrame& call);
Value run_trim(const CallFrame& call);
Value run_substring(const CallFrame& call);
Value run_replace(const CallFrame& call);
Value run_starts_with(const CallFrame& call);
Value run_ends_with(const CallFrame& call);
Value run_format(const CallFrame& call);
Value run_text(const CallFrame& call);
Value run_number(const CallFrame& call);
Value run_bytes(const CallFrame& call);
Value run_sha256(const CallFrame& call);
Value run_base64(const CallFrame& call);
Value run_json(const CallFrame& call);
Value run_env(const CallFrame& call);
Value run_file(const CallFrame& call);
Value run_generated(const CallFrame& call);
Value run_template(const CallFrame& call);

}  // namespace radl::expr
