"""moto's own server, with three repairs.

It reads its images again when it is reset, though it has changed the list in place.

It compares signatures with what was sent, not with what it has decoded and encoded again. Otherwise moto refuses what is signed rightly as
soon as a key, prefix or value has a character that can be encoded in two ways ("a/b" in a query, a space in a form).

It answers the Query API one request after the other. Its tables are no threads' business: a list of instances that is asked for while one
is made fails now and then with a page that says "Internal Server Error" ("dictionary changed size during iteration").

What it finds out anew for each request or member of an answer, and is always the same, it remembers: that was half of its time.
"""
import functools
import io
import sys
import threading

import flask
import moto.backends
import moto.core.responses
import xmltodict
from moto.core import serialize
from moto.ec2.models import amis
from moto.ec2.models.core import TaggedEC2Resource
from moto.ec2.utils import EC2_PREFIX_TO_RESOURCE, get_prefix
from moto.iam.access_control import IAMRequestBase
from moto.moto_server.werkzeug_app import DomainDispatcherApplication
from moto.server import main

FORM = "application/x-www-form-urlencoded"
load_images = amis.AmiBackend._load_amis
decoded, dispatched = IAMRequestBase._create_aws_request, DomainDispatcherApplication.__call__
turn = threading.Lock()


def loading_again(self):
    for image in amis.AMIS:
        image["creation_date"] = str(image["creation_date"])
    load_images(self)


def keeping_the_form(self, environ, start_response):
    if environ.get("CONTENT_TYPE", "").startswith(FORM) and environ.get("CONTENT_LENGTH"):
        environ["tests.form"] = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        environ["wsgi.input"] = io.BytesIO(environ["tests.form"])
        with turn:
            return list(dispatched(self, environ, start_response))
    return dispatched(self, environ, start_response)


def as_sent(self):
    kept = self._path, self._body
    self._path = flask.request.environ.get("RAW_URI") or self._path
    self._body = flask.request.environ.get("tests.form") or self._body
    try:
        return decoded(self)
    finally:
        self._path, self._body = kept


class Keys(dict):
    """(member of an answer, class that has it) -> the names under which it may be there, in their order."""

    def __init__(self, picker):
        super().__init__()
        self.names = picker.get_possible_keys

    def of(self, picker, context):
        if hasattr(context.obj, "Meta"):  # names of its own
            return self.names(picker, context)
        member = (context.shape, context.obj.__class__, context.key)
        if member not in self:
            self[member] = tuple(self.names(picker, context))
        return self[member]


def picked(keys):
    """AttributePicker's __call__."""
    def pick(self, context):
        value = None
        for key in keys.of(self, context):
            if (found := serialize.get_value(context.obj, key, serialize.MISSING)) is not serialize.MISSING:
                value = found
                break
        path = f"{context.key_path}.{context.key}"
        if path.endswith(tuple(self.response_transformers)):
            return next(change for end, change in self.response_transformers.items() if path.endswith(end))(value)
        return value
    return pick


def own_tags(self):
    """moto's own way compares every tag of every resource that it ever had with a pattern, for each resource of an answer."""
    if not self.id:
        return []
    kind = EC2_PREFIX_TO_RESOURCE.get(get_prefix(self.id), "")
    return [{"resource_id": self.id, "key": key, "value": value, "resource_type": kind}
            for key, value in self.ec2_backend.tags.get(self.id, {}).items()]


def remember():
    modules = tuple(moto.backends.list_of_moto_modules())
    moto.backends.list_of_moto_modules = lambda: modules
    moto.core.responses.method_names_from_class = functools.cache(moto.core.responses.method_names_from_class)
    xmltodict._validate_name = functools.cache(xmltodict._validate_name)
    for picker in (serialize.AttributePicker, serialize.XFormedAttributePicker):
        picker.__call__ = picked(Keys(picker))
    TaggedEC2Resource.get_tags = own_tags


if __name__ == "__main__":
    remember()
    amis.AmiBackend._load_amis = loading_again
    IAMRequestBase._create_aws_request = as_sent
    DomainDispatcherApplication.__call__ = keeping_the_form
    main(sys.argv[1:])
