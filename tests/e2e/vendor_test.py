"""Modules from git repositories and archives: brought by `radlc vendor`, pinned, and never fetched by compiling."""
import http.server
import io
import json
import os
import shutil
import signal
import ssl
import subprocess
import tarfile
import threading
import time
import unittest
import zipfile

from radl_case import RadlCase

WEB = "radl 2\ninput text ( type = 'string', default = '{0}' )\noutput text ( value = input.text )\n"


@unittest.skipUnless(shutil.which("git"), "there is no git here")
class VendorCase(RadlCase):
    def setUp(self):
        super().setUp()
        for name in ("GIT_AUTHOR", "GIT_COMMITTER"):
            self.environment.update({name + "_NAME": "a", name + "_EMAIL": "a@example.org"})
        self.environment.update(GIT_CONFIG_GLOBAL="/dev/null", GIT_CONFIG_NOSYSTEM="1", HOME=str(self.folder))
        self.lock = self.folder / "site" / "radl.lock.json"
        self.vendored = self.folder / "site" / "modules" / "vendored"

    def git(self, repository, *arguments):
        done = subprocess.run(["git", "-C", str(repository), *arguments], env=self.environment, capture_output=True,
                              text=True, check=True)
        return done.stdout.strip()

    def commit(self, repository, files, tag=None):
        """The repository with these files added as one commit; its id."""
        if not (repository / ".git").exists():
            repository.mkdir(parents=True)
            self.git(repository, "init", "-q", "-b", "main")
        for name, text in files.items():
            path = repository / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git(repository, "add", "-A", "-f")
        self.git(repository, "commit", "-q", "-m", "more")
        if tag:
            self.git(repository, "tag", tag)
        return self.git(repository, "rev-parse", "HEAD")

    def site(self, *addresses):
        text = "radl 2\n" + "".join(f"use '{address}' as m{i} ()\noutput o{i} ( value = m{i}.text )\n"
                                    for i, address in enumerate(addresses))
        return self.write("site/site.radl", text)

    def vendor(self, *arguments, **options):
        return self.radlc("vendor", self.folder / "site" / "site.radl", *arguments, **options)

    def check(self, **options):
        return self.radlc("check", self.folder / "site" / "site.radl", **options)

    def outputs(self):
        """The values of the program's outputs, from its IR."""
        return json.loads(self.radlc("compile", self.folder / "site" / "site.radl"))["outputs"]

    def packages(self):
        return {package["address"]: package for package in json.loads(self.lock.read_text())["packages"]}

    def only_package(self):
        (package,) = self.packages().values()
        return package


