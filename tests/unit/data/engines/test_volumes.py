"""What encrypts a place, read from a made-up /proc and /sys: every layer is followed, the weakest counts."""

from pathlib import Path

import pytest

from discreet.data.engines.volumes import AtRest, HostSystem


class MadeUp:
    """A system of one mount; devices are added by number."""

    def __init__(self, folder: Path) -> None:
        self.proc, self.sys = folder / "proc", folder / "sys"
        (self.proc / "self").mkdir(parents=True)
        (self.sys / "dev" / "block").mkdir(parents=True)
        (self.sys / "class" / "block").mkdir(parents=True)
        self.data = folder / "data"
        self.data.mkdir()
        self.policies: set[Path] = set()

    def mount(self, *lines: str) -> None:
        text = "".join(f"{i} 1 {line}\n" for i, line in enumerate(lines))
        (self.proc / "self" / "mountinfo").write_text(text)

    def device(self, number: str, name: str, *, slaves=(), uuid="", loop="", of="") -> Path:
        place = self.sys / "devices" / of / name
        place.mkdir(parents=True)
        (place / "dev").write_text(f"{number}\n")
        if of:
            (place / "partition").write_text("1\n")
        if uuid:
            (place / "dm").mkdir()
            (place / "dm" / "uuid").write_text(f"{uuid}\n")
        if loop:
            (place / "loop").mkdir()
            (place / "loop" / "backing_file").write_text(f"{loop}\n")
        (place / "slaves").mkdir()
        for slave in slaves:
            (place / "slaves" / slave).symlink_to(self.sys / "devices" / slave)
        (self.sys / "dev" / "block" / number).symlink_to(place)
        (self.sys / "class" / "block" / name).symlink_to(place)
        return place

    @property
    def system(self) -> HostSystem:
        return HostSystem(self.proc, self.sys, lambda folder: folder in self.policies)


@pytest.fixture
def made(tmp_path):
    return MadeUp(tmp_path)


def _plain_disk(made):
    made.device("8:0", "sda")
    made.device("8:1", "sda1", of="sda")


def test_a_partition_of_a_disk_is_plain(made):
    _plain_disk(made)
    made.mount("8:1 / / rw - ext4 /dev/sda1 rw")
    found = made.system.volume_of(made.data / "not" / "there" / "yet")
    assert found.rest is AtRest.PLAIN
    assert "sda" in found.how


def test_dm_crypt_is_seen_and_so_is_lvm_above_it(made):
    _plain_disk(made)
    made.device("253:0", "dm-0", slaves=["sda"], uuid="CRYPT-LUKS2-abc-x")
    made.mount("253:0 / / rw - ext4 /dev/mapper/x rw")
    assert made.system.volume_of(made.data).rest is AtRest.ENCRYPTED
    made.device("253:1", "dm-1", slaves=["dm-0"], uuid="LVM-abc")
    made.mount("253:1 / / rw - xfs /dev/mapper/vg-data rw")
    found = made.system.volume_of(made.data)
    assert found.rest is AtRest.ENCRYPTED
    assert "LUKS2" in found.how


def test_one_plain_disk_of_two_makes_the_whole_plain(made):
    _plain_disk(made)
    made.device("253:0", "dm-0", slaves=["sda"], uuid="CRYPT-LUKS2-abc-x")
    made.device("9:0", "md0", slaves=["dm-0", "sda"])
    made.mount("9:0 / / rw - ext4 /dev/md0 rw")
    assert made.system.volume_of(made.data).rest is AtRest.PLAIN


def test_a_loop_is_what_its_file_lies_on(made):
    _plain_disk(made)
    made.device("253:0", "dm-0", slaves=["sda"], uuid="CRYPT-PLAIN-x")
    image = made.data / "image"
    image.write_text("")
    made.device("7:0", "loop0", loop=str(image))
    inner = made.data / "inner"
    inner.mkdir()
    made.mount("253:0 / / rw - ext4 /dev/mapper/x rw", f"7:0 / {inner} rw - ext4 /dev/loop0 rw")
    assert made.system.volume_of(inner).rest is AtRest.ENCRYPTED
    made.mount("8:1 / / rw - ext4 /dev/sda1 rw", f"7:0 / {inner} rw - ext4 /dev/loop0 rw")
    assert made.system.volume_of(inner).rest is AtRest.PLAIN


