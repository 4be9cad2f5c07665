"""Small templates for one rule each, and the sets that they are put together in. `base` is a whole cluster; the names before it or behind it say
in which order."""

BASE = """
network public ( outbound = 'yes' and outports contains '22/tcp' )
network private ( )
system front ( net_interface.0.connection = 'private' and net_interface.1.connection = 'public' and disk.0.image.url = 'one://h.example.org/1' and
  disk.0.os.name = 'linux' and cpu.count >= 1 and memory.size >= 512m and queue_system = 'slurm' and ec3_templates contains 'base' )
system wn ( net_interface.0.connection = 'private' and disk.0.image.url = 'one://h.example.org/2' and ec3_max_instances = 10 and ec3_if_fail = 'spare' )
configure front (
@begin
- tasks:
  - debug: msg=base
@end
)
deploy front 1
"""


def recipe(name, text):
    return "configure %s (\n@begin\n%s@end\n)\n" % (name, text)


def play(name, rest=""):
    return "- name: %s\n%s" % (name, rest)


def variables(name, *entries):
    return recipe(name, "- name: %s\n  vars:\n%s" % (name, "".join("    V%d: %s\n" % each for each in enumerate(entries))))


TEMPLATES = {
    "base": BASE,
    # recipes
    "a": recipe("front", play("a1") + play("a2")),
    "b": recipe("front", play("b1")),
    "same": recipe("front", "- tasks:\n  - debug: msg=base\n"),
    "first": recipe("front", play("first", "  ec3_prio: -10\n")),
    "last": recipe("front", play("last", "  ec3_prio: 100\n")),
    "equal1": recipe("front", play("e1", "  ec3_prio: 1\n") + play("e2", "  ec3_prio: 1\n")),
    "equal2": recipe("front", play("f1", "  ec3_prio: 1\n") + play("f2")),
    "decimal": recipe("front", play("decimal", "  ec3_prio: 0.5\n") + play("true", "  ec3_prio: yes\n") + play("octal", "  ec3_prio: 010\n")),
    "words": recipe("front", play("words", "  ec3_prio: high\n")),
    "alone": recipe("gnuplot", play("alone", "  ec3_prio: high\n")),
    "nothing": recipe("front", play("nothing", "  ec3_prio:\n")),
    "text": recipe("front", "just words\n"),
    "map": recipe("front", "tasks:\n- a\nvars: {x: 1}\n"),
    "map2": recipe("front", "tasks:\n- b\nvars: {y: 2}\nhosts: all\n"),
    "noplay": recipe("front", "- just words\n- ec3_prio: 1\n"),
    "empty": recipe("front", "\n"),
    "emptywn": recipe("wn", "\n"),
    "reference": "configure front\nconfigure wn\n",
    "aliases": recipe("front", "- &p\n  name: p\n  ec3_prio: 3\n- *p\n- <<: *p\n  name: q\n"),
    "types": recipe("front", "- name: types\n  a: [1, 2.50, 0x1F, 017, 1_000, 1e3, 1.0e+3, ~, yes, off, 2001-12-14, '1', \"x\\ty\", 1:30, .inf, 0o7, 08]\n"
                             "  long: words %s\n  block: |\n    one\n     two\n\n    three\n  folded: >-\n    one\n    two\n  'quo''ted': \"caf\\u00e9 caf\xe9\"\n"
                             "  1: one\n  empty: {}\n  none: []\n" % ("word " * 40)),
    # append
    "append": recipe("front", "- ec3_append: wn\n- name: own\n") + recipe("wn", play("wn1", "  ec3_prio: 5\n") + play("wn2")),
    "appendmissing": recipe("front", "- ec3_append: nowhere\n"),
    # variables
    "xpath": variables("front", "{ec3_xpath: /system/front/queue_system}", "{ec3_xpath: /network/public/outports}", "{ec3_xpath: /system/wn/*}",
                       "{ec3_xpath: /system/wn}", "{ec3_xpath: /network/*}", "{ec3_xpath: '/ system / front / disk.0.image.url '}",
                       "{ec3_xpath: /system/front/net_interface.1.connection/outports}", "{ec3_xpath: /system/front/net_interface.1.connection}"),
    "jpath": variables("front", "{ec3_jpath: /system/*}", "{ec3_jpath: /system/front}", "{ec3_jpath: /system/wn/*}", "{ec3_jpath: /system/front/ec3_templates}",
                       "{ec3_jpath: /system/wn/ec3_max_instances}", "{ec3_jpath: /network/public/outports}", "{ec3_jpath: /network/private/*}"),
    "ofrecipe": variables("front", "{ec3_xpath: /configure/wn}", "{ec3_xpath: /configure/wn/*}", "{ec3_jpath: /configure/wn}")
                + variables("wn", "{ec3_xpath: /system/front/queue_system}", "'{{ braces }}'"),
    "file": variables("front", "{ec3_file: script.sh}"),
    "filemissing": variables("front", "{ec3_file: nowhere.sh}"),
    "nofeature": variables("front", "{ec3_xpath: /system/front/queue_sistem}"),
    "nosystem": variables("front", "{ec3_xpath: /system/nowhere/x}"),
    "noclass": variables("front", "{ec3_xpath: /nothing/nowhere/x}"),
    "short": variables("front", "{ec3_xpath: /system}"),
    "number": variables("front", "{ec3_xpath: /system/wn/ec3_max_instances}"),
    "interval": variables("front", "{ec3_jpath: /system/front/cpu.count}"),
    "deep": variables("front", "{ec3_xpath: /system/front/queue_system/x}"),
    "listvars": recipe("front", "- name: l\n  vars:\n  - A: {ec3_xpath: /system/front/queue_system}\n"),
    "deepvars": recipe("front", "- name: l\n  vars:\n    A: {B: {ec3_xpath: /system/front/queue_system}}\n"),
    "braces": "system front ( note = '{{ a }} { b }' )\n" + variables("front", "{ec3_xpath: /system/front/note}", "{ec3_jpath: /system/front/note}"),
    "softs": "system wn ( soft 10 ( cpu.arch = 'x86_64' and memory.size >= 2g ) and price = 0.5 )\n" + variables("front", "{ec3_jpath: /system/wn}", "{ec3_xpath: /system/wn}"),
    "groups": "system wn ( disk.0.applications contains (name = 'x' and version = '1') and disk.0.applications contains (name = 'y') )\n"
              + variables("front", "{ec3_jpath: /system/wn}", "{ec3_xpath: /system/wn/*}"),
    "groups2": "system wn ( disk.0.applications contains (name = 'x' and version = '2' and path = '/p') and disk.0.applications contains (name = 'z') )\n",
    # features
    "narrow": "system front ( cpu.count >= 2 and cpu.count <= 8 and memory.size <= 2g )\n",
    "apart": "system front ( cpu.count <= 4 and cpu.count >= 3 )\nsystem wn ( ec3_max_instances = 3 )\n",
    "away": "system front ( cpu.count = 16 )\nsystem wn ( ec3_max_instances >= 12 )\n",
    "other": "system front ( queue_system = 'torque' and disk.0.image.url = 'one://h.example.org/9' )\nnetwork public ( outbound = 'no' )\n",
    "ports": "network public ( outports contains '80/tcp' and outports contains '22/tcp' )\nnetwork private ( outports contains '53/udp' )\n",
    "portsvalue": "network public ( outports = '80/tcp' )\n",
    "templates": "system front ( ec3_templates contains 'templates' and ec3_templates_cmd = 'mine' )\n",
    "textnumber": "system front ( queue_system = 5 )\n",
    "numbertext": "system front ( cpu.count = 'many' )\n",
    "groupset": "system front ( ec3_templates contains (name = 'x') )\n",
    "setnumber": "system front ( ec3_templates contains 5 )\n",
    "keyless": "system wn ( disk.0.applications contains (path = '/a') and disk.0.applications contains (path = '/b') )\n",
    "twodeploys": "deploy wn 2\ndeploy front 1\n",
    "connect": "system front ( net_interface.1.connection = network private )\n",
    # contextualize
    "context": "contextualize 300 (\n  system front configure front step 1\n  system wn configure extra step 2\n)\n" + recipe("extra", play("extra")),
    "context2": "contextualize 900 (\n  system wn configure extra2\n)\n" + recipe("extra2", play("extra2")),
    "contextempty": "contextualize 900 ()\n",
    # inheriting
    "chain": "system gpu ( ec3_inherit_from = system wn )\nsystem gpus ( ec3_inherit_from = system gpu and gpu.count >= 4 )\n",
    "heir": "system gpu ( ec3_inherit_from = system wn and gpu.count >= 1 and ec3_max_instances = 2 and ec3_if_fail = '' )\n" + recipe("wn", play("of wn")),
    "heirrecipe": recipe("gpu", play("of gpu")),
    "heirnumber": "system gpu ( ec3_max_instances >= 20 and disk.0.image.url = 'one://h.example.org/3' )\n",
    "heirnet": "network other ( ec3_inherit_from = network public and outports contains '99/tcp' )\n",
    # including
    "includes": "include one ( template = 'a  b' )\n",
    "includesagain": "include one ( template = 'last' )\n",
    "includestwo": "include two ( template = 'includes first a' )\n",
    "includesitself": "include self ( template = 'includesitself a' )\n",
    "includesnothing": "include one ( template = ' ' )\n",
    "include3": "include x ( template = 'include4' )\n" + recipe("front", play("three")),
    "include4": "include y ( template = 'include5 b' )\n" + recipe("front", play("four")),
    "include5": "include z ( template = 'include3 a' )\n" + recipe("front", play("five")),
    "names": "description names ( kind = 'component' and short = 's' )\nnetwork public ( )\n",
    # refused, or only in some order
    "needsmore": "system front ( net_interface.2.connection = 'more' )\n",
    "more": "network more ( )\n",
    "needsdisk": "system front ( disk.2.size = 1g )\n",
    "disk": "system front ( disk.1.size = 1g )\n",
    "contextfirst": "contextualize (\n  system front configure extra\n)\n",
    "extra": recipe("extra", play("extra")),
    "twice": "system front ( queue_system = 'x' )\nsystem front ( queue_system = 'y' )\n",
    "contradicts": "system front ( cpu.count >= 8 and cpu.count <= 2 )\n",
    "deployfirst": "deploy late 1\n",
    "late": "system late ( )\n",
}

