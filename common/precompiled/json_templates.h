// The reader and writer of nlohmann::json. Define RADL_TEMPLATE as `extern template` to declare the instances
// or as `template` to define them. No include guard: one source may do both.
namespace nlohmann::detail {

RADL_TEMPLATE class serializer<json>;
RADL_TEMPLATE class serializer<ordered_json>;
// Strings are parsed through their iterators, string views and literals through pointers.
RADL_TEMPLATE class lexer<json, iterator_input_adapter<std::string::const_iterator>>;
RADL_TEMPLATE class lexer<json, iterator_input_adapter<const char*>>;
RADL_TEMPLATE class parser<json, iterator_input_adapter<std::string::const_iterator>>;
RADL_TEMPLATE class parser<json, iterator_input_adapter<const char*>>;
RADL_TEMPLATE class json_sax_dom_parser<json>;
RADL_TEMPLATE class json_sax_dom_callback_parser<json>;

}  // namespace nlohmann::detail
