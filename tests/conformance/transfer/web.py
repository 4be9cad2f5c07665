"""An HTTP server of a folder, with ranges and ETags, that counts requests and breaks connections when it is told to."""
import email.utils
import hashlib
import http.server
import pathlib
import threading


class Web:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.requests = []  # (method, path, range or None)
        self.breaks = 0  # so many answers are cut off in their middle
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(False)

            def do_GET(self):
                self.answer(True)

            def answer(self, body):
                span = self.headers.get("Range")
                web.requests.append((self.command, self.path, span))
                file = web.folder / self.path.lstrip("/")
                if not file.is_file():
                    self.send_response(404)
                    self.send_header("Content-Length", "0")
                    self.end_headers()
                    return
                data = file.read_bytes()
                tag = '"' + hashlib.sha256(data).hexdigest()[:16] + '"'
                first = 0
                if span and self.headers.get("If-Range", tag) == tag:
                    first = int(span.removeprefix("bytes=").split("-")[0])
                    if first >= len(data):
                        self.send_response(416)
                        self.send_header("Content-Range", f"bytes */{len(data)}")
                        self.send_header("Content-Length", "0")
                        self.end_headers()
                        return
                self.send_response(206 if first else 200)
                self.send_header("ETag", tag)
                self.send_header("Last-Modified", email.utils.formatdate(file.stat().st_mtime, usegmt=True))
                self.send_header("Content-Length", str(len(data) - first))
                if first:
                    self.send_header("Content-Range", f"bytes {first}-{len(data) - 1}/{len(data)}")
                self.end_headers()
                if not body:
                    return
                rest = data[first:]
                if web.breaks > 0:
                    web.breaks -= 1
                    self.wfile.write(rest[:len(rest) // 2])
                    self.wfile.flush()
                    self.close_connection = True
                    self.connection.shutdown(2)
                    return
                self.wfile.write(rest)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()
