"""What suites in Python share: calling a program, and running named checks one after another."""
import shutil
import subprocess
import time


def call(*arguments):
    """What a program says; an AssertionError with its complaint when it fails."""
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, arguments))}: {done.stderr.strip()}"
    return done.stdout


def run_checks(checks, wanted, work, allowed, *problems):
    """Runs those of `checks` (name, function that returns a line) that are wanted (all, if none is named), prints a line for
    each and the counts, and removes work/NAME. What fails raises an AssertionError or one of `problems`."""
    chosen, failed = [c for c in checks if not wanted or c[0] in wanted], 0
    unknown = set(wanted) - {name for name, _ in checks}
    if unknown:
        print(f"no such check: {', '.join(sorted(unknown))}")
        return 1
    for name, check in chosen:
        begin = time.monotonic()
        try:
            print(f"{name}: {check()}; {time.monotonic() - begin:.1f} s", flush=True)
        except (AssertionError, subprocess.TimeoutExpired, *problems) as problem:
            failed += 1
            print(f"{name}: FAILED: {problem}", flush=True)
        shutil.rmtree(work / name, ignore_errors=True)
    print(f"{len(chosen) - failed} passed, {failed} failed, 0 skipped; allowed {allowed}")
    return 1 if failed else 0
