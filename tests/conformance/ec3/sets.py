"""The sets of templates that are composed: EC3's own in pairs and more, the same as people change them, and small ones by hand and by chance."""
import dataclasses
import os
import random
import shutil

import changed_templates
import random_templates
import small_templates

SEED = int(os.environ.get("EC3_SEED", "15"))
RANDOM_SETS = int(os.environ.get("EC3_SETS", "200"))
MAINS = ("slurm", "torque", "sge", "kubernetes", "mesos", "htcondor", "swarm", "nomad")


@dataclasses.dataclass
class Case:
    folder: str
    templates: list


def own_templates(folder):
    return sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".radl"))


def of_ec3(folder):
    names = own_templates(folder)
    images = [name for name in names if name.startswith(("ubuntu", "centos"))]
    mains = [name for name in MAINS if name in names]
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


def changed(folder):
    """In a folder of its own, where templates find each other."""
    place = os.path.abspath("changed")
    shutil.copytree(folder, place, dirs_exist_ok=True)
    names = own_templates(folder)
    changer = changed_templates.Changer(folder, names, SEED)
    made = changer.templates(max(RANDOM_SETS // 4, 8))
    for name, text in made.items():
        write(os.path.join(place, name + ".radl"), text)
    mains = [name for name in MAINS if name in names]
    images = [name for name in names if name.startswith(("ubuntu", "centos"))]
    for templates in changer.sets(list(made), mains, images, RANDOM_SETS):
        yield Case(place, templates)


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
    return cases + list(changed(folder))


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
