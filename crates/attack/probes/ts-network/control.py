"""Connects to a socket of its own by the network."""

import socket


def connect():
    with socket.create_server(("127.0.0.1", 0)) as server:
        socket.create_connection(server.getsockname()).close()


MODULES = ("net", "http", "https", "http2", "dns", "dgram", "tls")
NAMES = ("fetch", "fetch_request", "web_socket", "event_source", "xml_http_request", "import_url", "import_secure_url")
for name in NAMES + ("import_package", "require_made"):
    attempt(name, connect)
for name in MODULES:
    attempt(f"import_{name}", connect)
    attempt(f"require_{name}", connect)
attempt("fetch_file", lambda: open("/etc/passwd").close())
look("other_globals", True)
