"""Every attack of the battery on every box of this machine, as root and as a user without rights.

Each is tried from inside and seen from outside: by files, listeners, a victim, and the editor's own two pipes. That one
is stopped counts because honest deeds are possible in the same run, and because without a box it goes through.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.battery import boxes, driven

LANDLOCK = {
    "see_file": "no version of Landlock hides that a file of a guessed name exists: wall fs_seen",
    "see_it": "there is one /proc for all: that a process runs is seen, and whose it is, nothing else of it",
    "see_host_name": "there is no host name of its own",
}
LEFT = {"bubblewrap": {}, "bubblewrap-wheel": {}, "landlock": LANDLOCK, "landlock-4": LANDLOCK}
"""By box what still goes through, and why. No more, and no less: what was closed is to leave this table."""
HONEST = {"files", "temporary", "child", "shown", "thread", "own_loopback", "own_unix_server", "pool"}
MISSED = {"own_loopback", "own_unix_server", "pool"}
"""What honest programs miss in a box without a network and shared memory of its own; docs/sandbox.md says so."""

OF_THE_KERNEL = {
    "set_flags", "change_attribute", "read_shared_memory", "read_machine", "connect_tcp6", "send_fast_open",
    "list_sockets", "reach_hypervisor", "use_kernel_ciphers", "use_odd_families", "use_io_uring", "use_userfaultfd",
    "use_perf", "read_keyring", "add_key", "new_user_namespace", "clone_namespace", "clone3_namespace",
    "change_segments", "foreign_calls", "share_posix_queue", "see_interfaces", "read_hardware", "open_kernel",
    "compare_it",
}  # fmt: skip
"""What does not go through on every machine, even without a box: it may be built or set up otherwise."""
OF_ROOT = {
    "make_device", "listen_to_cards", "make_raw", "use_bpf", "new_mounts", "enter_namespace", "mount_over",
    "open_file_system", "copy_mounts", "change_root", "watch_everything", "read_kernel_log", "have_capabilities",
    "open_devices", "open_settings", "trace_victim", "read_its_memory", "open_its_memory", "take_its_descriptor",
    "new_privileges",
}  # fmt: skip
"""What only some may do anyway."""


def test_an_attack_succeeds_without_a_sandbox(user: int) -> None:
    driven_run = driven.driven("attacks", "bare", user)

    stopped = {name for name, attack in driven_run.found.items() if not attack["reached"]}
    assert stopped <= {"forge_output"} | OF_THE_KERNEL | (OF_ROOT if user or not _is_mighty() else set())
    assert b"forged" in driven_run.output, "what forge_output does is heard by the editor alone"
    assert driven_run.is_short


@pytest.mark.parametrize("box", boxes.NAMES)
def test_a_sandbox_stops_the_attack(user: int, box: str, tmp_path: Path) -> None:
    if box not in boxes.boxes(tmp_path):
        pytest.skip(f"this machine has no {box}")

    driven_run = driven.driven("attacks", box, user)

    honest = {
        name.removeprefix("honest_"): each for name, each in driven_run.found.items() if name.startswith("honest_")
    }
    failed = {name for name, deed in honest.items() if not deed["reached"]}
    assert set(honest) == HONEST
    assert failed == (MISSED if box.startswith("landlock") else set()), {name: honest[name]["why"] for name in failed}
    attacks = {name: each["reached"] for name, each in driven_run.found.items() if not name.startswith("honest_")}
    assert len(attacks) > 120
    leaks = {name: reached for name, reached in attacks.items() if reached}
    assert set(leaks) == set(LEFT[box]), leaks
    assert driven_run.is_whole, "someone else wrote to the editor, or read what it said"


def _is_mighty() -> bool:
    """Root may lack its powers: in a container."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("CapEff:")[2].split()[0], 16) >> 21 & 1 == 1
