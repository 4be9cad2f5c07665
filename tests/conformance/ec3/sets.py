"""The sets of templates that are composed: EC3's own in pairs and more, and small ones by hand."""
import dataclasses
import os
import random

import random_templates
import small_templates

SEED = int(os.environ.get("EC3_SEED", "15"))
RANDOM_SETS = int(os.environ.get("EC3_SETS", "200"))


@dataclasses.dataclass
class Case:
    folder: str
    templates: list


def own_templates(folder):
    return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".radl"))


def of_ec3(folder):
    names = own_templates(folder)
    images = [name for name in names if name.startswith(("ubuntu", "centos"))]
    mains = [name for name in ("slurm", "torque", "sge", "kubernetes", "mesos", "htcondor", "swarm", "nomad") if name in names]
    others = [name for name in names if name not in images]
    pick = random.Random(15)
    for main in mains:
        for image in images:
            yield [main, image]
            yield [image, main]
    for other in others:
        yield [pick.choice(mains), other, pick.choice(images)]
        yield [pick.choice(images), other, pick.choice(mains)]
    for _ in range(60):
        some = pick.sample(others, pick.randint(2, 4)) + [pick.choice(mains), pick.choice(images)]
        pick.shuffle(some)
        yield some
    for _ in range(20):
        yield pick.sample(names, 2)
    yield ["slurm", "slurm", "ubuntu-ec2"]


def all_cases(folder):
    cases = [Case(folder, templates) for templates in of_ec3(folder)]
    small = os.path.abspath("small")
    os.makedirs(small, exist_ok=True)
    for name, text in small_templates.TEMPLATES.items():
        write(os.path.join(small, name + ".radl"), text)
    for name, text in small_templates.FILES.items():
        write(os.path.join(small, name), text)
    for templates in small_templates.sets():
        cases.append(Case(small, templates))
    generator = random_templates.Generator(SEED)
    made = generator.templates(60)
    for name, text in made.items():
        write(os.path.join(small, name + ".radl"), text)
    for templates in generator.sets(list(made), RANDOM_SETS):
        cases.append(Case(small, templates))
    return cases


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
