#include "tests/support/secret_programs.h"

#include <fmt/format.h>

#include <utility>

namespace radl::test {
namespace {

// What expressions call.
constexpr const char* kFunctions = "let framed(x) = \"<${x}>\"\nlet chosen(x, y) = if x == y then x else y\n";

// Expressions by the type that they have, with secrets at every leaf that can be one.
class Expressions {
 public:
  explicit Expressions(const Choose& choose) : choose_(choose) {}

  std::string text(int depth) {
    static constexpr int kForms = 27;
    uint32_t form = depth <= 0 ? choose_(5) : choose_(kForms);
    int in = depth - 1;
    switch (form) {
      case 0:
      case 1:
      case 2:
        return "input.secret";
      case 3:
        return "'plain'";
      case 4:
        return local_.empty() ? "input.map['k']" : local_;
      case 5:
        return fmt::format("\"${{{}}}-${{{}}}\"", any(in), text(in));
      case 6:
        return fmt::format("{}({})", pick({"upper", "lower", "trim", "base64", "sha256", "string"}),
                           text(in));
      case 7:
        return fmt::format("replace({}, {}, {})", text(in), text(in), text(in));
      case 8:
        return fmt::format("join({}, {})", list(in), text(in));
      case 9:
        return fmt::format("json({})", any(in));
      case 10:
        return fmt::format("format('{{}}/{{}}', {}, {})", any(in), text(in));
      case 11:
        return fmt::format("lookup({}, {}, {})", map(in), text(in), text(in));
      case 12:
        return fmt::format("{}[{}]", list(in), integer(in));
      case 13:
        return fmt::format("{}[{}]", map(in), text(in));
      case 14:
        return fmt::format("(if {} then {} else {})", boolean(in), text(in), text(in));
      case 15:
        return fmt::format("split({}, {})[{}]", text(in), text(in), integer(in));
      case 16:
        return fmt::format("template('page.txt', {{ a = {}, b = {} }})", any(in), text(in));
      case 17:
        return fmt::format("{}({})", pick({"file", "env"}), text(in));
      case 18:
        return fmt::format("env({}, {})", text(in), text(in));
      case 19:
        return fmt::format("w[{}].{}", integer(in), pick({"ip", "hostname", "number", "private_ip"}));
      case 20:
        return fmt::format("system[{}].name", text(in));
      case 21:
        return fmt::format("[ w[0].ip, w[1].ip ][{}]", integer(in));
      case 22:
        return fmt::format("(if {} then w else v).name", boolean(in));
      case 23:
        return fmt::format("framed({})", any(in));
      case 24:
        return fmt::format("chosen({}, {})", text(in), text(in));
      case 25:
        return fmt::format("({} or {})", pick({"input.secret", "input.map['k']", "none", "w[0].ip"}),
                           text(in));
      default:
        // Known to nobody who reads the source: the plain texts are put together here.
        return fmt::format("(if {} then join(['chosen', 'one'], '~') else join(['chosen', 'two'], '~'))",
                           secret_boolean());
    }
  }

  std::string integer(int depth) {
    uint32_t form = depth <= 0 ? choose_(3) : choose_(12);
    int in = depth - 1;
    switch (form) {
      case 0:
        return "input.number";
      case 1:
        return std::to_string(choose_(4));
      case 9:
        return fmt::format("{}([{}, {}])", pick({"sum", "min", "max"}), integer(in), integer(in));
      case 10:
        return fmt::format("{}({})", pick({"abs", "floor", "ceil", "round"}), integer(in));
      case 2:
        return "input.number";
      case 3:
        return fmt::format("({} {} {})", integer(in), pick({"+", "-", "*", "%"}), integer(in));
      case 4:
        return fmt::format("length({})", text(in));
      case 5:
        return fmt::format("{}({}, {})", pick({"min", "max"}), integer(in), integer(in));
      case 6:
        return fmt::format("count({})", list(in));
      case 7:
        return fmt::format("number({})", text(in));
      case 8:
        return fmt::format("bytes({})", size(in));
      default:
        return fmt::format("(if {} then {} else {})", boolean(in), integer(in), integer(in));
    }
  }

  std::string size(int depth) {
    if (depth <= 0 || choose_(2) == 0) return pick({"input.size", "512M", "input.size"});
    return fmt::format("({} + {})", size(depth - 1), size(depth - 1));
  }

