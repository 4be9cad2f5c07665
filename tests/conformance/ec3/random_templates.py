"""Templates and sets of them by chance, from a seed."""
import random

NUMBERS = ["cpu.count %s %d", "memory.size %s %dm", "memory.size %s %dg", "ec3_max_instances %s %d", "disk.0.size %s %dg", "gpu.count %s %d", "x.number %s %d"]
TEXTS = ["queue_system", "instance_type", "disk.0.os.flavour", "ec3_if_fail", "note", "ec3_node_type"]
VALUES = ["a", "b c", "it\\'s", "{x}", "{{ y }}", "", "yes", "1", "a: b", "caf\xe9", "two\nlines"]
PATHS = ["/system/front/queue_system", "/system/front/note", "/system/wn/instance_type", "/system/*", "/network/*", "/network/public/outports", "/network/private/*",
         "/system/front", "/system/wn/*", "/system/extra/note", "/system/wn/ec3_max_instances", "/system/front/cpu.count", "/system/front/ec3_templates",
         "/system/front/net_interface.0.connection/outports", "/configure/wn", "/configure/front/*", "/system/front/memory.size", "/system/wn/disk.0.applications"]


class Generator:
    def __init__(self, seed):
        self.pick = random.Random(seed)

    def feature(self):
        pick = self.pick
        kind = pick.random()
        if kind < 0.4:
            return pick.choice(NUMBERS) % (pick.choice(["=", ">=", "<=", ">", "<"]), pick.randint(0, 9))
        if kind < 0.7:
            return "%s = '%s'" % (pick.choice(TEXTS), pick.choice(VALUES))
        if kind < 0.8:
            return "ec3_templates contains '%s'" % pick.choice("abcd")
        if kind < 0.93:
            return "disk.0.applications contains (name = '%s'%s)" % (pick.choice("xyz"), pick.choice(["", " and version = '1.%d'" % pick.randint(0, 3), " and path = '/p'"]))
        if kind < 0.97:
            return "soft %d ( cpu.count >= %d and note = 'soft' )" % (pick.randint(1, 3), pick.randint(1, 3))
        return "price = %d.5" % pick.randint(0, 2)

    def features(self, most):
        chosen = {}
        for _ in range(self.pick.randint(0, most)):
            one = self.feature()
            name = one.split()[0] + (one if "contains" in one or one.startswith("soft") else "")
            chosen.setdefault(name, one)
        return " and\n  ".join(chosen.values())

    def system(self, name):
        return "system %s (\n  %s\n)\n" % (name, self.features(4))

    def network(self):
        pick = self.pick
        ports = ["outports contains '%d/tcp'" % pick.randint(1, 9) for _ in range(pick.randint(0, 2))]
        if pick.random() < 0.2:
            ports.append("outbound = '%s'" % pick.choice(["yes", "no"]))
        return "network %s ( %s )\n" % (pick.choice(["public", "private", "third"]), " and ".join(dict.fromkeys(ports)))

    def play(self):
        pick = self.pick
        lines = ["- name: play %d" % pick.randint(0, 99)]
        if pick.random() < 0.4:
            lines.append("  ec3_prio: %s" % pick.choice(["-10", "-1", "0", "1", "1", "2", "3.5", "100", "'1'" if pick.random() < 0.1 else "5"]))
        if pick.random() < 0.4:
            lines.append("  vars:")
            for number in range(pick.randint(1, 3)):
                word = pick.choice(["ec3_xpath", "ec3_jpath", "plain"])
                lines.append("    V%d: %s" % (number, pick.choice(["text", "5", "[a, b]", "{k: v}"]) if word == "plain" else "{%s: %s}" % (word, pick.choice(PATHS))))
        if pick.random() < 0.3:
            lines.append("  tasks:\n  - shell: |\n      echo 'one'\n      echo %s\n    when: x is defined" % pick.choice(["{{ a }}", "two", "\xe9"]))
        return "\n".join(lines) + "\n"

    def configure(self):
        pick = self.pick
        body = "".join(self.play() for _ in range(pick.randint(1, 3)))
        return "configure %s (\n@begin\n%s%s@end\n)\n" % (pick.choice(["front", "front", "wn", "extra", "loose"]), pick.choice(["", "---\n"]), body)

    def template(self, names):
        pick = self.pick
        text = "description d%d ( kind = 'component' and short = 's' )\n" % pick.randint(0, 3) if pick.random() < 0.5 else ""
        parts = [lambda: self.system(pick.choice(["front", "wn", "extra"])), self.network, self.configure]
        seen = set()
        for _ in range(pick.randint(1, 4)):
            part = pick.choice(parts)()
            head = tuple(part.split()[:2])
            if head not in seen:
                text += part
            seen.add(head)
        if pick.random() < 0.2:
            text += "include %s ( template = '%s' )\n" % (pick.choice(["i", "j"]), " ".join(pick.sample(names, pick.randint(1, 2))))
        if pick.random() < 0.1 and ("system", "heir") not in seen:
            text += "system heir (\n  ec3_inherit_from = system wn%s\n)\n" % (" and " + self.feature() if pick.random() < 0.7 else "")
        if pick.random() < 0.1:
            text += "deploy %s %d\n" % (pick.choice(["wn", "front"]), pick.randint(0, 2))
        return text

    def templates(self, count):
        names = ["r%d" % number for number in range(count)]
        return {name: self.template(names) for name in names}

    def sets(self, names, count):
        for _ in range(count):
            some = self.pick.sample(names, self.pick.randint(1, 3))
            yield ["base"] + some if self.pick.random() < 0.8 else some + ["base"]