class Repositories(VendorCase):
    def setUp(self):
        super().setUp()
        self.repository = self.folder / "repositories" / "web.git"
        self.first = self.commit(self.repository, {"web/server.radl": WEB.format("one"), "README": "words"}, "v1")
        self.url = f"git::file://{self.repository}"

    def test_a_module_is_brought_pinned_and_used(self):
        self.site(self.url + "//web/server@v1")
        self.check(code=1)
        self.assertIn("E0430", self.err)
        self.assertIn("radlc vendor", self.err)
        self.assertIn(self.first[:12], self.vendor())
        package = self.only_package()
        self.assertEqual(package["commit"], self.first)
        self.assertEqual(len(package["sha256"]), 64)
        self.assertTrue((self.folder / "site" / package["folder"] / "web" / "server.radl").is_file())
        self.assertFalse(list((self.folder / "site").rglob(".git")))
        self.check()
        self.assertIn("one", json.dumps(self.outputs()))
        before = self.lock.read_bytes()
        self.assertIn("Everything is here", self.vendor())
        self.assertEqual(self.lock.read_bytes(), before)

    def test_compiling_asks_no_repository(self):
        self.site(self.url + "//web/server@v1")
        self.vendor()
        shutil.rmtree(self.repository)
        self.check()
        self.vendor()
        self.vendor("--check")

    def test_a_branch_moves_with_update_only(self):
        self.site(self.url + "//web/server@main")
        self.vendor()
        second = self.commit(self.repository, {"web/server.radl": WEB.format("two")})
        self.vendor()
        self.assertEqual(self.only_package()["commit"], self.first)
        old = self.folder / "site" / self.only_package()["folder"]
        self.vendor("--update", "nothing", code=1)
        self.assertIn("there are: web", self.err)
        self.vendor("--update", "web")
        self.assertEqual(self.only_package()["commit"], second)
        self.assertFalse(old.exists())
        self.assertIn("two", json.dumps(self.outputs()))

    def test_a_clone_without_the_folder_gets_the_same_commit_although_the_tag_moved(self):
        self.site(self.url + "//web/server@v1")
        self.vendor()
        before = self.lock.read_bytes()
        self.commit(self.repository, {"web/server.radl": WEB.format("moved")})
        self.git(self.repository, "tag", "-f", "v1")
        shutil.rmtree(self.vendored)
        self.vendor("--check", code=1)
        self.check(code=1)
        self.assertIn("E0430", self.err)
        self.vendor()
        self.assertEqual(self.lock.read_bytes(), before)
        self.assertIn("one", json.dumps(self.outputs()))

    def test_a_whole_commit_is_a_version(self):
        self.commit(self.repository, {"web/server.radl": WEB.format("two")})
        self.site(f"{self.url}//web/server@{self.first}")
        self.vendor()
        self.assertIn("one", json.dumps(self.outputs()))

    def test_changed_packages_are_rejected_until_vendored_again(self):
        self.site(self.url + "//web/server@v1")
        self.vendor()
        folder = self.folder / "site" / self.only_package()["folder"]
        changes = {"text": lambda: (folder / "web/server.radl").write_text(WEB.format("evil")),
                   "more": lambda: (folder / "extra").write_text("x"),
                   "less": lambda: (folder / "README").unlink(),
                   "mode": lambda: (folder / "README").chmod(0o755)}
        for name, change in changes.items():
            with self.subTest(change=name):
                change()
                self.check(code=1)
                self.assertIn("E0430", self.err)
                self.assertIn("was changed", self.err)
                self.vendor("--check", code=1)
                self.vendor()
                self.check()
                self.vendor("--check")
                self.assertEqual(os.listdir(self.vendored), [folder.name])

    def test_a_lock_file_that_was_edited_does_not_let_another_content_in(self):
        self.site(self.url + "//web/server@v1")
        self.vendor()
        text = self.lock.read_text()
        for change in (lambda t: t.replace("modules/vendored/web", "../../elsewhere/web"), lambda t: t[:40],
                       lambda t: "<<<<<<< ours\n" + t):
            self.lock.write_text(change(text))
            self.check(code=1)
            self.assertIn("radl.lock.json", self.err)
            self.vendor(code=2)

    def test_modules_of_modules_are_brought_too(self):
        base = self.folder / "repositories" / "base"
        self.commit(base, {"text.radl": WEB.format("from the base")}, "v3")
        self.commit(self.repository, {
            "web/near.radl": WEB.format("near"),
            "web/chain.radl": f"radl 2\nuse 'git::file://{base}//text@v3' as base ()\nuse './near' as near ()\n"
                              "output text ( value = '${base.text} ${near.text}' )\n"}, "v2")
        self.site(self.url + "//web/chain@v2")
        self.vendor()
        self.assertEqual(len(self.packages()), 2)
        self.assertIn("from the base near", json.dumps(self.outputs()))
        self.site(self.url + "//web/server@v1")
        self.vendor()
        self.assertEqual(list(self.packages()), [self.url + "@v1"])
        self.assertEqual(len(os.listdir(self.vendored)), 1)

    def test_programs_of_one_folder_share_the_lock_file(self):
        self.site(self.url + "//web/server@v1")
        self.write("site/other.radl", f"radl 2\nuse '{self.url}//web/server@main' as m ()\n")
        self.vendor()
        self.assertEqual(len(self.packages()), 2)
        self.radlc("check", self.folder / "site")

    def test_a_package_does_not_reach_out_of_itself(self):
        self.write("site/secret.radl", WEB.format("mine"))
        self.commit(self.repository, {"out.radl": "radl 2\nuse '../../../secret' as s ()\noutput text ( value = s.text )\n"},
                    "v4")
        self.site(self.url + "//out@v4")
        self.vendor()
        self.check(code=1)
        self.assertIn("its own package", self.err)

    def test_check_and_fmt_of_the_folder_leave_packages_alone(self):
        self.commit(self.repository, {"web/ugly.radl": "radl 2\nsystem   a(cpu.count>=1)\nuse 'nowhere' as n ()\n"}, "v9")
        self.site(self.url + "//web/server@v9")
        self.vendor()
        self.radlc("fmt", self.folder / "site")
        self.radlc("check", self.folder / "site")
        self.vendor("--check")

    def test_links_that_lead_out_are_refused_and_those_inside_stay(self):
        (self.repository / "inside").symlink_to("web/server.radl")
        self.commit(self.repository, {}, "v5")
        self.site(self.url + "//web/server@v5")
        self.vendor()
        self.assertTrue((self.folder / "site" / self.only_package()["folder"] / "inside").is_symlink())
        before = self.lock.read_bytes()
        for number, target in enumerate(("/etc/passwd", "../outside", "web/../../outside")):
            (self.repository / "link").unlink(missing_ok=True)
            (self.repository / "link").symlink_to(target)
            self.commit(self.repository, {}, f"v6.{number}")
            self.site(f"{self.url}//web/server@v6.{number}")
            self.vendor(code=1)
            self.assertIn("may lead out of the package", self.err)
            self.assertEqual(self.lock.read_bytes(), before)
            self.assertEqual(len(os.listdir(self.vendored)), 1)

    def test_hooks_and_settings_of_the_repository_are_ignored(self):
        mark = self.folder / "was-run"
        hook = self.repository / ".git" / "hooks" / "post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {mark}\n")
        hook.chmod(0o755)
        self.commit(self.repository, {".gitattributes": "*.radl filter=evil export-subst\n", ".gitignore": "*\n",
                                      "web/raw.radl": WEB.format("$Format:%H$").replace("\n", "\r\n")}, "v7")
        self.git(self.repository, "config", "filter.evil.smudge", f"touch {mark}")
        self.site(self.url + "//web/raw@v7")
        self.environment["GIT_DIR"] = str(self.folder / "nowhere")
        self.vendor()
        self.assertFalse(mark.exists())
        folder = self.folder / "site" / self.only_package()["folder"]
        self.assertNotIn(".gitattributes", os.listdir(folder))
        self.assertEqual((folder / "web/raw.radl").read_bytes(), (self.repository / "web/raw.radl").read_bytes())

    def test_submodules_are_left_out_with_a_line(self):
        other = self.folder / "repositories" / "other"
        self.commit(other, {"a.radl": WEB.format("a")})
        self.git(self.repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
        self.commit(self.repository, {}, "v8")
        self.site(self.url + "//web/server@v8")
        self.assertIn("submodule 'sub' was left out", self.vendor())

    def test_missing_packages_are_reported(self):
        for address, said in ((self.url + "//web/server@v99", "no tag or branch 'v99'"),
                              (self.url + "//web/sever@v1", "no module 'web/sever'"),
                              (f"git::file://{self.folder}/nowhere//a@v1", "git: "),
                              (f"{self.url}//web/server@{'0' * 40}", "no commit")):
            with self.subTest(address=address):
                self.site(address)
                self.vendor(code=None)
                self.assertIn(said, self.err)
        self.check(code=1)

    def test_addresses_with_credentials_or_other_protocols_are_refused_and_not_shown(self):
        for address in ("git::https://me:S3CRET@example.org/a.git//b@v1", "git::https://S3CRET@example.org/a.git//b",
                        "https://example.org/a.tar.gz?token=S3CRET//b", "https://me:S3CRET@example.org/a.zip//b",
                        "git::ssh://me:S3CRET@example.org/a.git//b"):
            with self.subTest(address=address):
                self.site(address)
                for command in (self.vendor, self.check):
                    self.assertNotIn("S3CRET", command(code=1) + self.err)
                self.assertFalse(self.lock.exists())
        for address in ("git::http://example.org/a.git//b", "git::ext::sh -c touch% /tmp/x//b",
                        "git::https://example.org/a.git//b@--upload-pack=x", "git::https://-oProxyCommand=x/a.git//b",
                        "git::https://example.org/a.git//../b", "git::https://example.org/a.git", "ftp://e.org/a.zip//b"):
            with self.subTest(address=address):
                self.site(address)
                self.vendor(code=1)
                self.check(code=1)
                self.assertIn("E0414", self.err)

    def test_two_at_once_give_one_whole_folder(self):
        self.site(self.url + "//web/server@v1")
        started = [self.start("vendor", self.folder / "site" / "site.radl") for _ in range(4)]
        for process in started:
            out, err = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, out + err)
        self.vendor("--check")
        self.assertEqual(len(os.listdir(self.vendored)), 1)

    def test_a_kill_at_any_time_leaves_the_old_or_the_new(self):
        files = {f"data/{i}": f"{i}\n" * 50 for i in range(200)}
        self.site(self.url + "//web/server@main")
        self.vendor()
        for number in range(12):
            self.commit(self.repository, {**files, "web/server.radl": WEB.format(f"number {number}")})
            process = self.start("vendor", "--update", self.folder / "site" / "site.radl")
            time.sleep(0.02 * number)
            os.kill(process.pid, signal.SIGKILL)
            process.communicate()
            self.check()
            self.vendor("--check")
        self.wait_until(lambda: not self.processes())
        self.vendor("--update")
        self.assertIn("number 11", json.dumps(self.outputs()))
        self.assertEqual(len(os.listdir(self.vendored)), 1)


