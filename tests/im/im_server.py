"""The Infrastructure Manager itself on this computer: im_server.py FOLDER PORT. It keeps everything in the folder.

It reads the list of EC2's types from GitHub, so it gets one here; the rest is its own code, unchanged."""
import sys

from IM.config import Config
from IM.connectors.EC2 import EC2CloudConnector, InstanceTypeInfo

folder, port = sys.argv[1:]
del sys.argv[1:]
Config.DATA_DB = f"sqlite://{folder}/inf.dat"
Config.LOG_FILE = f"{folder}/im.log"
Config.REST_ADDRESS, Config.REST_PORT = "127.0.0.1", int(port)
EC2CloudConnector.instance_type_list = [
    InstanceTypeInfo(name=name, cpu_arch=["x86_64"], num_cpu=2, cores_per_cpu=1, mem=memory, price=price, vpc_only=True)
    for name, memory, price in (("t3.micro", 1024, 0.01), ("t3.small", 2048, 0.02))]

import IM.im_service  # noqa: E402  it reads the configuration when it is imported

sys.exit(IM.im_service.main())
