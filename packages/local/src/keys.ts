/** What the first byte of a key says that the entry is. */
const RECORD = 1
const PLACE = 2
const PLACE_OF_GRANT = 3
const FACT = 4

const NUMBER_BYTES = 6
const LENGTH_BYTES = 2

/** The record of a name. Names are bytes of UTF-8: no two names share a key, whatever characters they have. */
export function recordKey(name: string): Buffer {
  return Buffer.from(`${String.fromCharCode(RECORD)}${name}`)
}

/** A fact about the database as a whole. */
export function factKey(fact: string): Buffer {
  return Buffer.from(`${String.fromCharCode(FACT)}${fact}`)
}

/** Where a waiter stands: the places of a name lie one behind another, in the order of their numbers. */
export function placeKey(name: string, number: number): Buffer {
  const prefix = namePrefix(PLACE, name)
  const key = Buffer.alloc(prefix.length + NUMBER_BYTES)
  prefix.copy(key)
  key.writeUIntBE(number, prefix.length, NUMBER_BYTES)
  return key
}

/** The number in a place's key. */
export function placeNumber(key: Uint8Array): number {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).readUIntBE(key.length - NUMBER_BYTES, NUMBER_BYTES)
}

/** Behind all places of a name. */
export function placesEnd(name: string): Buffer {
  return Buffer.concat([namePrefix(PLACE, name), Buffer.alloc(NUMBER_BYTES + 1, 0xff)])
}

/** Where the number of the place that a grant id has is kept. */
export function grantPlaceKey(name: string, grantId: string): Buffer {
  return Buffer.concat([namePrefix(PLACE_OF_GRANT, name), Buffer.from(grantId)])
}

/** The length before the name keeps a name apart from a longer one that begins alike. */
function namePrefix(kind: number, name: string): Buffer {
  const bytes = Buffer.from(name)
  const prefix = Buffer.alloc(1 + LENGTH_BYTES + bytes.length)
  prefix[0] = kind
  prefix.writeUInt16BE(bytes.length, 1)
  bytes.copy(prefix, 1 + LENGTH_BYTES)
  return prefix
}
