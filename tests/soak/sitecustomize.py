"""Install the kill point: Python imports this module at startup, also in workers of a command."""

import kill_point

kill_point.install()
