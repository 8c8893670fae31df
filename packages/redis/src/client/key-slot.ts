const SLOTS = 16_384

/** CRC-16/XMODEM of each byte; https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/ */
const table = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1
  return crc
})

/** The part of a key that decides on its slot: the part in braces, if there is one. */
export function hashTag(key: string): string {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  return close > open + 1 ? key.slice(open + 1, close) : key
}

/** The slot of a cluster that a key is in. */
export function keySlot(key: string): number {
  let crc = 0
  for (const byte of Buffer.from(hashTag(key))) crc = ((crc << 8) & 0xffff) ^ (table[(crc >> 8) ^ byte] ?? 0)
  return crc % SLOTS
}