  std::string boolean(int depth) {
    uint32_t form = depth <= 0 ? choose_(3) : choose_(9);
    int in = depth - 1;
    switch (form) {
      case 0:
        return "input.flag";
      case 1:
        return pick({"yes", "no"});
      case 2:
        return secret_boolean();
      case 3:
        return fmt::format("({} {} {})", text(in), pick({"==", "!=", "<", ">="}), text(in));
      case 4:
        return fmt::format("({} {} {})", integer(in), pick({"==", "<", ">"}), integer(in));
      case 5:
        return fmt::format("has({}, {})", list(in), text(in));
      case 6:
        return fmt::format("(not {})", boolean(in));
      case 7:
        return fmt::format("({} {} {})", boolean(in), pick({"and", "or"}), boolean(in));
      default:
        return fmt::format("starts_with({}, {})", text(in), text(in));
    }
  }

  std::string list(int depth) {
    uint32_t form = depth <= 0 ? choose_(3) : choose_(11);
    int in = depth - 1;
    switch (form) {
      case 9:
        return comprehension(in, "[ {0} for y in [{2}, ['a']] for {1} in y{3} ]", list(in));
      case 0:
        return "input.list";
      case 1:
        return fmt::format("[{}, {}]", text(in), text(in));
      case 2:
        return "['a', 'b', input.secret]";
      case 3:
        return fmt::format("split({}, {})", text(in), text(in));
      case 4:
        return fmt::format("keys({})", map(in));
      case 5:
        return comprehension(in, "[ {} for {} in {}{} ]", list(in));
      case 6:
        return fmt::format("{}({})", pick({"sort", "distinct", "flatten"}), list(in));
      case 7:
        return fmt::format("range({})", integer(in));
      case 8:
        return fmt::format("({} + {})", list(in), list(in));
      default:
        return fmt::format("(if {} then {} else {})", boolean(in), list(in), list(in));
    }
  }

  std::string map(int depth) {
    uint32_t form = depth <= 0 ? choose_(2) : choose_(6);
    int in = depth - 1;
    switch (form) {
      case 0:
        return "input.map";
      case 1:
        return fmt::format("{{ k = {}, l = {} }}", text(in), text(in));
      case 2:
        return fmt::format("{{ ({}) = {} }}", text(in), text(in));
      case 3:
        return comprehension(in, "{{ ({0}) = {0} for {1} in {2}{3} }}", list(in));
      case 4:
        return fmt::format("merge({}, {})", map(in), map(in));
      default:
        return fmt::format("map({}, {})", text(in), any(in));
    }
  }

  std::string any(int depth) {
    switch (choose_(6)) {
      case 0:
        return integer(depth);
      case 1:
        return boolean(depth);
      case 2:
        return list(depth);
      case 3:
        return map(depth);
      case 4:
        return pick({"input.wait", "input.size", "w", "w[0]", "none", "w[*].ip"});
      default:
        return text(depth);
    }
  }

  std::string pick(std::initializer_list<const char*> words) {
    return words.begin()[choose_(static_cast<uint32_t>(words.size()))];
  }

  // The variable of an `each` around what is made from here on.
  void set_local(std::string name) { local_ = std::move(name); }

 private:
  std::string secret_boolean() {
    return pick(
        {"input.flag", "starts_with(input.secret, 'z')", "(input.number > 3)", "has(input.list, 'a')"});
  }

  std::string comprehension(int depth, const char* form, const std::string& list) {
    std::string outside = std::exchange(local_, "x");
    std::string element = text(depth), condition = choose_(2) == 0 ? "" : " if " + boolean(depth);
    local_ = outside;
    return fmt::format(fmt::runtime(form), element, choose_(3) == 0 ? "i, x" : "x", list, condition);
  }

  const Choose& choose_;
  std::string local_;
};

class Programs {
 public:
  Programs(const Choose& choose, bool sensitive) : choose_(choose), make_(choose), sensitive_(sensitive) {}

  std::string radl2() {
    std::string out = "radl 2\n" + inputs();
    out += "network lan (outbound = 'no')\n";
    out += kFunctions;
    out += "system w (cpu.count >= 1, net_interface.0.connection = 'lan')\n";
    out += "system v (cpu.count >= 1, net_interface.0.connection = 'lan')\ndeploy w 2\n";
    uint32_t places = 1 + choose_(2);
    for (uint32_t i = 0; i < places; ++i) out += place(static_cast<int>(i));
    return out;
  }

  std::string inputs() const {
    std::string mark = sensitive_ ? ", sensitive = yes" : "";
    return fmt::format(
        "input secret (type = string{0})\ninput number (type = integer{0})\ninput flag (type = boolean{0})\n"
        "input list (type = list(string){0})\ninput map (type = map(string){0})\ninput size (type = "
        "size{0})\n"
        "input wait (type = duration{0})\n",
        mark);
  }

