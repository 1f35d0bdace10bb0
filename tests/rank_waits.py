"""Let one of two processes wait for the other longer than torch's timeout; started by torchrun."""

import time
from datetime import timedelta

from torch.distributed import distributed_c10d

from drethtr.training.devices import Devices

if __name__ == "__main__":
    distributed_c10d.default_pg_timeout = timedelta(seconds=1)  # by default half an hour
    devices = Devices.open("cpu")
    if devices.is_main:
        time.sleep(3)
    devices.barrier()
