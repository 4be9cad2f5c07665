"""Random RADL documents, valid and nearly valid, from a seed."""
import random

NAMES = ["a", "b", "node", "pub", "priv", "front", "wn", "x.y", "_u", "n-1", "Z9"]
UNITS = ["", "", "", "K", "M", "G", "T", "KB", "MB", "GB", "Ki", "Mi", "GiB", "TiB", "Ti", "B", "ECU", "GCEU", "g", "mb", "foo"]
TEXTS = ["x", "yes", "no", "YES", "linux", "", "22.04", "a b", "it\\'s", "back\\\\slash", "\\n", "#N#", "22/tcp", "22,80",
         "22/tcp-22/udp", "8080-80", "1:10", "10.0.0.0/8-5000", "22, 80", "Abcdef1+", "abc", "x86_64", "i386", "i686",
         "\u00e9t\u00e9", "\u4e16", "\U0001f600", "qcow2", "random", "a\nb", "tab\there", "ansible.modules.x", "pub", "priv", "h"]
FREE = ["foo", "bar", "a_min", "weight", "my.version", "note", "cpu.cont"]
SYSTEM = ["cpu.count", "cpu.arch", "cpu.performance", "memory.size", "price", "spot", "image_type", "virtual_system_type",
          "ansible_host", "gpu.count", "instance_type", "net_interface.0.connection", "net_interface.0.ip",
          "net_interface.0.dns_name", "net_interface.1.connection", "net_interface.1.dns_name", "net_interface.x.y",
          "disk.0.image.url", "disk.0.size", "disk.1.size", "disk.2.size", "disk.0.free_size", "disk.0.os.name",
          "disk.0.os.version", "disk.0.os.flavour", "disk.0.os.credentials.username", "disk.0.os.credentials.new.password",
          "disk.0.applications", "disk.1.type", "disk.1.fstype", "disk.x.size", "disk.5.foo", "disk.0.image.name"]
NETWORK = ["outbound", "outports", "provider_id", "create", "cidr", "sg_name", "router"]
ANSIBLE = ["host", "credentials.username", "credentials.password", "credentials.private_key"]
APPLICATION = ["name", "version", "path", "preinstalled", "extra"]
RIGHT = {"cpu.arch": ["'x86_64'", "'i386'"], "spot": ["'yes'", "'no'"], "image_type": ["'qcow2'", "'RAW'"],
         "memory.size": ["1G", "512M", "2 Gi"], "cpu.performance": ["4ECU", "2.5 gceu"], "cpu.count": ["1", "2", "4"],
         "price": ["1", "0.5"], "disk.0.os.name": ["'linux'", "'Windows'"], "disk.0.os.version": ["'22.04'", "'7'"],
         "outbound": ["'yes'", "'no'"], "outports": ["'22/tcp'", "'22,80-8080/tcp'", "'8:9/udp'"],
         "net_interface.0.connection": ["'pub'"], "net_interface.1.connection": ["'priv'", "'pub'"],
         "ansible_host": ["'node'"], "disk.0.os.credentials.new.password": ["'Abcdef1+'"],
         "disk.0.size": ["1G", "1.5GB"], "disk.1.size": ["10G"], "disk.2.size": ["1TB"], "disk.0.free_size": ["20 GB"]}
RECIPES = ["- a: b", "---\n- tasks:\n    - debug: msg=\"x\"", "a: [1, 2]", "{a: [", "a: b: c", "\ta: b", "- a\n  - b",
           "a: \"{{ x }}\"", "a: {{ x }}", "", "# only a comment", "a: |\n  text @end\n   more", "- 'x' # c", "a: &x 1\nb: *x",
           "a: *y", "a: !foo b", "a: !!str b", "x: 'it''s'", "- {a: 1, b: [c, d]}", "---\na\n---\nb", "a: >\n folded\n text",
           "- name: x\n  shell: echo $HOME; ls | grep 'a'", "a:\n- b\n- c", "key: @at", "? x\n: y", "a: \"\\q\"", "[a, b", "'open"]