class Archives(VendorCase):
    def tar(self, name, members, links=()):
        path = self.folder / name
        with tarfile.open(path, "w:gz") as archive:
            for member, text in members.items():
                entry = tarfile.TarInfo(member)
                entry.size = len(text)
                archive.addfile(entry, io.BytesIO(text.encode()))
            for member, target in links:
                entry = tarfile.TarInfo(member)
                entry.type, entry.linkname = tarfile.SYMTYPE, target
                archive.addfile(entry)
        return path

    def test_archives_of_this_computer(self):
        tar = self.tar("mods.tar.gz", {"web/server.radl": WEB.format("tarred")})
        with zipfile.ZipFile(self.folder / "site.zip", "w") as archive:
            archive.writestr("web/server.radl", WEB.format("zipped"))
        self.site(f"{tar}//web/server", "../site.zip//web/server")
        self.vendor()
        self.assertEqual(sorted(self.packages()), sorted([str(tar), "../site.zip"]))
        self.check()
        told = json.dumps(self.outputs())
        self.assertIn("tarred", told)
        self.assertIn("zipped", told)

    def test_an_archive_that_changed_is_refused_until_update(self):
        tar = self.tar("mods.tar.gz", {"web/server.radl": WEB.format("one")})
        self.site(f"{tar}//web/server")
        self.vendor()
        self.tar("mods.tar.gz", {"web/server.radl": WEB.format("two")})
        shutil.rmtree(self.vendored)
        self.vendor(code=2)
        self.assertIn("--update mods", self.err)
        self.vendor("--update", "mods")
        self.assertIn("two", json.dumps(self.outputs()))

    def test_members_that_lead_out_are_refused(self):
        cases = {"up.tar.gz": ({"../evil.radl": "x", "a.radl": WEB.format("a")}, ()),
                 "absolute.tar.gz": ({str(self.folder / "evil.radl"): "x"}, ()),
                 "link.tar.gz": ({"a.radl": WEB.format("a")}, [("l", "../..")]),
                 "through.tar.gz": ({"a.radl": WEB.format("a"), "l/evil.radl": "x"}, [("l", "sub")])}
        for name, (members, links) in cases.items():
            with self.subTest(archive=name):
                self.site(f"{self.tar(name, members, links)}//a")
                self.vendor(code=1)
                self.assertFalse(self.lock.exists())
                self.assertFalse(list(self.folder.rglob("evil.radl")))
        self.site(f"{self.write('broken.tar.gz', 'no archive')}//a")
        self.vendor(code=2)

    @unittest.skipUnless(shutil.which("openssl"), "there is no openssl here to make a certificate")
    def test_over_https(self):
        (self.folder / "served").mkdir()
        self.tar("served/mods.tar.gz", {"web/server.radl": WEB.format("served")})
        key, certificate = self.folder / "key.pem", self.folder / "certificate.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate], check=True,
                       capture_output=True)
        handler = lambda *a: http.server.SimpleHTTPRequestHandler(*a, directory=str(self.folder / "served"))
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            self.environment.update(CURL_CA_BUNDLE=str(certificate), SSL_CERT_FILE=str(certificate), no_proxy="localhost")
            self.site(f"https://localhost:{server.server_port}/mods.tar.gz//web/server")
            self.vendor()
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
        self.check()
        self.assertIn("served", json.dumps(self.outputs()))


if __name__ == "__main__":
    unittest.main()