 private:
  std::string text() { return make_.text(static_cast<int>(choose_(4))); }
  std::string any() { return make_.any(static_cast<int>(choose_(4))); }
  std::string boolean() { return make_.boolean(static_cast<int>(choose_(3))); }
  std::string integer() { return make_.integer(static_cast<int>(choose_(3))); }
  std::string list() { return make_.list(static_cast<int>(choose_(3))); }
  std::string map_or_list() { return choose_(2) == 0 ? list() : make_.map(2); }
  std::string pick(std::initializer_list<const char*> words) { return make_.pick(words); }

  std::string feature() {
    switch (choose_(20)) {
      case 13:
        return fmt::format("gpu = {{ model = {}, count = {} }}", text(), integer());
      case 14:
        return fmt::format("disks = [{{ size = {}, mount = {} }}]", make_.size(2), text());
      case 15:
        return fmt::format("networks = [{{ network = {}, dns_name = {} }}, {}]", text(), text(), text());
      case 16:
        return fmt::format("applications = [{{ name = {}, version = {} }}] + {}", text(), text(), list());
      case 17:
        return fmt::format("{} = {}", pick({"cloud", "with", "disks", "networks", "applications"}), any());
      case 18:
        return fmt::format("each k, e in {} ( 'disk.${{k}}.device' = e, \"disk.0.${{e}}\" = {} )",
                           map_or_list(), text());
      case 0:
        return "disk.0.os.credentials.password = " + text();
      case 1:
        return "disk.0.os.credentials.new.password = " + text();
      case 2:
        return "disk.0.image.url = " + any();
      case 3:
        return fmt::format("cpu.count {} {}", pick({">=", "=", "<="}), integer());
      case 4:
        return fmt::format("memory.size {} {}", pick({">=", "=", "<="}), make_.size(2));
      case 5:
        return "net_interface.0.dns_name = " + text();
      case 6:
        return "net_interface.0.connection = " + text();
      case 7:
        return fmt::format("soft 10 ({})", feature());
      case 8:
        return fmt::format("disk.0.applications contains (name = {}, version = {})", text(), text());
      case 9:
        return pick({"instance_type", "instance_name", "availability_zone", "cpu.arch", "gpu.model",
                     "net_interface.0.ip", "disk.0.os.name", "net_interface.0.additional_dns_names",
                     "disk.0.os.credentials.private_key", "disk.0.os.version"}) +
               (" = " + any());
      case 10:
        return "spot = " + boolean();
      case 11:
        return "stop.after = " + text();
      case 12:
        return fmt::format("disk.0.os.version {} {}", pick({">=", "<"}), text());
      default:
        return fmt::format("{} = {}", text_name(), any());
    }
  }

  std::string text_name() {
    return pick({"not_a_feature", "disk.0.device", "disk.0.mount_path", "gpu.vendor"});
  }

  std::string when() { return choose_(4) == 0 ? ", when = " + boolean() : ""; }

  std::string resource() {
    switch (choose_(12)) {
      case 0:
        return fmt::format("file '/tmp/a' (content = {}{})", text(), when());
      case 1:
        return fmt::format("file '/tmp/b' (content = 'x', mode = {}, owner = {})", text(), text());
      case 2:
        return fmt::format("command {}", text());
      case 3:
        return fmt::format("command 'true' (environment contains (A = {}, B = {}){})", any(), text(), when());
      case 4:
        return fmt::format("package {} (state = {})", text(), text());
      case 5:
        return fmt::format("user 'app' (password = {}, groups = {})", text(), list());
      case 6:
        return fmt::format("service 'x' (with = {})", make_.map(2));
      case 7:
        return fmt::format("wait_for 'x' (port = {}, timeout = {})", integer(), any());
      case 8: {
        std::string over = list();
        make_.set_local("u");
        std::string inside = resource();
        make_.set_local("");
        return fmt::format("each u in {} ({})", over, inside);
      }
      case 9:
        return fmt::format("file {} (source = {})", text(), text());
      case 10:
        return fmt::format("{} {} ({} = {})", text_name(), text(), text_name(), any());
      default:
        return fmt::format("file '/tmp/c' (content = json({}))", any());
    }
  }

