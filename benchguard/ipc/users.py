"""Users for confined processes of a root process.

They have no files of their own: the range is systemd's for services (https://systemd.io/UIDS-GIDS/). The end of a
sandbox kills all processes of its user, so workers that only compute have other users.
"""

SANDBOXES = range(61184, 65184)
WORKERS = range(65184, 65520)
