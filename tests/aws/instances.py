"""Binds what moto says is running to machines that can be logged in to (node_view.py), for as long as it runs."""
import base64
import pathlib
import shutil
import threading
import time

import botocore.exceptions
import botocore.parsers

from account import instances
from node_view import NodeView, own_view_works
from user_data import understood

IDLE = 0.5  # seconds between two looks at moto while nothing is asked for, where somebody does things past the proxy


def addresses_of(record):
    return sorted({record.get("PrivateIpAddress"), record.get("PublicIpAddress")} - {None, ""})


class Instances(threading.Thread):
    """Looks at moto now and then; `close()` ends every machine. What goes wrong with one of them is in `errors`."""

    def __init__(self, moto, folder, region="us-east-1", pace=0.02, boots=True, isolated=None, idle=IDLE, kind=NodeView):
        super().__init__(daemon=True)
        self.moto, self.folder, self.pace, self.boots = moto, pathlib.Path(folder), pace, boots
        self.idle, self.kind = idle, kind
        self.ec2 = moto.client("ec2", region)
        self.views = {}  # instance id -> NodeView, also of machines that are stopped
        self.records = {}  # instance id -> what moto said last
        self.running = set()
        self.errors = []
        self.isolated = own_view_works() if isolated is None else isolated
        self._done, self._news = threading.Event(), threading.Event()
        self._lock = threading.Lock()
        self.start()

    def news(self):
        """moto has done what somebody asked for: it is looked at now. What is done past the proxy is seen after a while."""
        self._news.set()

    def _wait(self):
        """False when it is over. Each look costs moto and this program tens of milliseconds."""
        self._news.wait(self.idle)
        self._news.clear()
        return not self._done.wait(self.pace)  # what is asked for at the same time is seen by one look

    def run(self):
        while self._wait():
            try:
                seen = {i["InstanceId"]: i for i in instances(self.ec2)}
            except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError, botocore.parsers.ResponseParserError):
                continue  # moto is being stopped, or a test has taken it away
            try:
                with self._lock:
                    self._follow(seen)
            except Exception as error:  # the thread must live: the test says what was wrong
                self.errors.append(repr(error))

    def _follow(self, seen):
        # First what goes: a new machine may have the address of one that is no more.
        for name in [n for n in self.views if n not in seen]:
            self._remove(name)
        for name in [n for n in self.running if n in seen and seen[n]["State"]["Name"] == "stopped"]:
            self.running.discard(name)
            self.views[name].stop()
        for name, record in seen.items():
            self.records[name] = record
            if record["State"]["Name"] == "running" and name not in self.running and self.boots:
                self.running.add(name)
                self._boot(name, record)
            elif record["State"]["Name"] == "running" and name in self.running and self.views[name].addresses != addresses_of(record):
                self.views[name].listen(addresses_of(record))
        for name in self.running & set(self.views):
            if self.views[name].goes_off():
                self._shut_down(name)

    def _boot(self, name, record):
        keys = []
        if record.get("KeyName"):
            pairs = self.ec2.describe_key_pairs(KeyNames=[record["KeyName"]], IncludePublicKey=True)["KeyPairs"]
            keys = [pair["PublicKey"] for pair in pairs]
        data = self.user_data(name)
        more, commands, host = understood(data)
        view = self.views.setdefault(name, self.kind(self.folder / name, name, self.isolated))
        view.user_data = data
        view.start(addresses_of(record), keys + more, commands, host)

    def user_data(self, name):
        answer = self.ec2.describe_instance_attribute(InstanceId=name, Attribute="userData")
        return base64.b64decode(answer.get("UserData", {}).get("Value", ""))

    def _shut_down(self, name):
        behavior = self.ec2.describe_instance_attribute(InstanceId=name, Attribute="instanceInitiatedShutdownBehavior")
        ends = behavior.get("InstanceInitiatedShutdownBehavior", {}).get("Value") == "terminate"
        (self.ec2.terminate_instances if ends else self.ec2.stop_instances)(InstanceIds=[name])

    def _remove(self, name):
        self.running.discard(name)
        view = self.views.pop(name)
        view.stop()
        shutil.rmtree(view.folder, ignore_errors=True)

    def machine(self, name, seconds=30):
        """The machine of an instance, once it takes logins."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with self._lock:
                if name in self.running and name in self.views and self.views[name].process:
                    return self.views[name]
            time.sleep(0.02)
        raise RuntimeError(f"{name} does not boot: {self.errors}")

    def console(self, name):
        """What a console shows of cloud-init's end: the host keys."""
        with self._lock:
            view = self.views.get(name)
        return f"-----BEGIN SSH HOST KEY KEYS-----\n{view.host_key}\n-----END SSH HOST KEY KEYS-----\n" if view else ""

    def close(self):
        self._done.set()
        self._news.set()
        self.join()
        for name in list(self.views):
            self._remove(name)