  // One of each type that the schema of `program` has.
  std::string program_property() {
    switch (choose_(13)) {
      case 0:
        return "main = " + text();
      case 1:
        return fmt::format("{} = {}", pick({"source", "requirements", "wheelhouse", "results"}), text());
      case 2:
        return fmt::format("{} = {}", pick({"arguments", "launcher", "outputs"}), list());
      case 3:
        return fmt::format("environment contains (A = {}, B = {})", any(), text());
      case 4:
        return "environment = " + make_.map(2);
      case 5:
        return fmt::format("{} = {}", pick({"runs_on", "collect", "lost", "stop_signal"}), text());
      case 6:
        return fmt::format("{} = {}", pick({"cpu", "gpu", "processes", "retries", "least"}), integer());
      case 7:
        return "memory = " + make_.size(2);
      case 8:
        return "inputs = " + make_.map(1);
      case 9:
        return fmt::format("{} = {}", pick({"checkpoints", "python"}), text());
      case 10:
        return fmt::format("{} = {}", pick({"grace", "timeout"}), pick({"input.wait", "30s"}));
      case 11:
        return "may_fail = " + boolean();
      default:
        return fmt::format("{} = {}",
                           pick({"main", "arguments", "environment", "cpu", "memory", "inputs", "grace",
                                 "may_fail", "systems"}),
                           any());
    }
  }

  std::string place(int n) {
    switch (choose_(23)) {
      case 21:
        return fmt::format(
            "configure d{0} (file '/d' (content = 'x'))\n"
            "contextualize (system w configure \"d${{{1}}}\" after \"d${{{2}}}\", d{0})\n",
            n, text(), text());
      case 22:
        return fmt::format(
            "each k, e in {1} (\n  configure \"e{0}${{k}}\" (file '/e' (content = e))\n"
            "  contextualize (system w configure \"e{0}${{k}}\")\n)\n",
            n, map_or_list());
      case 0:
      case 1:
        return fmt::format("system s{0} ({1}, {2}, {3})\nsystem t{0} (with = s{0}, count = {4}, {5})\n", n,
                           pick({"net_interface.0.connection = 'lan'", "networks = [lan]", "cpu.count >= 1"}),
                           feature(), feature(), integer(), feature());
      case 2:
      case 3:
      case 4:
        return fmt::format("configure c{0} ({1}\n{2})\ncontextualize (system w configure c{0}{3})\n", n,
                           resource(), resource(), choose_(4) == 0 ? " when = " + boolean() : "");
      case 5:
        return fmt::format(
            "network n{} ({} = {})\n", n,
            pick({"outbound", "outports", "provider_id", "proxy_host", "proxy_key", "cidr", "router"}),
            text());
      case 6:
        return fmt::format("ansible a{} (host = {}, credentials.username = {}, credentials.password = {})\n",
                           n, text(), text(), text());
      case 7:
        return fmt::format("deploy v {}{}\n", integer(), choose_(2) == 0 ? "" : " when = " + boolean());
      case 8:
      case 9:
        return fmt::format("output o{} (value = {}{}{})\n", n, any(),
                           choose_(2) == 0 ? ", sensitive = yes" : "",
                           choose_(4) == 0 ? ", description = " + text() : when());
      case 10:
        return fmt::format("assert ({}, {})\n", boolean(), text());
      case 11:
        return fmt::format("let l{0} = {1}\noutput p{0} (value = l{0}, sensitive = yes)\n", n, any());
      case 12:
        return fmt::format("input i{} ({} = {}, default = {})\n", n,
                           pick({"condition", "min", "one_of", "pattern", "description", "message"}), any(),
                           any());
      case 13:
        return fmt::format("each e in {} (\n  system 's-${{e}}' (net_interface.0.connection = 'lan')\n)\n",
                           list());
      case 14:
        return fmt::format("system \"x${{{}}}\" (cpu.count >= 1)\n", text());
      case 15:
        return fmt::format("contextualize 10 (option {} = {} system [{}] configure none{})\n",
                           pick({"ansible_version", "x"}), text(), text(), n);
      case 16:
      case 17:
      case 18:
        return fmt::format("configure p{0} (\n  program {1} (systems = w, main = {2}, {3}, {4})\n)\n", n,
                           choose_(3) == 0 ? text() : "'solve'", choose_(2) == 0 ? text() : "'./solve'",
                           program_property(), program_property());
      default:
        return fmt::format(
            "use './module' as m{0} (token = {1}, plain = {2}, size = {3}{4})\noutput q{0} (value = "
            "m{0}.{5}{6})\n",
            n, text(), any(), integer(), when(), pick({"shown", "hidden", "made"}),
            choose_(2) == 0 ? ", sensitive = yes" : "");
    }
  }

