// A mail, opened in windows of several widths and in both colour schemes.

const SHAPES = ["400 300", "300 400", "400 400", "480 270"];

export default async function look({ mail, missing, looks, visitor }) {
  const page = await visitor();
  await page.route("https://firebasestorage.googleapis.com/**", (route) =>
    missing
      ? route.fulfill({ status: 404 })
      : route.fulfill({ contentType: "image/svg+xml", body: picture(route.request().url()) }),
  );
  const found = [];
  for (const { width, scheme, picture } of looks) {
    await page.setViewportSize({ width, height: 800 });
    await page.emulateMedia({ colorScheme: scheme });
    await page.setContent(mail);
    await page.screenshot({ path: picture, fullPage: true });
    found.push(await page.evaluate(seen));
  }
  return found;
}

function seen() {
  const width = document.documentElement.scrollWidth;
  return { width, drawn: [...document.images].filter((image) => image.naturalWidth).length };
}

// A photo of one of several shapes.
function picture(url) {
  const number = Number(/(\d+)[.]svg/.exec(url)[1]);
  const [width, height] = SHAPES[number % SHAPES.length].split(" ");
  const hue = (number * 47) % 360;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="hsl(${hue},60%,65%)"/><circle cx="50%" cy="55%" r="22%" fill="hsl(${hue + 40},70%,45%)"/></svg>`;
}
