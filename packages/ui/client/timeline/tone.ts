const tones = 6

/** The same owner has the same colour everywhere; other owners may have it too, so the name stands beside it. */
export function toneOf(owner: string): number {
  let hash = 0
  for (let index = 0; index < owner.length; index += 1) hash = (hash * 31 + owner.charCodeAt(index)) | 0
  return (Math.abs(hash) % tones) + 1
}