FILES = {"script.sh": "#!/bin/sh\necho ${HOME} {{ x }}\n"}

RECIPES = ["a", "b", "same", "first", "last", "equal1", "equal2", "decimal", "words", "alone", "nothing", "text", "map", "map2", "noplay", "empty", "emptywn",
           "reference", "aliases", "types", "append", "appendmissing"]
LOOKING = ["xpath", "jpath", "ofrecipe", "file", "filemissing", "nofeature", "nosystem", "noclass", "short", "number", "interval", "deep", "listvars",
           "deepvars", "braces", "softs", "groups"]
FEATURES = ["narrow", "apart", "away", "other", "ports", "portsvalue", "templates", "textnumber", "numbertext", "groupset", "twodeploys", "connect"]


def sets():
    for name in TEMPLATES:
        yield ["base", name]
        if name != "base":
            yield [name, "base"]
    for one in RECIPES:
        for other in RECIPES[:RECIPES.index(one)]:
            yield ["base", one, other]
    for one in FEATURES:
        for other in FEATURES:
            if one != other:
                yield ["base", one, other, "jpath"]
        yield ["base", "xpath", one]
    for one in LOOKING:
        yield ["base", one, "a", "ports"]
    yield ["base", "groups", "groups2"]
    yield ["base", "groups2", "softs", "groups"]
    yield ["base", "heir", "heirrecipe"]
    yield ["base", "heirrecipe", "heir"]
    yield ["base", "heir", "heirnumber", "jpath"]
    yield ["base", "heirnumber", "heir", "xpath"]
    yield ["base", "heirnet", "xpath"]
    yield ["base", "context", "context2"]
    yield ["base", "context2", "context"]
    yield ["base", "context", "contextempty"]
    yield ["base", "includes", "includesagain"]
    yield ["includesagain", "includes", "base"]
    yield ["base", "includestwo", "includes"]
    yield ["base", "includes", "a"]
    yield ["base", "base", "a", "a"]
    yield ["base", "needsmore", "more"]
    yield ["base", "more", "needsmore"]
    yield ["base", "needsdisk", "disk"]
    yield ["base", "disk", "needsdisk"]
    yield ["base", "contextfirst", "extra"]
    yield ["base", "extra", "contextfirst"]
    yield ["base", "deployfirst", "late"]
    yield ["base", "late", "deployfirst"]
