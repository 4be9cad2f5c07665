"""Certificates of tests: an authority of their own, and a server on 127.0.0.1 that it vouches for, or does not any more."""
import datetime
import ipaddress
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def named(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def signed(subject, issuer, key, issuer_key, days, extensions):
    now = datetime.datetime.now(datetime.timezone.utc)
    made = x509.CertificateBuilder().subject_name(named(subject)).issuer_name(named(issuer)).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=30))
    made = made.not_valid_after(now + datetime.timedelta(days=days))
    for extension in extensions:
        made = made.add_extension(extension, critical=False)
    return made.sign(issuer_key, hashes.SHA256())


def server(folder, days=30, host="127.0.0.1"):
    """(context of a server, file of the authority's certificate)."""
    folder.mkdir(parents=True, exist_ok=True)
    authority_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    authority = signed("tests", "tests", authority_key, authority_key, 365, [x509.BasicConstraints(ca=True, path_length=None)])
    names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    certificate = signed(host, "tests", key, authority_key, days, [names])
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(authority.public_bytes(pem))
    (folder / "server.pem").write_bytes(certificate.public_bytes(pem) + key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context, folder / "ca.pem"
