/** Pixels of a side: sharp at 128 points on a screen of double density. */
const SIDE = 256;

/** Tried in this order until the picture is small enough. */
const QUALITIES = [0.9, 0.8, 0.6, 0.4];

/**
 * Makes a picture small: the middle square of a file, drawn upright on white, as baseline JPEG in base64url. What the
 * file says beside its pixels, such as the place of a photograph, is not in it.
 *
 * @param maxCharacters of the result
 * @returns null if the browser cannot read the file as a picture
 */
export async function smallPicture(file: Blob, maxCharacters: number): Promise<string | null> {
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    const canvas = document.createElement("canvas");
    canvas.width = SIDE;
    canvas.height = SIDE;
    const drawing = canvas.getContext("2d");
    if (!drawing) return null;
    drawing.fillStyle = "#fff";
    drawing.fillRect(0, 0, SIDE, SIDE);
    drawing.imageSmoothingQuality = "high";
    const { width, height } = bitmap;
    const side = Math.min(width, height);
    drawing.drawImage(bitmap, (width - side) / 2, (height - side) / 2, side, side, 0, 0, SIDE, SIDE);
    bitmap.close();
    for (const quality of QUALITIES) {
      const text = jpegOf(canvas, quality);
      if (text.length <= maxCharacters) return text;
    }
    return null;
  } catch {
    return null;
  }
}

function jpegOf(canvas: HTMLCanvasElement, quality: number): string {
  const [, base64 = ""] = canvas.toDataURL("image/jpeg", quality).split(",");
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
