"""Python imports this module first: workers that a command starts have its kill point, too."""

import kill_point

kill_point.install()
