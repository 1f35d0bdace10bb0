"""Two processes, of which one reads for longer than torch would let the other wait; torchrun starts it."""

import time
from datetime import timedelta

from torch.distributed import distributed_c10d

from drethtr.training.devices import Devices

if __name__ == "__main__":
    distributed_c10d.default_pg_timeout = timedelta(seconds=1)  # half an hour, else
    devices = Devices.open("cpu")
    if devices.leads:
        time.sleep(3)
    devices.agree(False)
