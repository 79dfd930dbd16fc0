"""Firebase's own functions emulator, which `demo`, `up` and `exec` use, runs the service."""

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
# Seconds.
LIMIT: Final = 240

_TRIES: Final = """
import json, os, urllib.error, urllib.request, uuid
from google.cloud import firestore
from emulator import certificates
from emulator.receiver import Receiver, always

def opened(address, body=None):
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code

project = os.environ["GCLOUD_PROJECT"]
event = firestore.Client(project=project).document("events", uuid.uuid4().hex)
with Receiver(certificates.SERVER, scripts={"/hook": always()}) as receiver:
    urls = [{"url": receiver.url("/hook"), "events": ["photo.uploaded"]}]
    event.collection("settings").document("webhooks").set({"urls": urls})
    photo = {"status": "pending", "uploaderName": "Ann", "createdAt": firestore.SERVER_TIMESTAMP}
    event.collection("photos").document("p1").set(photo)
    delivered = len(receiver.wait_for(bool, 120))
base = f"http://127.0.0.1:5001/{project}/us-central1"
token = json.dumps({"data": {"token": "none"}}).encode()
print(
    delivered,
    opened(f"{base}/getEmailPreferences", token),
    opened("http://127.0.0.1:5000/preferences"),
    opened("http://127.0.0.1:5000/api/getEmailPreferences", token),
)
"""


def test_a_trigger_fires_a_task_runs_a_callable_answers_and_the_page_opens() -> None:
    """`exec` begins once every function is loaded; the keys come from Secret Manager."""
    done = subprocess.run(
        [sys.executable, "-m", "emulator", "exec", "--", "python", "-c", _TRIES],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    assert done.stdout.split() == ["1", "403", "200", "403"], done.stderr
