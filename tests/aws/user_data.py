"""What cloud-init would make of an instance's user data, as far as tests need it: keys, files and commands."""
import base64
import email
import gzip
import shlex

import yaml


def parts(data):
    """(kind, text) of plain, compressed and MIME user data."""
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    text = data.decode(errors="replace")
    if text.lstrip().lower().startswith(("content-type: multipart", "mime-version:")):
        for part in email.message_from_string(text).walk():
            if not part.is_multipart():
                yield from parts(part.get_payload(decode=True))
    elif text.startswith("#cloud-config"):
        yield "cloud-config", text
    elif text.startswith("#!"):
        yield "script", text


def content(item):
    text = str(item.get("content", ""))
    encoding = str(item.get("encoding", ""))
    raw = base64.b64decode(text) if encoding in ("b64", "base64", "gz+b64", "gzip+b64") else text.encode()
    return gzip.decompress(raw) if encoding.startswith("gz") else raw


def written(item):
    path, raw = shlex.quote(item["path"]), base64.b64encode(content(item)).decode()
    mode = f"chmod {item['permissions']} {path}" if "permissions" in item else ":"
    redirect = ">>" if item.get("append") else ">"
    return f"set -e; mkdir -p \"$(dirname {path})\"; echo {raw} | base64 -d {redirect} {path}; {mode}"


def understood(data):
    """(keys that may log in, shell texts in their order, host name or '')."""
    keys, commands, host = [], [], ""
    for kind, text in parts(data or b""):
        if kind == "script":
            commands.append(f"echo {base64.b64encode(text.encode()).decode()} | base64 -d > /run/user-data; "
                            "chmod 0700 /run/user-data; /run/user-data")
            continue
        config = yaml.safe_load(text) or {}
        host = str(config.get("hostname") or host)
        keys += config.get("ssh_authorized_keys") or []
        for user in config.get("users") or []:
            if isinstance(user, dict):
                keys += user.get("ssh_authorized_keys") or []
        commands += [written(item) for item in config.get("write_files") or []]
        for group in ("bootcmd", "runcmd"):
            commands += [" ".join(map(shlex.quote, c)) if isinstance(c, list) else str(c) for c in config.get(group) or []]
    return keys, commands, host
