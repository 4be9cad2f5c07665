"""A state that is too large for one object of a bucket."""
import contextlib
import os
import sqlite3


def grow(database):
    """Adds 60 runs to the history of a state (`radlc state pull`), 1 kB each, which do not compress."""
    with contextlib.closing(sqlite3.connect(database)) as db, db:
        db.executemany("INSERT INTO history (serial, time, command, summary, source_digest, principal) VALUES (1, 0, 'apply', ?, '', '')",
                       [(os.urandom(1000).hex(),) for _ in range(60)])