  const Choose& choose_;
  Expressions make_;
  bool sensitive_;
};

// RADL 1 has one mark for a secret: the name of the feature.
std::string radl1(const Choose& choose) {
  auto maybe = [&](const char* text) { return choose(2) == 0 ? std::string() : std::string(text); };
  std::string out = "network lan (outbound = 'no'" + maybe(" and proxy_host = 'u:@input.secret@@h:22'") +
                    maybe(" and proxy_key = '@input.secret@'") + ")\nsystem w (cpu.count >= 1 and\n";
  out += maybe(
      "disk.0.os.credentials.username = 'x' and\ndisk.0.os.credentials.password = '@input.secret@' and\n");
  out += maybe("disk.0.os.credentials.private_key = '@input.secret@' and\n");
  out += maybe("disk.0.os.credentials.new.password = '@input.secret@' and\n");
  out += maybe("soft 5 (disk.0.os.credentials.password = '@input.secret@') and\n");
  out += "net_interface.0.connection = 'lan')\n";
  out += maybe(
      "ansible a (host = 'h' and credentials.username = 'u' and credentials.password = '@input.secret@')\n");
  return out + "deploy w 1\n";
}

}  // namespace

std::map<std::string, std::string> secret_input_values() {
  const std::string text(kSecretText), number(kSecretNumber);
  return {{"secret", text},
          {"number", number},
          {"flag", "yes"},
          {"list", "[\"" + text + "\", \"a\", \"" + text + "b\"]"},
          {"map", "{\"k\": \"" + text + "\", \"plain\": \"" + text + "c\"}"},
          {"size", number + "K"},
          {"wait", number + "s"}};
}

std::string secret_inputs_text() {
  const Choose none = [](uint32_t) { return 0u; };
  return "radl 2\n" + Programs(none, true).inputs();
}

SecretProgram make_secret_program(const Choose& choose, bool sensitive) {
  if (choose(16) == 15) return {radl1(choose), {{"secret", std::string(kSecretText)}}, false};
  return {Programs(choose, sensitive).radl2(), secret_input_values(), true};
}

SecretProgram put_secret_into(std::string_view seed, const Choose& choose, bool sensitive) {
  if (seed.find("radl 2") == seed.npos) return {};
  for (const auto& [name, value] : secret_input_values())  // its own of that name is no secret
    if (seed.find("input " + name) != seed.npos) return {};
  std::vector<std::pair<size_t, size_t>> values;  // behind ` = `, to the end of the word or text
  for (size_t at = seed.find("= "); at != seed.npos; at = seed.find("= ", at + 1)) {
    size_t begin = at + 2;
    bool quoted = begin < seed.size() && (seed[begin] == '\'' || seed[begin] == '"');
    size_t end = quoted ? seed.find(seed[begin], begin + 1) : seed.find_first_of(" ,)\n", begin);
    if (end == seed.npos || end <= begin) continue;
    values.emplace_back(begin, quoted ? end + 1 : end);
  }
  if (values.empty()) return {};
  std::string text(seed);
  Expressions make(choose);
  auto [begin, end] = values[choose(static_cast<uint32_t>(values.size()))];
  text.replace(begin, end - begin, make.any(static_cast<int>(choose(3))));
  if (!text.ends_with("\n")) text += "\n";
  text += Programs(choose, sensitive).inputs() + kFunctions;
  return {std::move(text), secret_input_values(), true};
}

std::map<std::string, std::string> secret_program_files(bool sensitive) {
  std::string mark = sensitive ? ", sensitive = yes" : "";
  return {{"page.txt", "a: ${a}\nb: ${upper(b)}\n"},
          {"module.radl",
           "radl 2\ninput token (type = string" + mark +
               ")\ninput plain (type = any)\ninput size (type = any, default = 3)\n"
               "system node (cpu.count >= input.size, memory.size >= 1G)\n"
               "configure set (file '/tmp/module' (content = \"${input.token} ${input.plain}\"))\n"
               "contextualize (system node configure set)\n"
               "use './inner' as inner (value = \"${input.token}!\", other = input.plain)\n"
               "assert (length(input.token) < 3, \"it is ${input.token}\")\n"
               "output shown (value = input.plain)\noutput hidden (value = input.token, sensitive = yes)\n"
               "output made (value = inner.made)\n"},
          {"inner.radl",
           "radl 2\ninput value (type = string)\ninput other (type = any)\n"
           "configure inner (file '/tmp/inner' (content = input.value) command input.other)\n"
           "output made (value = [upper(input.value), input.other])\n"}};
}

}  // namespace radl::test
