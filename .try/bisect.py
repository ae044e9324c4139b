import ctypes
import os
import tempfile

from benchguard.quarantine import filesystem, identity, limits, privileges, system_calls
from benchguard.quarantine.contract import Confine
from benchguard.shim.driver import discover

drv = str(discover("auto").path)


def child(skip, extra=(), devs=()):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            scratch = tempfile.mkdtemp()
            os.chmod(scratch, 0o755)
            conf = Confine(scratch=scratch, readable=(), user=61234)
            found = filesystem.places((os.path.dirname(drv), *extra), False)
            if devs:
                import dataclasses

                found = dataclasses.replace(found, devices=tuple(dict.fromkeys((*found.devices, *devs))))
            who = identity.decide(conf.user, found.needed, scratch)
            out = []
            privileges.bound() if "bound" not in skip else None
            if "identity" not in skip and who.user is not None:
                os.chown(scratch, who.user, who.user)
                identity.become(who.user)
            if "limits" not in skip:
                out.append(limits.confine(conf, True))
            if "privileges" not in skip:
                out.append(privileges.drop())
            if "filesystem" not in skip:
                out.append(filesystem.confine(found, scratch, (), (os.path.dirname(drv), *extra), False))
            if "syscalls" not in skip:
                out.append(system_calls.confine(False, who.user is None))
            lib = ctypes.CDLL(drv)
            code = lib.cuInit(0)
            os.write(w, f"skip {skip} extra {extra} {devs}: cuInit {code} {out} user {os.getuid()}".encode())
        except BaseException as e:
            os.write(w, f"skip {skip}: {type(e).__name__} {e}".encode())
        os._exit(0)
    os.close(w)
    print(os.read(r, 9999).decode())
    os.waitpid(pid, 0)


child(())
for s in ("bound", "identity", "limits", "privileges", "filesystem", "syscalls"):
    child((s,))
child(("privileges", "filesystem"))
child(("identity", "filesystem"))
child(("filesystem", "syscalls"))
child((), ("/proc",))
child((), ("/sys",))
child((), ("/proc", "/sys"))
child((), ("/proc", "/sys"), ("/dev",))
child((), ("/proc", "/sys", "/run", "/var", "/tmp", "/etc"), ("/dev",))
print(os.listdir("/dev"), os.listdir("/proc")[:80], os.listdir("/sys"))
os.system(
    "ls -la /dev/nvidia* /dev/nvidia-caps /proc/driver/nvidia; python3 -c \"import ctypes; print(ctypes.CDLL('%s').cuInit(0)); print([l.split()[-1] for l in open('/proc/self/maps') if 'dev' in l or 'proc' in l])\"; which strace ltrace"
    % drv
)
