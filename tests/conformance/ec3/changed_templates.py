"""EC3's own templates as people change them for a cluster of their own: numbers, operators and names changed, features and blocks taken out, added,
moved or copied, plays given priorities and variables; from a seed."""
import os
import random
import re

BLOCK = re.compile(r"^(?=(?:description|network|system|configure|include|deploy)\b)", re.M)
FEATURE = re.compile(r"^[ \t]*[a-z][\w.]*[ \t]*(?:=|>=|<=|<|>|contains)[^\n'()]*(?:'[^'\n]*'|\([^()\n]*\))?[ \t]*and[ \t]*(?:#[^\n]*)?\n", re.M)
ADDED = ["cpu.count >= {n}", "cpu.count <= {n}", "cpu.count = {n}", "memory.size >= {n}024m", "memory.size >= {n}G", "memory.size<={n}gb", "memory.size > {n}000000k",
         "instance_type = 'm{n}.large'", "disk.{d}.size = {n}0GB", "disk.{d}.device = 'hd{x}'", "disk.{d}.mount_path = '/mnt/{x}'", "disk.0.os.credentials.username = '{x}'",
         "disk.0.os.credentials.password = 'p{n}\\'q'", "ec3_max_instances = {n}", "ec3_min_instances = {n}", "ec3_if_fail = ''", "ec3_if_fail = 'wn{x}'", "ec3_reuse_nodes = 'True'",
         "ec3_destroy_interval = {n}00", "ec3_destroy_safe = {n}0", "ec3_node_queues_list = '{x},{x}{n}'", "disk.0.applications contains ( name = 'ansible.modules.grycap.{x}' )",
         "disk.0.applications contains (name='{x}' and version='{n}.0')", "disk.0.applications contains (name='{x}' and preinstalled='yes')", "ec3_templates contains '{x}'",
         "availability_zone = 'us-east-{n}{x}'", "net_interface.0.additional_ip = '10.0.0.{n}'", "net_interface.0.dns_name = '{x}node'", "disk.0.image.url = 'aws://us-east-1/ami-{n}0519058'",
         "spot = 'yes'", "queue_system = '{x}'", "nodes.type = '{x}'", "soft {n} ( cpu.count >= {n} )",
         "nat_instance = 'yes'", "cpu.arch = 'x86_64'", "gpu.count >= {n}", "price <= {n}", "disk.{d}.fstype='ext4'", "disk.0.free_size >= {n}0g",
         "proxy_host = 'u@h{n}.example.org:22'", "hypervisor = 'kvm'", "disk.0.os.version >= '{n}.04'", "disk.0.os.version = '{n}.04'", "disk.0.os.flavour = 'ubuntu'"]
PATHS = ["/system/front/queue_system", "/system/front/ec3_templates", "/system/*", "/system/wn", "/system/wn/ec3_max_instances", "/network/public/outports", "/system/front/auth",
         "/network/*", "/system/front/memory.size", "/system/wn/disk.0.image.url", "/system/front/net_interface.0.connection", "/configure/wn"]
PORTS = ["outports contains '{n}0/tcp'", "outports contains '{n}0/udp-{n}0/udp'", "outports contains '{n}0:{n}9/tcp'", "outbound = 'yes'", "outbound = 'no'", "provider_id = 'net{n}'",
         "create = 'yes'", "cidr = '10.{n}.0.0/24'", "sg_name = '{x}'", "outports = '{n}0/tcp,{n}1/udp'", "router = '10.0.0.0/16,{x}'"]


