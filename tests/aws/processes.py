"""Servers that a test has started."""
import subprocess


def end(process, seconds=10):
    """Asks it to end, and ends it where it does not."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