def test_the_deepest_and_last_mount_counts(made):
    _plain_disk(made)
    below = made.data / "a b"
    below.mkdir()
    point = str(below).replace(" ", "\\040")
    made.mount(
        "8:1 / / rw - ext4 /dev/sda1 rw",
        f"0:50 / {point} rw - fuse.gocryptfs x rw",
    )
    assert made.system.volume_of(below / "x").rest is AtRest.ENCRYPTED
    assert made.system.volume_of(made.data).rest is AtRest.PLAIN
    made.mount(
        f"0:50 / {point} rw - fuse.gocryptfs x rw",
        f"8:1 / {point} rw - ext4 /dev/sda1 rw",  # mounted over it later
    )
    assert made.system.volume_of(below / "x").rest is AtRest.PLAIN


def test_btrfs_is_asked_for_its_device(made):
    _plain_disk(made)
    made.device("253:0", "dm-0", slaves=["sda"], uuid="CRYPT-LUKS1-x")
    made.mount("0:30 /@ / rw - btrfs /dev/dm-0 rw")
    assert made.system.volume_of(made.data).rest is AtRest.ENCRYPTED
    made.mount("0:30 /@ / rw - btrfs /dev/sda1 rw")
    assert made.system.volume_of(made.data).rest is AtRest.PLAIN


def test_fscrypt_memory_overlay_and_what_cannot_be_told(made):
    _plain_disk(made)
    made.mount("8:1 / / rw - ext4 /dev/sda1 rw")
    made.policies.add(made.data)
    assert made.system.volume_of(made.data).how == "fscrypt"
    made.policies.clear()
    for kind, wanted in (
        ("tmpfs", AtRest.MEMORY),
        ("nfs4", AtRest.UNKNOWN),
        ("zfs", AtRest.UNKNOWN),
        ("fuse.sshfs", AtRest.UNKNOWN),
        ("overlay", AtRest.UNKNOWN),
    ):
        made.mount(f"0:9 / / rw - {kind} x rw")
        assert made.system.volume_of(made.data).rest is wanted, kind
    upper = made.data / "upper"
    upper.mkdir()
    inner = made.data / "inner"
    inner.mkdir()
    made.mount(
        "8:1 / / rw - ext4 /dev/sda1 rw",
        f"0:9 / {inner} rw - overlay overlay rw,upperdir={upper},workdir=/w",
    )
    assert made.system.volume_of(inner).rest is AtRest.PLAIN


def test_swap_is_a_place_too(made):
    _plain_disk(made)
    made.device("252:0", "zram0")
    made.mount("8:1 / / rw - ext4 /dev/sda1 rw")
    head = "Filename Type Size Used Priority\n"
    (made.proc / "swaps").write_text(
        f"{head}/dev/sda1 partition 1 0 -2\n/dev/zram0 partition 1 0 5\n{made.data}/swap file 1 0 -3\n"
    )
    found = [volume.rest for _, volume in made.system.swaps()]
    assert found == [AtRest.PLAIN, AtRest.MEMORY, AtRest.PLAIN]


def test_a_system_without_proc_does_not_say(tmp_path):
    nothing = HostSystem(tmp_path / "none", tmp_path / "none", lambda _: False)
    assert nothing.volume_of(tmp_path).rest is AtRest.UNKNOWN
    assert nothing.swaps() == []


def test_the_real_system_answers(tmp_path):
    """Whatever it says, it says it without an exception, also about a place that is not there."""
    found = HostSystem().volume_of(tmp_path / "x")
    assert found.rest in AtRest
    assert found.how
