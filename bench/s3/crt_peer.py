"""AWS's CRT transfer client, driven as version 2 of the AWS command line does it (which PyPI does not have): s3transfer.crt.

crt_peer.py up|down PLACE KEY: a file, or a folder with all that is below it; the bucket is `data`.
"""
import os
import pathlib
import sys

import botocore.config
import botocore.session
from s3transfer.crt import BotocoreCRTCredentialsWrapper, BotocoreCRTRequestSerializer, CRTTransferManager, create_s3_crt_client


def main():
    direction, place, key = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
    endpoint, region = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ["AWS_ENDPOINT_URL"], os.environ["AWS_REGION"]
    session = botocore.session.get_session()
    options = {"region_name": region, "endpoint_url": endpoint, "config": botocore.config.Config(s3={"addressing_style": "path"})}
    provider = BotocoreCRTCredentialsWrapper(session.get_credentials()).to_crt_credentials_provider()
    client = create_s3_crt_client(region, crt_credentials_provider=provider, use_ssl=endpoint.startswith("https:"))
    with CRTTransferManager(client, BotocoreCRTRequestSerializer(session, dict(options))) as manager:
        waiting = []
        if direction == "up":
            files = [place] if place.is_file() else [p for p in place.rglob("*") if p.is_file()]
            for file in files:
                name = key if file == place else f"{key}/{file.relative_to(place).as_posix()}"
                waiting.append(manager.upload(str(file), "data", name))
        else:
            s3 = session.create_client("s3", **options)
            pages = s3.get_paginator("list_objects_v2").paginate(Bucket="data", Prefix=key)
            for name in [o["Key"] for page in pages for o in page.get("Contents", [])]:
                if name != key and not name.startswith(key + "/"):
                    continue
                file = place if name == key else place / name.removeprefix(key + "/")
                file.parent.mkdir(parents=True, exist_ok=True)
                waiting.append(manager.download("data", name, str(file)))
        for future in waiting:
            future.result()


if __name__ == "__main__":
    main()
