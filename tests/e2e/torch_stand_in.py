"""Stands for PyTorch, whose packages take a gigabyte: files of a program, by path, of which `torchrun` runs what it is given, once on each node."""
FILES = {
    "torch/__init__.py": "",
    "torch/distributed/__init__.py": "",
    "torch/distributed/run.py": """import runpy, sys
main = next(word for word in sys.argv[1:] if not word.startswith("--"))
runpy.run_path(main, run_name="__main__")
""",
}