class Changer:
    def __init__(self, folder, names, seed):
        self.pick = random.Random(seed)
        self.texts = {}
        for name in names:
            with open(os.path.join(folder, name + ".radl"), encoding="utf-8") as file:
                self.texts[name] = file.read()

    def filled(self, text):
        pick = self.pick
        return text.replace("{n}", str(pick.randint(1, 9))).replace("{d}", str(pick.randint(0, 3))).replace("{x}", pick.choice("abcd"))

    def blocks(self, text):
        parts, inside = [], False
        for part in BLOCK.split(text):
            if inside:
                parts[-1] += part
            else:
                parts.append(part)
            inside = parts[-1].count("@begin") > parts[-1].count("@end")
        return parts

    def with_feature(self, block, features):
        at = block.find("(")
        rest = block[at + 1:]
        empty = re.match(r"\s*\)", rest)
        return block[:at + 1] + "\n  " + self.filled(self.pick.choice(features)) + ("" if empty else " and") + rest if at >= 0 else block

    def changed_recipe(self, block):
        pick = self.pick
        plays = [match for match in re.finditer(r"^(\s*)- (?=(?:vars|roles|tasks|name|pre_tasks|handlers|hosts|ec3_prio):)", block, re.M)]
        kind = pick.random()
        if kind < 0.3:
            return re.sub(r"^configure \w+", "configure " + pick.choice(["front", "wn", "wn_spot", "tools"]), block)
        if kind < 0.6 and plays and "ec3_prio" not in block:
            at = pick.choice(plays)
            return block[:at.end()] + "ec3_prio: %s\n%s  " % (pick.choice([-20, -1, 0, 1, 1, 2, 10, 50, 2.5]), at.group(1).strip("\n")) + block[at.end():]
        if kind < 0.9 and "vars:" not in block and plays:
            at = pick.choice(plays)
            indent = at.group(1).strip("\n") + "  "
            return block[:at.end()] + "vars:\n%s  OWN: {%s: %s}\n%s" % (indent, pick.choice(["ec3_xpath", "ec3_jpath"]), pick.choice(PATHS), indent) + block[at.end():]
        if kind < 0.95:
            return block.replace("@begin\n---\n", "@begin\n", 1)
        return block.replace("@begin\n", "@begin\n- ec3_append: wn\n", 1) if "---" not in block else block

    def changed(self, block):
        pick = self.pick
        keyword = block.split(None, 1)[0] if block.split() else ""
        if keyword == "configure":
            return self.changed_recipe(block)
        if keyword == "network":
            return self.with_feature(block, PORTS)
        if keyword != "system":
            return block
        kind = pick.random()
        features = list(FEATURE.finditer(block))
        if kind < 0.45 or not features:
            return self.with_feature(block, ADDED)
        one = pick.choice(features)
        if kind < 0.65:
            return block[:one.start()] + block[one.end():]
        if kind < 0.8:
            return block[:one.start()] + re.sub(r"\d+(?=\w*\s*and)", lambda _: str(pick.randint(0, 99)), one.group()) + block[one.end():]
        if kind < 0.9:
            return block[:one.start()] + re.sub(r"([^<>])=", lambda found: found.group(1) + pick.choice([">=", "<=", "="]), one.group(), count=1) + block[one.end():]
        return re.sub(r"^system \w+", "system " + pick.choice(["front", "wn", "wn_spot", "wn2"]), block)

    def template(self, names):
        pick = self.pick
        blocks = self.blocks(self.texts[pick.choice(list(self.texts))])
        for _ in range(pick.randint(1, 5)):
            at = pick.randrange(len(blocks))
            blocks[at] = self.changed(blocks[at])
        kind = pick.random()
        if kind < 0.15:
            blocks.append(blocks.pop(pick.randrange(len(blocks))))
        elif kind < 0.3:
            other = self.blocks(self.texts[pick.choice(list(self.texts))])
            blocks.append("\n" + pick.choice(other))
        elif kind < 0.4:
            blocks.append("\nsystem wn%s (\n  ec3_inherit_from = system wn and\n  %s\n)\n" % (pick.choice("abcd"), self.filled(pick.choice(ADDED))))
        elif kind < 0.5:
            blocks.append("\ninclude i%d ( template = '%s' )\n" % (pick.randint(1, 3), pick.choice([" ", ", ", "  "]).join(pick.sample(names, pick.randint(1, 2)))))
        elif kind < 0.55:
            blocks.append("\ndeploy %s %d\n" % (pick.choice(["wn", "front"]), pick.randint(0, 3)))
        elif kind < 0.6:
            blocks.pop(pick.randrange(len(blocks)))
        return "".join(blocks)

    def templates(self, count):
        names = ["changed%d" % number for number in range(count)]
        return {name: self.template(names + list(self.texts)) for name in names}

    def sets(self, changed, mains, images, count):
        pick = self.pick
        for _ in range(count):
            some = [pick.choice(mains), pick.choice(images)] + pick.sample(changed, pick.randint(1, 4))
            if pick.random() < 0.5:
                pick.shuffle(some)
            yield some
