"""
What a command shows on a terminal of its own. The tests that need one begin with
`python3 "$HDB_ROOT/tests/support/terminal.py" || exit 77`, and find this module by PYTHONPATH.
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios


def show(command, columns=100, rows=24, keys=b"", wait_for=b"", env=None, quiet=False):
    """
    The text and the exit code of a command whose session has the terminal. `keys` are typed once it
    shows `wait_for`. `quiet` leaves standard error out; a progress line is never shown.
    """
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    child = subprocess.Popen(command, stdin=side, stdout=side, stderr=subprocess.DEVNULL if quiet else side,
                             env=os.environ if env is None else env, start_new_session=True,
                             preexec_fn=lambda: fcntl.ioctl(1, termios.TIOCSCTTY, 0))
    os.close(side)
    text = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
        if keys and wait_for in text:
            os.write(main, keys)
            keys = b""
    os.close(main)
    text = re.sub(rb"\r[^\r\n]*\033\[K", b"", text).replace(b"\r\033[K", b"")
    return text.decode().replace("\r\n", "\n"), child.wait()


if __name__ == "__main__":
    try:
        os.close(pty.openpty()[0])
    except OSError:
        sys.exit("there are no terminals: /dev/pts is not mounted")
