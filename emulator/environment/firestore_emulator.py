"""The jar of the Firestore emulator: firebase-tools' own, or a Google Cloud SDK's."""

import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emulator.environment.places import NODE_MODULES, STATE
from emulator.environment.steps import only_one, read, run_step

MAIN_CLASS = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
# The SDK's jar beside the shim: a longer path would have to be wrapped in the manifest.
LINK = "firestore-sdk.jar"
SDK_JAR = Path("platform", "cloud-firestore-emulator", "cloud-firestore-emulator.jar")


def firestore_jar(environment: Mapping[str, str]) -> Path | None:
    """Return the jar to hand to firebase-tools, or None where it has its own.

    Its own is downloaded once. A Google Cloud SDK on the machine saves the download, and is the
    only way where the download is not to be had.

    Raises:
        SetupError: Neither an SDK nor the download.
    """
    if cached_firestore_jar().exists():
        return None
    for sdk in _cloud_sdks():
        if (sdk / SDK_JAR).is_file():
            return shim_jar(sdk / SDK_JAR, STATE)
    with only_one():
        if not cached_firestore_jar().exists():
            megabytes = int(_download()["expectedSize"]) / 1e6
            run_step(
                f"Downloading the Firestore emulator ({megabytes:.0f} MB)",
                [str(NODE_MODULES / ".bin" / "firebase"), "setup:emulators:firestore"],
                log="firestore-download.log",
                environment=environment,
                hint="Where this download is not to be had, a Google Cloud SDK serves:\n"
                "  gcloud components install cloud-firestore-emulator",
            )
    return None


def cached_firestore_jar() -> Path:
    """Return the place where this version of firebase-tools keeps its Firestore emulator."""
    default = Path.home() / ".cache" / "firebase" / "emulators"
    folder = Path(os.environ.get("FIREBASE_EMULATORS_PATH") or default)
    return folder / str(_download()["downloadPathRelativeToCacheDir"])


def shim_jar(jar: Path, folder: Path) -> Path:
    """Make a jar in `folder` that starts the SDK's, by a link beside it.

    firebase-tools runs `java -jar`, and the manifest of the SDK's jar names no main class.
    """
    manifest = f"Manifest-Version: 1.0\nMain-Class: {MAIN_CLASS}\nClass-Path: {LINK}\n\n"
    folder.mkdir(exist_ok=True)
    shim = folder / "firestore-emulator.jar"
    draft = shim.with_suffix(f".{os.getpid()}")
    draft.symlink_to(jar)
    draft.replace(folder / LINK)
    with zipfile.ZipFile(draft, "w") as archive:
        archive.writestr("META-INF/MANIFEST.MF", manifest)
    draft.replace(shim)
    return shim


def _download() -> Mapping[str, Any]:
    emulators = json.loads(
        read(NODE_MODULES / "firebase-tools/lib/emulator/downloadableEmulatorInfo.json"),
    )
    firestore: Mapping[str, Any] = emulators["firestore"]
    return firestore


def _cloud_sdks() -> Iterator[Path]:
    if root := os.environ.get("CLOUDSDK_ROOT_DIR"):
        yield Path(root)
    if gcloud := shutil.which("gcloud"):
        # …/google-cloud-sdk/bin/gcloud
        yield Path(gcloud).resolve().parent.parent
    yield Path.home() / "google-cloud-sdk"
    for place in ("/usr/lib", "/usr/share", "/opt", "/usr/local", "/opt/homebrew/share"):
        yield Path(place, "google-cloud-sdk")
