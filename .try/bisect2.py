import ctypes
import os
import tempfile

from benchguard.quarantine import filesystem, kernel, landlock, privileges
from benchguard.shim.driver import discover

drv = str(discover("auto").path)


def child(label, bits, net, scopes, extra=()):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            privileges.drop()
            scratch = tempfile.mkdtemp()
            found = filesystem.places((os.path.dirname(drv),), False)
            rs = landlock.Ruleset.__new__(landlock.Ruleset)
            rs._handled = landlock.Access(bits)
            attrs = landlock._RULESET.pack(bits, 3 if net else 0, scopes)
            rs._descriptor = kernel.syscall(444, ctypes.c_char_p(attrs), 24, 0)
            n = 0
            for p in found.readable:
                n += rs.allow(p, landlock.READ) if landlock.READ & bits else 0
            for p in found.devices:
                n += rs.allow(p, landlock.DEVICE) if landlock.DEVICE & bits else 0
            for p, a in extra:
                n += rs.allow(p, landlock.Access(a)) if a & bits else 0
            if landlock.WRITE & bits:
                rs.allow(scratch, landlock.WRITE)
            rs.restrict()
            code = ctypes.CDLL(drv).cuInit(0)
            os.write(w, f"{label}: cuInit {code}".encode())
        except BaseException as e:
            os.write(w, f"{label}: {type(e).__name__} {e}".encode())
        os._exit(0)
    os.close(w)
    print(os.read(r, 9999).decode(), flush=True)
    os.waitpid(pid, 0)


for b in landlock.Access:
    child(b.name, int(b), False, 0)
child("net", 4, True, 0)
child("scope abstract", 4, False, 1)
child("scope signal", 4, False, 2)
ALL = (1 << 16) - 1
for p in (
    "/proc/self",
    "/proc",
    "/dev",
    "/dev/shm",
    "/tmp",
    "/run",
    "/var",
    "/sys",
    "/root",
    "/etc",
    "/usr/local",
    "/",
):
    child("all, everything in " + p, ALL, True, 3, ((p, ALL),))
    child("files written in " + p, ALL, True, 3, ((p, 6 | 1 << 15),))
print(
    [p for p in filesystem.places((os.path.dirname(drv),), False).readable],
    filesystem.places((os.path.dirname(drv),), False).devices,
)
