"""Generated pictures of the sample photos. A name always gives the same picture.

The photos' URLs point to a bucket that does not exist. Local pages load them from the mailbox,
which draws them.
"""

import hashlib
from typing import Final

BUCKET: Final = "https://firebasestorage.googleapis.com/v0/b/demo-wall.firebasestorage.app/o/"
DRAWN: Final = "/pictures/"
"""The mailbox's path that replaces `BUCKET`."""


def draw(name: str) -> str:
    """Return an SVG of hills under a sun, in colors derived from `name`."""
    seed = hashlib.sha256(name.encode()).digest()
    sky, hills = seed[0] * 360 // 256, seed[1] * 360 // 256
    sun, height = 120 + seed[2] * 2, 90 + seed[3] // 4
    near, far = 330 + seed[4] // 4, 250 + seed[5] // 4
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 600" width="800" height="600">
<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">
<stop offset="0" stop-color="hsl({sky} 70% 45%)"/><stop offset="1" stop-color="hsl({sky} 80% 85%)"/>
</linearGradient></defs>
<rect width="800" height="600" fill="url(#sky)"/>
<circle cx="{sun}" cy="{height}" r="46" fill="#fff6d0"/>
<path d="M0 {far} Q200 {far - 130} 430 {far + 40} T800 {far - 20} V600 H0Z" \
fill="hsl({hills} 35% 55%)"/>
<path d="M0 {near + 60} Q260 {near - 90} 520 {near + 70} T800 {near} V600 H0Z" \
fill="hsl({hills} 45% 32%)"/>
</svg>
"""