class Generator:
    def __init__(self, seed):
        self.r = random.Random(seed)

    def pick(self, items):
        return self.r.choice(items)

    def maybe(self, p):
        return self.r.random() < p

    def blank(self):
        return self.pick([" "] * 8 + ["\n", "  ", "\t", "\n  ", " # note\n"])

    def number(self):
        return self.pick([str(self.r.randint(0, 20)), str(self.r.randint(0, 5)), "%d.%d" % (self.r.randint(0, 9), self.r.randint(0, 99)),
                          "3.", "007", "1.5.2", "1e3", str(self.r.randint(0, 10 ** self.r.randint(1, 22))), "0.%06d" % self.r.randint(0, 999)])

    def comparator(self):
        return self.pick(["="] * 6 + ["<", ">", "<=", ">=", ">="])

    def text(self):
        return "'" + self.pick(TEXTS) + "'"

    def value(self):
        k = self.r.random()
        if k < 0.45:
            return self.number() + self.pick(["", " "]) + self.pick(UNITS)
        if k < 0.93:
            return self.text()
        return "[" + self.pick(["", " "]) + ", ".join(self.text() for _ in range(self.r.randint(0, 3))) + "]"

    def feature(self, names, depth=0):
        k = self.r.random()
        if k < 0.06 and depth < 3:
            return "soft " + self.pick(["1", "10", "2.5"]) + " (" + self.features(names, depth + 1, 3) + ")"
        name = self.pick(names) if self.maybe(0.93) else self.pick(FREE)
        if name == "disk.0.applications" and self.maybe(0.9) or (self.maybe(0.03) and depth < 3):
            return name + self.blank() + "contains (" + self.features(APPLICATION, depth + 1, 3) + ")"
        if name in RIGHT and self.maybe(0.7):
            return name + self.pick([" ", ""]) + self.pick(["=", "=", ">="] if RIGHT[name][0][0] != "'" else ["="]) + " " + self.pick(RIGHT[name])
        return name + self.pick([" ", "", self.blank()]) + self.comparator() + self.pick([" ", "", self.blank()]) + self.value()

    def features(self, names, depth=0, most=5):
        parts = [self.feature(names, depth) for _ in range(self.r.randint(0, most))]
        joint = self.blank() + "and" + self.blank()
        lead = "and " if parts and self.maybe(0.02) else ""
        return self.pick(["", " ", "\n  "]) + lead + joint.join(parts) + self.pick(["", " ", "\n"])

    def name(self):
        return self.pick(NAMES)

    def block(self, kind, names):
        if kind != "ansible" and self.maybe(0.15):
            return kind + " " + self.name()
        return kind + self.blank() + self.name() + self.blank() + "(" + self.features(names) + ")"

    def recipe(self):
        return "@begin" + self.pick(["\n", " \n", "\n\n"]) + self.pick(RECIPES) + "\n@end"

    def configure(self):
        k = self.r.random()
        if k < 0.1:
            return "configure " + self.name()
        if k < 0.2:
            return "configure " + self.name() + " ()"
        return "configure " + self.name() + " (" + self.blank() + self.recipe() + self.pick(["", " ", "\n"]) + ")"

    def deploy(self):
        return "deploy " + self.name() + self.blank() + self.pick(["0", "1", "2", "3", "1.5"]) + self.pick(["", "", " ec2", "\nost"])

    def contextualize(self):
        options = ["option " + self.pick(["ansible_version", "x"]) + " " + self.comparator() + " " + self.pick(["'2.9'", "1", "2.5"])
                   for _ in range(self.r.choice([0, 0, 0, 1, 2]))]
        items = ["system " + self.name() + " configure " + self.name() + self.pick(["", " step 1", " step 2", " with cloud_init", " step 0", " step 1.5"])
                 for _ in range(self.r.randint(0, 3))]
        return "contextualize" + self.blank() + self.pick(["", "", "600 ", "0 ", "7.5 "]) + "(" + " " + "\n ".join(options + items) + ")"

    def document(self):
        parts = []
        if self.maybe(0.12):
            parts.append(self.block("description", ["name", "kind", "short"]))
        if self.maybe(0.5):
            parts += ["network pub (outbound = 'yes')", "network priv ()"]
        makers = [lambda: self.block("network", NETWORK), lambda: self.block("system", SYSTEM), lambda: self.block("system", SYSTEM),
                  lambda: self.block("system", SYSTEM), self.configure, self.deploy, self.contextualize]
        for _ in range(self.r.randint(0, 4)):
            parts.append(self.pick(makers)())
        if self.maybe(0.08):
            parts.append(self.block("ansible", ANSIBLE))
        return self.pick(["\n", "\n", " ", "\n# comment 'quote\n"]).join(parts) + self.pick(["", "\n"])

    def spoil(self, text):
        """A small random mistake."""
        if not text:
            return text
        at = self.r.randrange(len(text))
        k = self.r.random()
        if k < 0.25:
            return text[:at] + text[at + 1:]
        if k < 0.45:
            return text[:at] + self.pick(list("'()[],=<>#;-@\"\\.{}$ \n") + ["and", "@end", "\n@end", "@begin", "'x'", "1"]) + text[at:]
        if k < 0.6:
            words = text.split(" ")
            i = self.r.randrange(len(words))
            if self.maybe(0.5):
                words.insert(i, self.pick(["and", "system", "network", "soft", "contains", "step", "with", "option", "deploy", "(", ")", "=",
                                           "description", "configure", "1", "'t'", "name"]))
            else:
                del words[i]
            return " ".join(words)
        if k < 0.75:
            return text[:at]
        if k < 0.9:
            end = min(len(text), at + self.r.randint(1, 12))
            return text[:at] + text[end:]
        end = min(len(text), at + self.r.randint(1, 20))
        return text[:end] + text[at:end] + text[end:]


def case(seed):
    g = Generator(seed)
    text = g.document()
    for _ in range(g.pick([0, 0, 0, 1, 1, 2])):
        text = g.spoil(text)
    return text.replace("\0", "")
