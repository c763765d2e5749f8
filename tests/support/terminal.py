"""What a test of a terminal reads from its other side."""
import os


def read_all(fd, seen=None):
    """All bytes until the other side is closed; seen(bytes) is called after each read.

    Linux may report EIO although the last lines, written just before the other side was closed,
    have not been read (5 of 1,500 times on a loaded machine): only the second EIO is the end.
    """
    data = b""
    closed = 0
    while closed < 2:
        try:
            part = os.read(fd, 65536)
        except OSError:
            closed += 1
            continue
        if not part:
            break
        data += part
        if seen:
            seen(data)
    return data
